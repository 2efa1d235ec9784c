/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/answers.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"

static void *grown(struct dg_arena *arena, void *old, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return old;
    size_t more = *capacity == 0 ? 64 : 2 * *capacity;
    void *fresh = dg_alloc_array(arena, more, size);
    if (fresh == NULL)
        return NULL;
    if (count > 0)
        memcpy(fresh, old, count * size);
    *capacity = more;
    return fresh;
}

void dg_answers_add(struct dg_answers *list, const struct dg_answer *answer)
{
    struct dg_answer *to = grown(list->arena, list->answer, list->count, &list->capacity,
                                 sizeof *answer);
    if (to == NULL) {
        list->failed = true;
        return;
    }
    list->answer = to;
    list->answer[list->count++] = *answer;
}

const struct dg_answer *dg_answers_find(const struct dg_answers *list, const char *key)
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        if (strcmp(list->answer[i].key, key) == 0)
            return &list->answer[i];
    return NULL;
}

void dg_facts_add(struct dg_facts *list, const struct dg_fact *fact)
{
    struct dg_fact *to = grown(list->arena, list->fact, list->count, &list->capacity, sizeof *fact);
    if (to == NULL) {
        list->failed = true;
        return;
    }
    list->fact = to;
    list->fact[list->count++] = *fact;
}

void dg_facts_number(struct dg_facts *list, const char *key, double value)
{
    dg_facts_add(list, &(struct dg_fact){
        .key = key, .value = { .kind = DG_VALUE_NUMBER, .number = value } });
}

void dg_facts_text(struct dg_facts *list, const char *key, const char *text)
{
    struct dg_fact fact = { .key = key };
    if (text != NULL)
        fact.value = (struct dg_value){ .kind = DG_VALUE_TEXT, .text = text };
    dg_facts_add(list, &fact);
}

void dg_facts_flag(struct dg_facts *list, const char *key, bool value)
{
    dg_facts_add(list, &(struct dg_fact){
        .key = key, .is_boolean = true,
        .value = { .kind = DG_VALUE_TEXT, .text = value ? "true" : "false" } });
}

const char *dg_text(struct dg_arena *arena, const char *format, ...)
{
    char buffer[512];
    va_list a;
    va_start(a, format);
    dg_vformat(buffer, sizeof buffer, format, a);
    va_end(a);
    return dg_strdup(arena, buffer);
}
