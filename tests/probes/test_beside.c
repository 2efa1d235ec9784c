/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes along with a line, with known answers. */
#include <criterion/criterion.h>

#include "probes/infer/beside.h"

Test(beside, neighbours)
{
    static const struct { struct dg_beside b; enum dg_adjacent want; bool part; } rows[] = {
        { { 0, 0.02, 0, 0.01 }, DG_ADJACENT_NONE, true },
        { { 0.98, 0.02, 0, 0.97 }, DG_ADJACENT_PAIR, false },
        { { 0.98, 0.02, 0.95, 0.05 }, DG_ADJACENT_NEXT, true },
        { { 0.1, 0.8, 0.05, 0.9 }, DG_ADJACENT_BEFORE, true },
        { { 0.76, 0.47, 0.76, 0.47 }, DG_ADJACENT_NEXT, true },
        { { 0.9, 0.7, 0.8, 0.8 }, DG_ADJACENT_BOTH, false },
        { { 0.4, 0.02, 0.3, 0.2 }, DG_ADJACENT_SOMETIMES, true },
        { { 0.98, 0.02, 0.02, 0.3 }, DG_ADJACENT_SOMETIMES, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(dg_infer_adjacent(&rows[i].b), rows[i].want, "row %zu", i);
        cr_expect_eq(dg_infer_lines_part(&rows[i].b), rows[i].part, "row %zu", i);
    }
}
