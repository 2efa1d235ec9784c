/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/replay.h"

#include <string.h>

/* Fields of struct dg_bench_info by kind; one list for writing and reading. */
#define NUMBERS(X) \
    X(tick_ns) X(clock_hz) X(clock_low_hz) X(clock_high_hz) X(page_bytes) X(memory_limit) \
    X(small_from) X(cpu) X(cpus)
#define TEXTS(X) X(time_source) X(chains) X(cycle_source) X(perf) X(cpu_list)
#define FLAGS(X) X(huge_pages) X(memory_short) X(pinned) X(emulated)

static void list_fact(struct dg_facts *f, const char *key, const char *const *list, size_t count)
{
    dg_facts_add(f, &(struct dg_fact){
        .key = key, .value = { .kind = DG_VALUE_LIST, .list = list, .list_count = count } });
}

static const char environment_prefix[] = "environment.";

/* An empty text is none. */
static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void pack_info(const struct dg_replay_header *h, struct dg_facts *f)
{
    const struct dg_probe_options *o = h->options;
#define PACK(name) dg_facts_number(f, #name, (double)h->info->name);
    NUMBERS(PACK)
#undef PACK
#define PACK(name) dg_facts_text(f, #name, known(h->info->name));
    TEXTS(PACK)
#undef PACK
#define PACK(name) dg_facts_flag(f, #name, h->info->name);
    FLAGS(PACK)
#undef PACK
    list_fact(f, "features", h->info->features, h->info->feature_count);
    dg_facts_text(f, "name", h->name);
    dg_facts_text(f, "architecture", o->architecture);
    dg_facts_number(f, "seed", (double)o->seed);
    dg_facts_number(f, "patience", o->patience);
    dg_facts_flag(f, "quick", o->quick);
    dg_facts_flag(f, "thorough", o->thorough);
    if (o->only != NULL)
        list_fact(f, "only", o->only, o->only_count);
    if (o->skip != NULL)
        list_fact(f, "skip", o->skip, o->skip_count);
    for (size_t i = 0; i < h->environment_count; i++)
        dg_facts_add(f, &(struct dg_fact){
            .key = dg_text(f->arena, "%s%s", environment_prefix, h->environment[i].key),
            .value = h->environment[i].value, .is_boolean = h->environment[i].is_boolean });
}

bool dg_replay_pack(const struct dg_replay_header *header, const struct dg_claims *claims,
                    const struct dg_recording *recording, struct dg_arena *arena,
                    struct dg_samples_file *out)
{
    struct dg_facts facts = { .arena = arena };
    struct dg_sample_claim *claim = dg_alloc_array(arena, claims->count + 1, sizeof *claim);
    pack_info(header, &facts);
    for (size_t i = 0; claim != NULL && i < claims->count; i++)
        claim[i] = (struct dg_sample_claim){ claims->row[i].key, claims->row[i].claim };
    *out = (struct dg_samples_file){
        .info = facts.fact, .info_count = facts.count, .claims = claim,
        .claim_count = claims->count, .rows = recording->item, .row_count = recording->count };
    return claim != NULL && !facts.failed && !recording->failed;
}

static const struct dg_value *find(const struct dg_samples_file *file, const char *key)
{
    for (size_t i = 0; i < file->info_count; i++)
        if (strcmp(file->info[i].key, key) == 0)
            return &file->info[i].value;
    return NULL;
}

static double number(const struct dg_samples_file *file, const char *key)
{
    const struct dg_value *v = find(file, key);
    return v != NULL && v->kind == DG_VALUE_NUMBER ? v->number : 0;
}

static const char *text(const struct dg_samples_file *file, const char *key)
{
    const struct dg_value *v = find(file, key);
    return v != NULL && v->kind == DG_VALUE_TEXT ? v->text : "";
}

static bool flag(const struct dg_samples_file *file, const char *key)
{
    return strcmp(text(file, key), "true") == 0;
}

static const char *const *list(const struct dg_samples_file *file, const char *key, size_t *count)
{
    const struct dg_value *v = find(file, key);
    bool is_list = v != NULL && v->kind == DG_VALUE_LIST;
    *count = is_list ? v->list_count : 0;
    return is_list ? v->list : NULL;
}

struct dg_bench_info dg_replay_info(const struct dg_samples_file *file)
{
    struct dg_bench_info info = { 0 };
#define UNPACK(name) info.name = (__typeof__(info.name))number(file, #name);
    NUMBERS(UNPACK)
#undef UNPACK
#define UNPACK(name) info.name = text(file, #name);
    TEXTS(UNPACK)
#undef UNPACK
#define UNPACK(name) info.name = flag(file, #name);
    FLAGS(UNPACK)
#undef UNPACK
    info.features = list(file, "features", &info.feature_count);
    return info;
}

struct dg_probe_options dg_replay_options(const struct dg_samples_file *file)
{
    struct dg_probe_options o = {
        .architecture = text(file, "architecture"), .quick = flag(file, "quick"),
        .thorough = flag(file, "thorough"), .seed = (uint64_t)number(file, "seed"),
        .patience = number(file, "patience") };
    o.only = list(file, "only", &o.only_count);
    o.skip = list(file, "skip", &o.skip_count);
    return o;
}

void dg_replay_claims(const struct dg_samples_file *file, struct dg_claims *out)
{
    for (size_t i = 0; i < file->claim_count; i++)
        dg_claims_add(out, file->claims[i].key, &file->claims[i].claim);
}

const char *dg_replay_name(const struct dg_samples_file *file)
{
    return text(file, "name");
}

const char *dg_replay_architecture(const struct dg_samples_file *file)
{
    return text(file, "architecture");
}

static void unpack_environment(const struct dg_samples_file *file, struct dg_facts *facts)
{
    const size_t skip = sizeof environment_prefix - 1;
    for (size_t i = 0; i < file->info_count; i++)
        if (strncmp(file->info[i].key, environment_prefix, skip) == 0)
            dg_facts_add(facts, &(struct dg_fact){ .key = file->info[i].key + skip,
                                                   .value = file->info[i].value,
                                                   .is_boolean = file->info[i].is_boolean });
}

/* Waits of the recorded run take no time now, but decide the same. */
static void no_pause(void *self, double seconds)
{
    (void)self, (void)seconds;
}

bool dg_replay_run(const struct dg_samples_file *file, struct dg_arena *arena,
                   struct dg_probe_result *out, struct dg_error *e)
{
    struct dg_bench_info *info = dg_alloc(arena, sizeof *info);
    struct dg_claims claims = { .arena = arena };
    struct dg_replay replay;
    if (info == NULL || !dg_replay_init(&replay, file->rows, file->row_count, arena))
        return dg_fail_memory(e, "");
    *info = dg_replay_info(file);
    struct dg_probe_options options = dg_replay_options(file);
    options.pause = no_pause;
    dg_replay_claims(file, &claims);
    const struct dg_bench bench = dg_replay_bench(&replay, info);
    if (!dg_probes_run(&bench, &claims, &options, arena, out, e))
        return false;
    unpack_environment(file, &out->facts);
    return true;
}
