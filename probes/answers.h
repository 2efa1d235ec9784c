/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of answers and facts that grow in an arena. */
#ifndef DG_PROBES_ANSWERS_H
#define DG_PROBES_ANSWERS_H

#include "base/arena.h"
#include "profile/profile.h"

struct dg_answers {
    struct dg_arena *arena;
    struct dg_answer *answer;
    size_t count, capacity;
    bool failed;                                 /* out of memory */
};

void dg_answers_add(struct dg_answers *list, const struct dg_answer *answer);
const struct dg_answer *dg_answers_find(const struct dg_answers *list, const char *key);

struct dg_facts {
    struct dg_arena *arena;
    struct dg_fact *fact;
    size_t count, capacity;
    bool failed;
};

void dg_facts_add(struct dg_facts *list, const struct dg_fact *fact);
void dg_facts_number(struct dg_facts *list, const char *key, double value);
void dg_facts_text(struct dg_facts *list, const char *key, const char *text);   /* NULL: null */
void dg_facts_flag(struct dg_facts *list, const char *key, bool value);

/* dg_format into the arena; NULL without memory. */
const char *dg_text(struct dg_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
