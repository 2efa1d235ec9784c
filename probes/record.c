/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/record.h"

#include <string.h>

#include "base/number.h"
#include "probes/answers.h"
#include "probes/request.h"

static void put(struct dg_recording *r, const struct dg_sample_row *item)
{
    if (r->count == r->capacity) {
        size_t more = r->capacity == 0 ? 256 : 2 * r->capacity;
        struct dg_sample_row *fresh = dg_alloc_array(r->arena, more, sizeof *fresh);
        if (fresh == NULL) {
            r->failed = true;
            return;
        }
        if (r->count > 0)
            memcpy(fresh, r->item, r->count * sizeof *fresh);
        r->item = fresh;
        r->capacity = more;
    }
    r->item[r->count++] = *item;
}

/* A sample is good to four digits; what is kept has seven, and so has what is given on, or a
 * recorded run would give other answers. */
static void shorten(struct dg_samples *s)
{
    enum { DIGITS = 7 };
    for (size_t i = 0; i < s->count; i++) {
        s->sample[i].cycles = dg_round_digits(s->sample[i].cycles, DIGITS);
        s->sample[i].ns = dg_round_digits(s->sample[i].ns, DIGITS);
    }
    dg_samples_summary(s);
}

static void keep(struct dg_recording *r, const char *request, struct dg_samples *s,
                 const char *refused)
{
    size_t count = refused == NULL ? s->count : 0;
    double *numbers = dg_alloc_array(r->arena, 2 * count + 1, sizeof *numbers);
    struct dg_sample_row item = { .request = dg_strdup(r->arena, request), .count = count,
                                  .rejected = refused == NULL ? s->rejected : 0 };
    if (refused != NULL)
        item.refused = dg_strdup(r->arena, refused[0] == '\0' ? "refused" : refused);
    if (numbers == NULL || item.request == NULL) {
        r->failed = true;
        return;
    }
    if (refused == NULL)
        shorten(s);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = s->sample[i].cycles;
        numbers[count + i] = s->sample[i].ns;
    }
    item.cycles = numbers;
    item.ns = numbers + count;
    put(r, &item);
}

static bool may_run(const struct dg_recorder *r, struct dg_error *e)
{
    if (r->interrupted == NULL || !r->interrupted(r->interrupted_self))
        return true;
    return dg_fail(e, DG_EXIT_INTERRUPTED, "", DG_RULE_INTERRUPTED, "", "");
}

/* Every request goes the same way: asked, kept, given on. */
#define REQUEST(name) \
static bool record_##name(void *self, const struct dg_##name *q, struct dg_samples *out, \
                          struct dg_error *e) \
{ \
    struct dg_recorder *r = self; \
    struct dg_error own = { 0 }; \
    char text[DG_REQUEST_SIZE]; \
    if (!may_run(r, e)) \
        return false; \
    bool ok = r->inner->name(r->inner->self, q, out, &own); \
    dg_request_##name(text, q); \
    keep(r->recording, text, out, ok ? NULL : own.rule); \
    if (!ok && e != NULL) \
        *e = own; \
    return ok; \
}
#include "microbench/requests.def"
#undef REQUEST

static bool record_mix(void *self, const struct dg_mix *q, size_t count, struct dg_samples *out,
                       struct dg_error *e)
{
    struct dg_recorder *r = self;
    struct dg_error own = { 0 };
    char text[DG_REQUEST_SIZE];
    if (!may_run(r, e))
        return false;
    bool ok = r->inner->mix(r->inner->self, q, count, out, &own);
    for (size_t i = 0; i < count; i++) {
        dg_request_mix(text, &q[i]);
        keep(r->recording, text, &out[i], ok ? NULL : own.rule);
    }
    if (!ok && e != NULL)
        *e = own;
    return ok;
}

static double record_time_left(void *self)
{
    struct dg_recorder *r = self;
    return r->inner->time_left(r->inner->self);
}

struct dg_bench dg_recording_bench(struct dg_recorder *r)
{
    return (struct dg_bench){
        .self = r, .info = r->inner->info, .mix = record_mix, .time_left = record_time_left,
#define REQUEST(name) .name = r->inner->name != NULL ? record_##name : NULL,
#include "microbench/requests.def"
#undef REQUEST
    };
}

/* ---- replay ---- */

bool dg_replay_init(struct dg_replay *replay, const struct dg_sample_row *rows, size_t count,
                    struct dg_arena *arena)
{
    *replay = (struct dg_replay){ .row = rows, .count = count, .left = count,
                                  .used = dg_alloc_array(arena, count + 1, sizeof(bool)) };
    return replay->used != NULL;
}

size_t dg_replay_measured(const struct dg_sample_row *rows, size_t count)
{
    while (count > 0 && rows[count - 1].refused != NULL &&
           (strcmp(rows[count - 1].refused, DG_RULE_INTERRUPTED) == 0 ||
            strcmp(rows[count - 1].refused, DG_RULE_OVER) == 0))
        count--;
    return count;
}

/* The search starts behind the last answer, where the wanted row nearly always stands, since a
 * replay asks in the recorded order. */
static const struct dg_sample_row *find_row(struct dg_replay *r, const char *request)
{
    for (size_t n = 0; n < r->count; n++) {
        size_t i = (r->next + n) % r->count;
        if (r->used[i] || strcmp(r->row[i].request, request) != 0)
            continue;
        r->used[i] = true;
        r->left--;
        r->next = i + 1;
        r->over |= r->row[i].refused != NULL && strcmp(r->row[i].refused, DG_RULE_OVER) == 0;
        return &r->row[i];
    }
    return NULL;
}

static bool answer(const struct dg_sample_row *row, const char *request, struct dg_samples *out,
                   struct dg_error *e)
{
    if (row == NULL)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, request, "the recording does not hold this request",
                       "", "record again");
    if (row->refused != NULL)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, request, row->refused, "", "");
    out->count = row->count < out->capacity ? row->count : out->capacity;
    out->rejected = row->rejected;
    for (size_t k = 0; k < out->count; k++)
        out->sample[k] = (struct dg_sample){ row->cycles[k], row->ns[k] };
    return true;
}

/* The row of a request, unless `then` is to be asked from now on. */
static bool recorded(struct dg_replay *r, const char *request, const struct dg_sample_row **row)
{
    *row = r->live ? NULL : find_row(r, request);
    r->live |= *row == NULL && r->then != NULL;
    return !r->live;
}

#define REQUEST(name) \
static bool replay_##name(void *self, const struct dg_##name *q, struct dg_samples *out, \
                          struct dg_error *e) \
{ \
    struct dg_replay *r = self; \
    const struct dg_sample_row *row; \
    char text[DG_REQUEST_SIZE]; \
    dg_request_##name(text, q); \
    return recorded(r, text, &row) ? answer(row, text, out, e) \
                                   : r->then->name(r->then->self, q, out, e); \
}
#include "microbench/requests.def"
#undef REQUEST

/* Mixes are recorded together: the first tells for all. */
static bool replay_mix(void *self, const struct dg_mix *q, size_t count, struct dg_samples *out,
                       struct dg_error *e)
{
    struct dg_replay *r = self;
    const struct dg_sample_row *row;
    char text[DG_REQUEST_SIZE];
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        dg_request_mix(text, &q[i]);
        if (!recorded(r, text, &row))
            return r->then->mix(r->then->self, q, count, out, e);
        ok &= answer(row, text, &out[i], e);      /* all are used up, also when refused */
    }
    return ok;
}

/* The budget of a replay is the recording: over when it was there, or every row has answered. */
static double replay_time_left(void *self)
{
    const struct dg_replay *r = self;
    if (r->then != NULL)
        return r->then->time_left(r->then->self);
    return r->over || r->left == 0 ? 0 : -1;
}

struct dg_bench dg_replay_bench(struct dg_replay *r, const struct dg_bench_info *info)
{
    return (struct dg_bench){
        .self = r, .info = info, .mix = replay_mix, .time_left = replay_time_left,
#define REQUEST(name) .name = replay_##name,
#include "microbench/requests.def"
#undef REQUEST
    };
}
