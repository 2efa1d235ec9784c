/* SPDX-License-Identifier: Apache-2.0
 * Mixes, round robin: every round gives each mix one try, so that neighbours share the state of
 * the machine. A mix goes on where it stopped, so that long regions are really walked. */
#include "microbench/engine/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "microbench/bodies.h"

struct mix_run {
    const struct dg_mix_entry *entry;
    struct dg_mix_state state;
    uint64_t bytes;                      /* of memory, from its place on */
    bool call;                           /* each turn is a call of its own */
};

static void run_mix(void *context, uint64_t turns)
{
    struct mix_run *r = context;
    if (!r->call) {
        r->state.turns = turns;
        r->entry->run(&r->state);
        return;
    }
    for (uint64_t i = 0; i < turns; i++) {
        r->state.turns = 1;
        r->entry->run(&r->state);
    }
}

static bool bad_mix(const struct dg_mix *mix, struct dg_error *error)
{
    char value[128];
    const char *rule = "a mix that the tables have";
    unsigned all = mix->vectors * mix->rows;
    if (mix->steps == 0 || mix->steps % DG_MIX_STEPS != 0)
        rule = "steps that are a multiple of 4";
    else if (mix->stores != 0 && mix->stores != all)
        rule = "stores of none or of all accumulators";
    snprintf(value, sizeof value, "%s %u bits, %u vectors, %u rows, %llu steps, %u stores",
             mix->dtype != NULL ? mix->dtype : "", mix->bits, mix->vectors, mix->rows,
             (unsigned long long)mix->steps, mix->stores);
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "mix", rule, value, "leave this cell out");
}

/* The three streams one behind the other, from different offsets in their pages. */
static uint64_t lay_out(const struct dg_mix *mix, uint64_t base, struct dg_mix_state *s)
{
    enum { PAGE = 4096 };
    const struct dg_mix_body *body = dg_mix_body_named(mix->dtype);
    uint64_t vector = mix->bits / 8, panel = mix->steps * mix->vectors * vector / body->narrow;
    uint64_t start = base, end = start + mix->s_region + panel;
    *s = (struct dg_mix_state){
        .trips = mix->steps / DG_MIX_STEPS, .row_stride = mix->row_stride,
        .c_row_stride = mix->c_row_stride, .s_turn = mix->s_turn, .r_turn = mix->r_turn,
        .c_turn = mix->c_turn, .s_repeat = mix->s_repeat > 0 ? mix->s_repeat : 1,
        .mode = mix->stores == 0 ? 0 : mix->c_read ? 2 : 1, .panel = panel,
    };
    s->s = s->s_start = start;
    s->s_end = start + (mix->s_region > 0 ? mix->s_region : 1);
    s->next = s->prefetch = start + mix->s_turn < s->s_end ? start + mix->s_turn : start;
    s->repeat_left = s->s_repeat;
    start = (end + PAGE - 1) / PAGE * PAGE + 1088;
    s->r = s->r_start = start;
    s->r_end = start + (mix->r_region > 0 ? mix->r_region : 1);
    end = start + mix->r_region + (mix->rows - 1) * mix->row_stride + mix->steps * body->element;
    start = (end + PAGE - 1) / PAGE * PAGE + 2176;
    s->c = s->c_start = start;
    s->c_end = start + (mix->c_region > 0 ? mix->c_region : 1);
    end = start + mix->c_region + (mix->rows - 1) * mix->c_row_stride + mix->vectors * vector;
    return end - base;
}

static bool too_large(const struct engine *e, const struct dg_mix *mix)
{
    const uint64_t most = e->arena_bytes - e->small_at;
    return mix->s_region > most || mix->r_region > most || mix->c_region > most ||
           mix->row_stride > most || mix->c_row_stride > most || mix->steps > most;
}

/* Writing brings the lines near, as running on the same ones for a while would. */
static void move(struct engine *e, const struct dg_mix *mix, struct mix_run *run)
{
    uint64_t spare = e->arena_bytes - e->small_at - run->bytes;
    uint64_t at = e->small_at + dg_arena_place(e->places++, spare);
    lay_out(mix, (uintptr_t)e->arena + at, &run->state);
    dg_arena_fill(e, at, run->bytes);
}

static void touch_lines(uint64_t from, uint64_t to, bool write)
{
    enum { LINE = 64 };
    for (; from < to; from += LINE) {
        volatile unsigned char *byte = (volatile unsigned char *)(uintptr_t)from;
        unsigned char value = *byte;
        if (write)
            *byte = value;
    }
}

/* Lines of a region were last used one walk ago when a mix runs alone. Others have run since its
 * last sample: the walk is made up for, from where it goes on, all around. */
static void walk_around(uint64_t start, uint64_t now, uint64_t end, bool write)
{
    touch_lines(now, end, write);
    touch_lines(start, now, write);
}

/* The same for C, tile by tile as turns go over it. */
static void walk_tiles(const struct dg_mix *mix, uint64_t from, uint64_t to)
{
    uint64_t bytes = mix->vectors * mix->bits / 8;
    for (; from < to; from += mix->c_turn)
        for (uint64_t row = 0; row < mix->rows * mix->c_row_stride; row += mix->c_row_stride)
            touch_lines(from + row, from + row + bytes, true);
}

static void walk(const struct dg_mix *mix, const struct dg_mix_state *s)
{
    if (mix->s_turn > 0)
        walk_around(s->s_start, s->s, s->s_end, false);
    if (mix->r_turn > 0)
        walk_around(s->r_start, s->r, s->r_end, false);
    if (mix->c_turn > 0) {
        walk_tiles(mix, s->c, s->c_end);
        walk_tiles(mix, s->c_start, s->c);
    }
}

static bool prepare(struct engine *e, const struct dg_mix *mix, struct mix_run *run,
                    uint64_t *bytes, struct dg_error *error)
{
    char value[64];
    run->call = mix->call;
    run->entry = dg_mix_find(mix, e->info.features, e->info.feature_count);
    if (run->entry == NULL || mix->steps == 0 || mix->steps % DG_MIX_STEPS != 0 ||
        mix->turns == 0 || (mix->stores != 0 && mix->stores != mix->vectors * mix->rows))
        return bad_mix(mix, error);
    uint64_t used = too_large(e, mix) ? UINT64_MAX
                                      : lay_out(mix, (uintptr_t)e->arena + e->small_at,
                                                &run->state);
    snprintf(value, sizeof value, "%llu bytes", (unsigned long long)used);
    if (used > e->arena_bytes - e->small_at)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "mix", "regions that fit the arena", value,
                       "allow more memory");
    run->bytes = used;
    *bytes = used > *bytes ? used : *bytes;
    return true;
}

static void one_try(struct engine *e, const struct dg_mix *mix, struct mix_run *run,
                    struct dg_samples *out, unsigned *failures)
{
    struct work work = {.run = run_mix, .context = run, .amount = mix->turns, .bits = mix->bits};
    struct dg_sample total;
    if (mix->anew)
        move(e, mix, run);
    else
        walk(mix, &run->state);
    run_mix(run, mix->turns);
    if (!dg_sample_once(e, &work, &total)) {
        out->rejected++;
        ++*failures;
        return;
    }
    *failures = 0;
    out->sample[out->count].cycles = total.cycles / (double)mix->turns;
    out->sample[out->count++].ns = total.ns / (double)mix->turns;
}

static bool rounds(struct engine *e, const struct dg_mix *mixes, size_t count,
                   struct mix_run *runs, struct dg_samples *out, struct dg_error *error)
{
    unsigned failures = 0;
    for (unsigned round = 0;; round++) {
        bool full = true;
        for (size_t i = 0; i < count; i++) {
            if (out[i].count >= out[i].capacity)
                continue;
            full = false;
            enum go_on go = dg_request_next(e, round, failures, out[i].capacity, error);
            if (go != GO_ON)
                return go == GO_STOP;
            one_try(e, &mixes[i], &runs[i], &out[i], &failures);
        }
        if (full)
            return true;
    }
}

bool dg_engine_mix(void *self, const struct dg_mix *mixes, size_t count, struct dg_samples *out,
                struct dg_error *error)
{
    struct engine *e = self;
    uint64_t bytes = 0;
    struct mix_run *runs = calloc(count > 0 ? count : 1, sizeof *runs);
    bool ok = runs != NULL;
    dg_request_begin(e, out, count);
    if (!ok)
        dg_fail(error, DG_EXIT_UNAVAILABLE, "mix", "memory for the mixes", "none left",
                "free memory");
    for (size_t i = 0; ok && i < count; i++)
        ok = prepare(e, &mixes[i], &runs[i], &bytes, error);
    if (ok) {
        dg_arena_fill(e, e->small_at, bytes);
        ok = rounds(e, mixes, count, runs, out, error);
    }
    for (size_t i = 0; i < count; i++)
        dg_samples_summary(&out[i]);
    free(runs);
    return ok;
}
