/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that read profiles (reader.c, values.c, evidence.c, operations.c, rules.c);
 * not for users of the profile. */
#ifndef DG_PROFILE_READING_H
#define DG_PROFILE_READING_H

#include "profile/fields.h"
#include "profile/json.h"
#include "profile/profile.h"

/* One JSON value as the field wants it, times `factor`; null gives DG_VALUE_NULL. */
bool dg_value_read(const struct dg_json *json, const char *pointer, const struct dg_field *field,
                   const cJSON *item, double factor, struct dg_value *out);
/* Any number, text or list of texts, or null. */
bool dg_value_read_any(const struct dg_json *json, const char *pointer, const cJSON *item,
                       struct dg_value *out);
/* The number against type and range of the field: NULL, or the rule that is broken, in `rule`. */
const char *dg_value_rule(const struct dg_field *field, double number, char *rule, size_t size);
bool dg_value_equal(const struct dg_value *a, const struct dg_value *b);

/* measurements and environment. */
bool dg_evidence_read(const struct dg_json *json, const cJSON *object, struct dg_answer **out,
                      size_t *count);
bool dg_facts_read(const struct dg_json *json, const char *at, const cJSON *object,
                   struct dg_fact **out, size_t *count);

/* What a key, or the users of a resource, name of operations, types and widths: the ISA tables of
 * the architecture must have it. `at` is the place of the value. */
bool dg_operation_check(const struct dg_json *json, const char *pointer, const char *architecture,
                        const char *key);
bool dg_users_check(const struct dg_json *json, const char *at, const char *architecture,
                    const struct dg_entry *entry);

/* Joins the profile's flat values (sorted) with what was read as evidence (sorted), and sets the
 * profile's measurements. False: no memory. */
bool dg_evidence_join(struct dg_profile *profile, const struct dg_answer *answers, size_t count,
                      struct dg_arena *arena);

/* Values that contradict each other. `broken` is set to the first that is an error (all values
 * measured or derived), the others become texts in the profile's warnings. False: no memory. */
struct dg_contradiction {
    const char *key;             /* NULL: none */
    const char *doubted;         /* the value that is harder to measure */
    char rule[192], value[96];
};
bool dg_rules_check(struct dg_profile *profile, struct dg_arena *arena,
                    struct dg_contradiction *broken);
/* Adds one warning; false: no memory. */
bool dg_warn(struct dg_profile *profile, struct dg_arena *arena, const char *text);

/* The valid key nearest to `key`, among fields, families and `more` (at most 16). */
bool dg_suggest_key(const char *key, const char *const *more, size_t more_count, char *out,
                    size_t size);

void dg_entries_sort(struct dg_entry *entries, size_t count);
void dg_answers_sort(struct dg_answer *answers, size_t count);
/* A number as evidence gives it: six figures; whole numbers stay exact. */
double dg_evidence_number(double x);
/* What stands flat for this evidence: the roundest value of its interval (mix.* and bw.*: within
 * 0.2 %). */
struct dg_value dg_flat_value(const struct dg_field *field, const struct dg_answer *answer);

extern const char *const dg_status_names[DG_UNRELIABLE + 1];
extern const char *const dg_architectures[];
extern const size_t dg_architecture_count;

#endif
