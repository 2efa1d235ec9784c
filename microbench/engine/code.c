/* SPDX-License-Identifier: Apache-2.0
 * Straight code: how fast instructions are fetched and decoded, by how much code there is. */
#include "microbench/engine/internal.h"

#include <stdio.h>

struct code_run { const struct dg_code_entry *entry; uint64_t bytes; };

static void run_code(void *context, uint64_t trips)
{
    const struct code_run *r = context;
    r->entry->run(trips, r->bytes);
}

bool dg_engine_code(void *self, const struct dg_code *code, struct dg_samples *out,
                    struct dg_error *error)
{
    struct engine *e = self;
    const struct dg_sample none = {0, 0};
    struct code_run run = {.entry = dg_code_find(code->length)};
    struct work work = {.run = run_code, .context = &run, .amount = 1};
    char value[64];
    dg_request_begin(e, out, 1);
    snprintf(value, sizeof value, "%llu bytes, length %u", (unsigned long long)code->bytes,
             code->length);
    if (run.entry == NULL || code->bytes == 0 || code->bytes > run.entry->most)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "code", "code of this size and kind", value,
                       "choose a size that the tables have");
    run.bytes = code->bytes / 64 * 64;
    run_code(&run, 4);
    work.amount = dg_sample_amount(e, &work, UINT64_C(1) << 40);
    uint64_t each = run.bytes / code->length;        /* whole instructions of a pass */
    double instructions = (double)work.amount * (double)each;
    return dg_sample_collect(e, &work, instructions, &none, out, error);
}
