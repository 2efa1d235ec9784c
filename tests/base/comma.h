/* SPDX-License-Identifier: Apache-2.0
 *
 * A locale with a decimal comma, made on the spot: test machines seldom have one installed. */
#ifndef DG_TESTS_BASE_COMMA_H
#define DG_TESTS_BASE_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/run.h"

/* Sets LC_ALL of this process; false when localedef cannot make the locale. */
static inline bool use_comma_locale(void)
{
    static const char source[] = "LC_NUMERIC\ndecimal_point \"<U002C>\"\n"
                                 "thousands_sep \"<U002E>\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    char folder[] = "/tmp/dg-locale-XXXXXX", input[64], output[64], text[8];
    struct dg_run run;
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(input, sizeof input, "%s/source", folder);
    snprintf(output, sizeof output, "%s/comma", folder);
    const char *const argv[] = { "localedef", "-c", "-i", input, output, NULL };
    const char *const clean[] = { "rm", "-r", folder, NULL };
    bool ok = dg_file_write(input, source, sizeof source - 1, NULL) &&
              dg_run(argv, 10000, &run, NULL) && setenv("LOCPATH", folder, 1) == 0 &&
              setlocale(LC_ALL, "comma") != NULL;
    snprintf(text, sizeof text, "%.1f", 3.5);
    dg_run(clean, 10000, &run, NULL);
    return ok && strcmp(text, "3,5") == 0;
}

#endif
