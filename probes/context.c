/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/context.h"

#include <string.h>

#include "isa/isa.h"
#include "probes/request.h"

bool dg_out_of_time(struct dg_context *ctx)
{
    double left = ctx->bench->time_left(ctx->bench->self);
    ctx->stopped |= left >= 0 && left < 1e-3;
    return ctx->stopped;
}

static bool refused(struct dg_context *ctx, const struct dg_error *e)
{
    ctx->last = *e;
    ctx->stopped |= e->exit_code == DG_EXIT_INTERRUPTED;
    dg_out_of_time(ctx);
    return false;
}

/* What a disturbed request leaves in ctx->last, unlike one that cannot be run at all. */
static const enum dg_exit disturbed = DG_EXIT_CHECK;

static bool take(struct dg_context *ctx, const struct dg_samples *s, struct dg_measure *out)
{
    double values[DG_MEASURE_SAMPLES];
    memset(out, 0, sizeof *out);
    out->samples = s->count;
    out->rejected = s->rejected;
    for (size_t i = 0; i < s->count; i++) {
        out->slice[i] = s->sample[i];
        if (ctx->clocks != NULL && s->sample[i].ns > 0)
            dg_clocks_add(ctx->clocks, 1e9 * s->sample[i].cycles / s->sample[i].ns);
    }
    for (size_t i = 0; i < s->count; i++)
        values[i] = s->sample[i].cycles;
    out->cycles = dg_stat_of(values, s->count);
    out->fastest = dg_stat_fastest(values, s->count);
    for (size_t i = 0; i < s->count; i++)
        values[i] = s->sample[i].ns;
    out->ns = dg_stat_of(values, s->count);
    if (s->count > 0)
        return true;
    if (ctx->last.exit_code == DG_EXIT_INTERRUPTED)
        return false;
    dg_fail(&ctx->last, disturbed, "", "no undisturbed sample in the time allowed", "",
            "run again on a quiet machine");
    dg_out_of_time(ctx);
    return false;
}

static unsigned clamp(const struct dg_context *ctx, unsigned samples)
{
    samples *= ctx->thorough ? 2 : 1;
    return samples < DG_MEASURE_SAMPLES ? samples : DG_MEASURE_SAMPLES;
}

/* ---- waiting for a quiet core ---- */

/* One sample of a short chain: accepted only when nobody disturbs. */
static bool is_quiet(struct dg_context *ctx, struct dg_error *e)
{
    struct dg_sample sample;
    struct dg_samples s = { .sample = &sample, .capacity = 1 };
    struct dg_loop loop = { .kind = DG_LOOP_LATENCY, .op = "ref.multiply" };
    return ctx->bench->loop(ctx->bench->self, &loop, &s, e) && s.count == 1;
}

/* True: worth another try. The bench has waited a moment by itself. Disturbances come and go within
 * tenths of seconds as well as minutes, so the looks stay near together. */
static bool wait_for_quiet(struct dg_context *ctx)
{
    const double nap = 0.1;
    if (ctx->pause == NULL)
        return false;
    while (ctx->patience > 0 && !dg_out_of_time(ctx)) {
        ctx->pause(ctx->pause_self, nap);
        ctx->patience -= nap;
        struct dg_error e = { 0 };
        if (is_quiet(ctx, &e))
            return true;
        if (e.exit_code == DG_EXIT_INTERRUPTED)
            return refused(ctx, &e);
    }
    return false;
}

/* ---- requests that cannot be run here: asked once ---- */

enum { REFUSAL_SLOTS = 16384 };
struct dg_refusals { uint64_t hash[REFUSAL_SLOTS]; size_t count; };

static uint64_t hash_text(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);      /* FNV-1a */
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h | 1;
}

static bool is_refused(struct dg_context *ctx, const char *request)
{
    uint64_t hash = hash_text(request);
    if (ctx->refusals == NULL)
        return false;
    for (size_t i = hash % REFUSAL_SLOTS; ctx->refusals->hash[i] != 0; i = (i + 1) % REFUSAL_SLOTS)
        if (ctx->refusals->hash[i] == hash)
            return true;
    return false;
}

static void note_refusal(struct dg_context *ctx, const char *request)
{
    uint64_t hash = hash_text(request);
    if (ctx->refusals == NULL)
        ctx->refusals = dg_alloc(ctx->arena, sizeof *ctx->refusals);
    if (ctx->refusals == NULL || ctx->stopped || ctx->refusals->count >= REFUSAL_SLOTS / 2)
        return;
    size_t i = hash % REFUSAL_SLOTS;
    while (ctx->refusals->hash[i] != 0)
        i = (i + 1) % REFUSAL_SLOTS;
    ctx->refusals->hash[i] = hash;
    ctx->refusals->count++;
}

static void no_request(struct dg_error *e, const char *request)
{
    dg_fail(e, DG_EXIT_UNAVAILABLE, "measuring", "cannot be measured here", request,
            "nothing: this machine's loops lack it");
}

/* Every request goes the same way: asked, waited for, put in order. */
#define REQUEST(name) \
bool dg_read_##name(struct dg_context *ctx, const struct dg_##name *q, unsigned samples, \
                    struct dg_measure *out) \
{ \
    struct dg_sample buffer[DG_MEASURE_SAMPLES]; \
    struct dg_samples s = { .sample = buffer, .capacity = clamp(ctx, samples) }; \
    struct dg_error e = { 0 }; \
    char request[DG_REQUEST_SIZE]; \
    memset(out, 0, sizeof *out); \
    dg_request_##name(request, q); \
    if (dg_out_of_time(ctx) || is_refused(ctx, request)) \
        return false; \
    do { \
        if (ctx->bench->name == NULL) \
            no_request(&e, request); \
        if (ctx->bench->name == NULL || !ctx->bench->name(ctx->bench->self, q, &s, &e)) { \
            refused(ctx, &e); \
            note_refusal(ctx, request); \
            return false; \
        } \
    } while (s.count == 0 && wait_for_quiet(ctx)); \
    return take(ctx, &s, out); \
}
#include "microbench/requests.def"
#undef REQUEST

static bool all_empty(const struct dg_samples *s, size_t count)
{
    size_t samples = 0;
    for (size_t i = 0; i < count; i++)
        samples += s[i].count;
    return samples == 0;
}

bool dg_read_mixes(struct dg_context *ctx, const struct dg_mix *q, size_t count, unsigned samples,
                   struct dg_measure *out)
{
    struct dg_error e = { 0 };
    char request[DG_REQUEST_SIZE];
    samples = clamp(ctx, samples);
    struct dg_sample *buffer = dg_alloc_array(ctx->scratch, count * samples, sizeof *buffer);
    struct dg_samples *s = dg_alloc_array(ctx->scratch, count, sizeof *s);
    if (buffer == NULL || s == NULL || count == 0 || dg_out_of_time(ctx))
        return false;
    for (size_t i = 0; i < count; i++)
        s[i] = (struct dg_samples){ .sample = buffer + i * samples, .capacity = samples };
    /* the last stands for all: it has the largest regions */
    dg_request_mix(request, &q[count - 1]);
    if (is_refused(ctx, request))
        return false;
    do {
        if (!ctx->bench->mix(ctx->bench->self, q, count, s, &e)) {
            refused(ctx, &e);
            note_refusal(ctx, request);
            return false;
        }
    } while (all_empty(s, count) && wait_for_quiet(ctx));
    for (size_t i = 0; i < count; i++)
        take(ctx, &s[i], &out[i]);
    return true;
}

void dg_say(struct dg_context *ctx, const struct dg_number *n)
{
    dg_answers_add(&ctx->out, &(struct dg_answer){
        .key = dg_strdup(ctx->arena, n->key), .unit = n->unit, .method = n->method,
        .certificate = n->certificate,
        .value = { .kind = DG_VALUE_NUMBER, .number = n->value },
        .low = n->low, .high = n->high, .confidence = n->confidence, .status = DG_MEASURED,
        .samples = n->samples });
}

void dg_say_stat(struct dg_context *ctx, const char *key, const char *unit, const char *method,
                 const struct dg_stat *stat, double factor)
{
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = unit, .method = method, .value = factor * stat->median,
        .low = factor * stat->low, .high = factor * stat->high, .confidence = 1,
        .samples = stat->count });
}

void dg_say_exact(struct dg_context *ctx, const char *key, const char *unit, const char *method,
                  double value, double confidence)
{
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = unit, .method = method, .value = value, .low = value, .high = value,
        .confidence = confidence, .samples = 1 });
}

void dg_say_text(struct dg_context *ctx, const char *key, const char *method, const char *text)
{
    dg_answers_add(&ctx->out, &(struct dg_answer){
        .key = dg_strdup(ctx->arena, key), .unit = "", .method = method, .confidence = 1,
        .value = { .kind = DG_VALUE_TEXT, .text = text }, .status = DG_MEASURED, .samples = 1 });
}

void dg_say_list(struct dg_context *ctx, const char *key, const char *method,
                 const char *const *list, size_t count)
{
    dg_answers_add(&ctx->out, &(struct dg_answer){
        .key = dg_strdup(ctx->arena, key), .unit = "", .method = method, .confidence = 1,
        .value = { .kind = DG_VALUE_LIST, .list = list, .list_count = count },
        .status = DG_MEASURED, .samples = 1 });
}

void dg_cannot(struct dg_context *ctx, const char *key, const char *unit, enum dg_status status,
               const char *reason, const char *help)
{
    dg_answers_add(&ctx->out, &(struct dg_answer){
        .key = dg_strdup(ctx->arena, key), .unit = unit, .status = status, .method = "",
        .reason = reason, .help = help });
}

void dg_say_claim(struct dg_context *ctx, const char *key, const char *unit)
{
    size_t count;
    const struct dg_claim *claims = dg_claims_of(ctx->claims, key, &count);
    if (claims == NULL) {
        dg_cannot(ctx, key, unit, DG_UNAVAILABLE, "not measured, and nothing here states it",
                  "type the value into the profile if a plan needs it");
        return;
    }
    double value = dg_claims_number(ctx->claims, key, 0);
    dg_answers_add(&ctx->out, &(struct dg_answer){
        .key = key, .unit = unit, .value = { .kind = DG_VALUE_NUMBER, .number = value },
        .low = value, .high = value, .confidence = 0.5, .status = DG_CLAIMED,
        .method = "stated by the system, not measured", .claims = claims, .claim_count = count });
}

void dg_refused(struct dg_context *ctx, const char *key, const char *unit)
{
    const char *reason = ctx->last.rule[0] != '\0' ? dg_strdup(ctx->arena, ctx->last.rule)
                                                   : "the measurement was refused";
    const char *help = ctx->last.todo[0] != '\0' ? dg_strdup(ctx->arena, ctx->last.todo)
                                                 : "run again on a quiet machine";
    dg_cannot(ctx, key, unit,
              ctx->last.exit_code == disturbed ? DG_UNRELIABLE : DG_UNAVAILABLE, reason, help);
}

bool dg_settled(const struct dg_context *ctx, const char *key)
{
    return ctx->settled != NULL && ctx->settled(ctx->runner, key);
}

double dg_known(const struct dg_context *ctx, const char *key, double otherwise)
{
    const struct dg_answer *a = dg_answers_find(&ctx->out, key);
    if (a == NULL || a->value.kind != DG_VALUE_NUMBER)
        a = dg_answers_find(ctx->known, key);
    return a != NULL && a->value.kind == DG_VALUE_NUMBER ? a->value.number : otherwise;
}

double dg_known_or_claimed(const struct dg_context *ctx, const char *key, double otherwise,
                           bool *assumed)
{
    double value = dg_known(ctx, key, 0);
    *assumed = value == 0;
    if (value == 0)
        value = dg_claims_number(ctx->claims, key, otherwise);
    return value;
}

uint64_t dg_random(struct dg_context *ctx)
{
    /* xorshift64 (Marsaglia 2003): the same orders in every run and in every replay */
    uint64_t x = ctx->random != 0 ? ctx->random : UINT64_C(88172645463325252);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return ctx->random = x;
}

void dg_shuffle(struct dg_context *ctx, uint32_t *values, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)(dg_random(ctx) % i);
        uint32_t t = values[i - 1];
        values[i - 1] = values[j];
        values[j] = t;
    }
}

static const struct dg_isa *kernel_isa(const struct dg_context *ctx)
{
    const struct dg_bench_info *info = ctx->bench->info;
    for (size_t i = 0; dg_isas[i] != NULL; i++)
        if (strcmp(dg_isas[i]->architecture, ctx->architecture) == 0 &&
            dg_features_have(info->features, info->feature_count, dg_isas[i]->features))
            return dg_isas[i];
    return NULL;
}

unsigned dg_kernel_bits(const struct dg_context *ctx)
{
    const struct dg_isa *isa = kernel_isa(ctx);
    return isa != NULL ? isa->vector_bits : 0;
}

unsigned dg_kernel_registers(const struct dg_context *ctx)
{
    const struct dg_isa *isa = kernel_isa(ctx);
    return isa != NULL ? isa->vector_registers : 0;
}
