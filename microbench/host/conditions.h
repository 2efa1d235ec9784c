/* SPDX-License-Identifier: Apache-2.0
 *
 * Under which conditions a run took place, as the system states them: conditions.def. Read before
 * and after; what cannot be read has a reason. */
#ifndef DG_MICROBENCH_HOST_CONDITIONS_H
#define DG_MICROBENCH_HOST_CONDITIONS_H

#include "microbench/host/host.h"

enum dg_condition_id {
#define CONDITION(key, type, when, scale, title) DG_CONDITION_##key,
#define FROM_FILE(key, type, when, scale, path, title) DG_CONDITION_##key,
#include "microbench/host/conditions.def"
#undef FROM_FILE
#undef CONDITION
    DG_CONDITION_COUNT
};
enum dg_condition_type { DG_CONDITION_TEXT, DG_CONDITION_NUMBER, DG_CONDITION_FLAG };
enum dg_condition_when { DG_CONDITION_ONCE, DG_CONDITION_STATE, DG_CONDITION_RATE };

struct dg_condition_row {
    const char *key;
    enum dg_condition_type type;
    enum dg_condition_when when;
    const char *path;
    double scale;
};
extern const struct dg_condition_row dg_condition_rows[DG_CONDITION_COUNT];

struct dg_condition {
    bool known;
    double number;               /* flags: 0 or 1 */
    double of, wrap;             /* counters: counted against; where they start again, 0: never */
    char text[160];              /* of a text; why, where it is not known */
};
struct dg_conditions { struct dg_condition at[DG_CONDITION_COUNT]; };

void dg_conditions_read(struct dg_host *host, unsigned cpu, struct dg_conditions *out);
/* Of a RATE: growth between two readings; not known where either is not, or no time passed. */
struct dg_condition dg_condition_rate(const struct dg_conditions *before,
                                      const struct dg_conditions *after, enum dg_condition_id id);

#endif
