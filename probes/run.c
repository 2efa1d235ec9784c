/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/run.h"

#include <math.h>
#include <string.h>

#include "profile/fields.h"
#include "probes/infer/vote.h"
#include "probes/probe.h"

/* Repeats that must agree, and how many a noisy machine gets for that. */
enum { NEEDED = 3, THOROUGH = 5, MOST_REPEATS = 8, MOST_THOROUGH = 12 };

const struct dg_probe dg_probes[DG_PROBE_COUNT] = {
#define PROBE(id, title, fields, needs, seconds, once) \
    { #id, title, fields, needs, seconds, once, dg_probe_##id },
#include "probes/probes.def"
#undef PROBE
};

const struct dg_probe *dg_probe_by_id(const char *id)
{
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        if (strcmp(dg_probes[i].id, id) == 0)
            return &dg_probes[i];
    return NULL;
}

/* ---- agreement ---- */

enum rule { RULE_SPREAD, RULE_FASTEST, RULE_LARGEST, RULE_LATEST };
static const struct { const char *key; double percent, floor; enum rule rule; } agreements[] = {
#define AGREE(key, percent, floor, rule) { key, percent, floor, RULE_##rule },
#include "probes/agreement.def"
#undef AGREE
};

static bool fits(const char *key, const char *pattern)
{
    size_t length = strlen(key), end = strlen(pattern);
    if (pattern[0] != '*')
        return strncmp(key, pattern, end) == 0;
    return length >= end - 1 && strcmp(key + length - (end - 1), pattern + 1) == 0;
}

static unsigned needed(const struct dg_probe_options *options)
{
    return options->thorough ? THOROUGH : NEEDED;
}

static unsigned most_repeats(const struct dg_probe_options *options)
{
    return options->thorough ? MOST_THOROUGH : MOST_REPEATS;
}

unsigned dg_probe_repeats(const struct dg_probe_options *options, size_t i)
{
    return dg_probes[i].once ? 1 : needed(options);
}

static enum rule rule_of(const struct dg_probe_options *options, const char *key,
                         struct dg_vote_rule *out)
{
    const struct dg_field *field = dg_field_of(key);
    size_t i = 0;
    while (!fits(key, agreements[i].key))
        i++;
    *out = (struct dg_vote_rule){
        .discrete = field != NULL && field->discrete, .needed = needed(options),
        .whole = field != NULL && field->type == DG_TYPE_INTEGER,
        .largest = agreements[i].rule == RULE_LARGEST,
        .fastest = agreements[i].rule == RULE_FASTEST,
        .tolerance = agreements[i].percent / 100, .floor = agreements[i].floor };
    return agreements[i].rule;
}

/* ---- state of a run ---- */

struct repeat_list {                             /* all answers to one key, oldest first */
    struct dg_answer answer[MOST_THOROUGH];
    size_t count;
    enum rule kind;
    struct dg_vote_rule rule;
    bool settled;
    size_t probe;                                /* which one gave them */
    unsigned call;                               /* at which of its calls, the last of them */
};

struct runner {
    struct dg_context ctx;
    const struct dg_probe_options *options;
    struct dg_probe_result *result;
    struct repeat_list *key;
    size_t keys, key_capacity;
    size_t next;                                 /* behind the key that was found last */
    unsigned ran[DG_PROBE_COUNT];                /* complete repeats */
    unsigned said[DG_PROBE_COUNT];               /* the last call that had answers */
    bool wanted[DG_PROBE_COUNT];
    void *carry[DG_PROBE_COUNT];
    struct dg_arena scratch;
    uint64_t order_random;
    double first_clock, last_clock;              /* ns of one cycle: start and end of the run */
};

/* The search starts behind the last find: probes name their keys in the same order each time. */
static struct repeat_list *find_list(struct runner *r, const char *key)
{
    for (size_t n = 0; n < r->keys; n++) {
        size_t i = (r->next + n) % r->keys;
        if (strcmp(r->key[i].answer[0].key, key) != 0)
            continue;
        r->next = i + 1;
        return &r->key[i];
    }
    return NULL;
}

static bool is_settled(void *self, const char *key)
{
    const struct repeat_list *list = find_list(self, key);
    return list != NULL && list->settled;
}

static struct repeat_list *list_of(struct runner *r, const char *key)
{
    struct repeat_list *list = find_list(r, key);
    if (list != NULL)
        return list;
    if (r->keys == r->key_capacity) {
        size_t more = r->key_capacity == 0 ? 512 : 2 * r->key_capacity;
        struct repeat_list *fresh = dg_alloc_array(r->ctx.arena, more, sizeof *fresh);
        if (fresh == NULL)
            return NULL;
        if (r->keys > 0)
            memcpy(fresh, r->key, r->keys * sizeof *fresh);
        r->key = fresh;
        r->key_capacity = more;
    }
    list = &r->key[r->keys++];
    list->kind = rule_of(r->options, key, &list->rule);
    return list;
}

/* Takes in what one call of a probe has said. */
static void collect(struct runner *r, size_t probe)
{
    r->said[probe] += r->ctx.out.count > 0;
    for (size_t i = 0; i < r->ctx.out.count; i++) {
        struct repeat_list *list = list_of(r, r->ctx.out.answer[i].key);
        if (list == NULL) {
            r->result->answers.failed = true;
            return;
        }
        list->probe = probe;
        list->call = r->said[probe];
        if (list->count == MOST_THOROUGH) {
            memmove(list->answer, list->answer + 1,
                    (MOST_THOROUGH - 1) * sizeof *list->answer);
            list->count--;
        }
        list->answer[list->count++] = r->ctx.out.answer[i];
    }
    r->ctx.out.count = 0;
}

static struct dg_answer settle(struct runner *r, struct repeat_list *list)
{
    struct dg_vote_rule rule = list->rule;
    struct dg_answer out = list->answer[list->count - 1];
    if (dg_probes[list->probe].once || out.status == DG_UNAVAILABLE)
        rule.needed = 1;
    if (list->kind == RULE_LATEST)
        list->settled = r->ran[list->probe] >= rule.needed;
    else
        list->settled = dg_infer_vote(&rule, list->answer, list->count, &out);
    return out;
}

/* A later call of the probe said everything anew, without this key. */
static bool is_gone(const struct runner *r, const struct repeat_list *list)
{
    return list->kind == RULE_LATEST && list->call != r->said[list->probe];
}

/* known = the present answer to every key; a value that is not settled yet counts too, so that
 * the first repeat of one probe can build on the first repeat of another. */
static void update_known(struct runner *r)
{
    struct dg_answers *known = &r->result->answers;
    known->count = 0;
    for (size_t i = 0; i < r->keys; i++) {
        if (is_gone(r, &r->key[i]))
            continue;
        struct dg_answer a = settle(r, &r->key[i]);
        if (!r->key[i].settled && a.value.kind == DG_VALUE_NULL)
            a = r->key[i].answer[r->key[i].count - 1];
        dg_answers_add(known, &a);
    }
}

static bool settled_all(const struct runner *r, size_t p)
{
    bool any = false;
    for (size_t i = 0; i < r->keys; i++)
        if (r->key[i].probe == p && !is_gone(r, &r->key[i])) {
            any = true;
            if (!r->key[i].settled)
                return false;
        }
    return any;
}

/* A probe that has had its repeats and is not settled will run once more at least. */
static unsigned repeats_left(const struct runner *r, size_t p)
{
    unsigned usual = dg_probe_repeats(r->options, p);
    if (!r->wanted[p] || r->ran[p] >= most_repeats(r->options) ||
        (r->ran[p] > 0 && settled_all(r, p)))
        return 0;
    return r->ran[p] < usual ? usual - r->ran[p] : 1;
}

static void tell_progress(const struct runner *r, size_t p)
{
    struct dg_probe_progress now = { .title = dg_probes[p].title, .repeat = r->ran[p] + 1 };
    if (r->options->progress == NULL)
        return;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++) {
        now.done += r->wanted[i] && r->ran[i] > 0;
        now.of += r->wanted[i];
        now.seconds_left += repeats_left(r, i) * dg_probes[i].seconds;
    }
    r->options->progress(r->options->progress_self, &now);
}

static void call(struct runner *r, size_t p)
{
    struct dg_context *ctx = &r->ctx;
    tell_progress(r, p);
    dg_arena_init(&r->scratch);
    ctx->scratch = &r->scratch;
    ctx->repeat = r->ran[p];
    ctx->carry = &r->carry[p];
    ctx->random = 0x9e3779b97f4a7c15u * (p + 1) + r->ran[p];
    memset(&ctx->last, 0, sizeof ctx->last);
    dg_probes[p].function(ctx);
    if (!ctx->stopped)
        r->ran[p]++;
    collect(r, p);
    update_known(r);
    dg_arena_free(&r->scratch);
}

/* ---- order ---- */

static bool needs_met(const struct runner *r, size_t p, const bool *done)
{
    const char *needs = dg_probes[p].needs;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++) {
        const char *at = strstr(needs, dg_probes[i].id);
        if (at != NULL && r->wanted[i] && !done[i] && r->ran[i] == 0)
            return false;
    }
    return true;
}

static size_t draw(struct runner *r, size_t of)
{
    r->order_random = r->order_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)((r->order_random >> 33) % of);
}

static bool wants_repeat(const struct runner *r, size_t p)
{
    return repeats_left(r, p) > 0;
}

/* Long probes wait until the short ones have had their repeats: on a noisy machine they could take
 * the whole budget. */
static bool must_wait(const struct runner *r, size_t p)
{
    const double is_long = 1;
    if (dg_probes[p].seconds < is_long)
        return false;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        if (dg_probes[i].seconds < is_long && !dg_probes[i].once &&
            r->ran[i] < needed(r->options) && wants_repeat(r, i))
            return true;
    return false;
}

/* One round: every wanted probe that is not settled once, in an order drawn from those whose needs
 * are met. The clock stands first in the table and needs nothing, the others need it. */
static bool run_round(struct runner *r)
{
    bool done[DG_PROBE_COUNT] = { false }, any = false;
    for (;;) {
        size_t ready[DG_PROBE_COUNT], count = 0;
        for (size_t i = 0; i < DG_PROBE_COUNT; i++)
            if (!done[i] && wants_repeat(r, i) && needs_met(r, i, done) && !must_wait(r, i))
                ready[count++] = i;
        if (count == 0 || dg_out_of_time(&r->ctx))
            return any;
        size_t p = ready[draw(r, count)];
        call(r, p);
        done[p] = any = true;
    }
}

/* ---- the first probe again, last ---- */

static double cycle_ns(struct runner *r)
{
    struct dg_measure reading;
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = "ref.multiply" };
    if (!dg_read_loop(&r->ctx, &loop, 9, &reading) || reading.cycles.median <= 0)
        return 0;
    return reading.ns.median / reading.cycles.median;
}

static void note_facts(struct runner *r)
{
    struct dg_facts *f = &r->result->facts;
    double drift = r->first_clock > 0 && r->last_clock > 0 ? r->last_clock / r->first_clock - 1 : 0;
    if (r->first_clock > 0 && r->last_clock > 0)
        dg_facts_number(f, "drift", round(drift * 1e5) / 1e5);
}

/* ---- set-up ---- */

static bool probe_of(const char *option, const char *id, size_t *out, struct dg_error *e)
{
    const struct dg_probe *probe = dg_probe_by_id(id);
    *out = probe != NULL ? (size_t)(probe - dg_probes) : 0;
    return probe != NULL || dg_fail(e, DG_EXIT_USAGE, option, "there is no such probe", id,
                                    "deepgemm-probe list shows all ids");
}

/* A probe and, since they build on each other, all that it needs. */
static void want(bool *wanted, size_t p)
{
    if (wanted[p])
        return;
    wanted[p] = true;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        if (strstr(dg_probes[p].needs, dg_probes[i].id) != NULL)
            want(wanted, i);
}

bool dg_probes_wanted(const struct dg_probe_options *o, bool *wanted, struct dg_error *e)
{
    size_t p, count = 0;
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        wanted[i] = o->only == NULL;
    for (size_t i = 0; i < o->only_count; i++) {
        if (!probe_of("--only", o->only[i], &p, e))
            return false;
        want(wanted, p);
    }
    for (size_t i = 0; i < o->skip_count; i++) {
        if (!probe_of("--skip", o->skip[i], &p, e))
            return false;
        wanted[p] = false;
    }
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        count += wanted[i];
    return count > 0 || dg_fail(e, DG_EXIT_USAGE, "--skip", "must leave a probe", "none",
                                "skip fewer");
}

static bool complete(const struct runner *r)
{
    for (size_t i = 0; i < DG_PROBE_COUNT; i++)
        if (r->wanted[i] && r->ran[i] == 0)
            return false;
    return true;
}

/* How the clock was distributed over all samples of the run. */
static void say_clocks(struct runner *r)
{
    static const unsigned parts[] = { 10, 50, 90 };
    struct dg_context *ctx = &r->ctx;
    if (ctx->clocks == NULL || ctx->clocks->total == 0 || !r->wanted[DG_PROBE_clock])
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char key[32];
        double hz = dg_clocks_quantile(ctx->clocks, parts[i] / 100.0);
        dg_format(key, sizeof key, "clock.quantile.p%u", parts[i]);
        dg_say(ctx, &(struct dg_number){
            .key = key, .unit = "Hz", .value = hz, .low = 0.999 * hz, .high = 1.001 * hz,
            .confidence = 1, .samples = ctx->clocks->total,
            .method = "cycles over time of every accepted sample of the run" });
    }
    collect(r, DG_PROBE_clock);
}

/* The answers as they stand, with the claims beside them. */
static void finish(struct runner *r)
{
    struct dg_answers *answers = &r->result->answers;
    answers->count = 0;
    for (size_t i = 0; i < r->keys; i++) {
        if (is_gone(r, &r->key[i]))
            continue;
        struct dg_answer a = settle(r, &r->key[i]);
        if (a.claims == NULL)
            a.claims = dg_claims_of(r->ctx.claims, a.key, &a.claim_count);
        dg_answers_add(answers, &a);
    }
}

bool dg_probes_run(const struct dg_bench *bench, const struct dg_claims *claims,
                   const struct dg_probe_options *options, struct dg_arena *arena,
                   struct dg_probe_result *out, struct dg_error *e)
{
    struct runner *r = dg_alloc(arena, sizeof *r);
    if (r == NULL)
        return dg_fail_memory(e, "");
    memset(out, 0, sizeof *out);
    out->answers.arena = out->facts.arena = arena;
    r->options = options;
    r->result = out;
    r->order_random = options->seed;
    r->ctx = (struct dg_context){
        .bench = bench, .arena = arena, .claims = claims, .known = &out->answers,
        .out = { .arena = arena }, .architecture = options->architecture,
        .clocks = dg_alloc(arena, sizeof *r->ctx.clocks), .quick = options->quick,
        .thorough = options->thorough,
        .settled = is_settled, .runner = r,
        .pause = options->pause, .pause_self = options->pause_self,
        .patience = options->patience };
    if (!dg_probes_wanted(options, r->wanted, e))
        return false;

    dg_arena_init(&r->scratch);
    r->ctx.scratch = &r->scratch;
    r->first_clock = cycle_ns(r);
    dg_arena_free(&r->scratch);
    while (!r->ctx.stopped && run_round(r))
        ;
    out->interrupted = r->ctx.last.exit_code == DG_EXIT_INTERRUPTED;
    out->incomplete = !complete(r);
    if (!out->interrupted) {
        r->ctx.stopped = false;
        r->last_clock = cycle_ns(r);
    }
    say_clocks(r);
    finish(r);
    note_facts(r);
    if (out->answers.failed || out->facts.failed || r->ctx.out.failed)
        return dg_fail_memory(e, "");
    return true;
}
