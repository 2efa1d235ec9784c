/* SPDX-License-Identifier: Apache-2.0
 *
 * hardware-schema > profile/hardware.schema.json, after a change of the tables. */
#include <stdio.h>

#include "profile/schema.h"

int main(void)
{
    struct dg_str out;
    dg_str_init(&out, NULL);
    dg_schema_render(&out);
    bool ok = !out.failed && fwrite(out.text, 1, out.length, stdout) == out.length &&
              fflush(stdout) == 0;
    dg_str_free(&out);
    return ok ? 0 : 1;
}
