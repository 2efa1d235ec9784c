/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPUs among each other: what handing over a line costs, which of them are near, which are of
 * one kind, and how far the memory of each node is. Disturbances only make these times longer, so
 * the least of the samples counts. Kinds are told apart by latencies alone: a busy sibling halves
 * rates, and would look like another kind. */
#include "probes/probe.h"

#include <math.h>
#include <string.h>

#include "probes/cpus.h"
#include "probes/infer/groups.h"

enum { PAIRS_OF_ALL = 16 };              /* up to so many CPUs every pair is measured */

struct cores {
    unsigned cpu[DG_GROUP_MOST];
    size_t count;
    bool all;                            /* every allowed CPU is in the list */
};

/* The measured CPU first, then the others, spread over the list where there are too many. */
static void choose(const struct dg_context *ctx, struct cores *c)
{
    const struct dg_bench_info *info = ctx->bench->info;
    unsigned list[DG_CPU_LIST_MOST];
    size_t count = dg_cpu_list(info->cpu_list, list);
    size_t step = (count + DG_GROUP_MOST - 2) / (DG_GROUP_MOST - 1);
    c->cpu[0] = info->cpu;
    c->count = 1;
    c->all = step <= 1 && (count > 0 ? count : 1) >= info->cpus;
    for (size_t i = 0; i < count && c->count < DG_GROUP_MOST; i += step)
        if (list[i] != info->cpu)
            c->cpu[c->count++] = list[i];
}

static const char *text_of_group(struct dg_context *ctx, const struct cores *c,
                                 const unsigned *group, unsigned which)
{
    unsigned list[DG_GROUP_MOST];
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (group[i] == which)
            list[count++] = c->cpu[i];
    return dg_cpu_text(ctx->arena, list, count);
}

/* In the order of the CPU numbers, so that two runs pinned to different CPUs give one list. */
static void say_groups(struct dg_context *ctx, const char *key, const char *method,
                       const struct cores *c, const unsigned *group, size_t groups)
{
    const char **list = dg_alloc_array(ctx->arena, groups + 1, sizeof *list);
    unsigned least[DG_GROUP_MOST];
    for (size_t g = 0; list != NULL && g < groups; g++)
        least[g] = dg_cpu_least(list[g] = text_of_group(ctx, c, group, (unsigned)g));
    for (size_t i = 1; list != NULL && i < groups; i++)
        for (size_t k = i; k > 0 && least[k] < least[k - 1]; k--) {
            const char *text = list[k];
            unsigned number = least[k];
            list[k] = list[k - 1], least[k] = least[k - 1];
            list[k - 1] = text, least[k - 1] = number;
        }
    if (list != NULL)
        dg_say_list(ctx, key, method, list, groups);
}

/* ---- hand-overs ---- */

static bool hand_over(struct dg_context *ctx, unsigned a, unsigned b, double *ns)
{
    char key[48];
    struct dg_measure m;
    struct dg_handoff q = { a < b ? a : b, a < b ? b : a };
    if (!dg_read_handoff(ctx, &q, 15, &m) || m.ns.min <= 0)
        return false;
    *ns = m.ns.low;
    dg_format(key, sizeof key, "c2c.%u.%u", q.a, q.b);
    dg_say(ctx, &(struct dg_number){
        .key = key, .unit = "ns", .value = m.ns.low, .low = m.ns.min, .high = m.ns.median,
        .confidence = 1, .samples = m.samples,
        .method = "a line that two pinned threads write in turn: half a round trip" });
    return true;
}

static void say_spread(struct dg_context *ctx, double *ns, size_t count)
{
    static const char *const method = "over the pairs that were measured";
    struct dg_stat s = dg_stat_of(ns, count);
    dg_say_exact(ctx, "c2c.min", "ns", method, s.min, 1);
    dg_say_exact(ctx, "c2c.median", "ns", method, s.median, 1);
    dg_say_exact(ctx, "c2c.max", "ns", method, s.max, 1);
}

static void say_levels(struct dg_context *ctx, const struct cores *c, const double *distance)
{
    const double gap = 1.35;
    struct dg_grouping level[DG_GROUP_LEVELS];
    size_t levels = dg_infer_levels(distance, c->count, gap, level);
    for (size_t i = 0; i < levels; i++) {
        char key[48];
        dg_format(key, sizeof key, "c2c.groups.%zu", i + 1);
        say_groups(ctx, key, "every pair inside is nearer than every pair across", c,
                   level[i].group, level[i].groups);
    }
}

static void no_handoff(struct dg_context *ctx, const char *reason, const char *help)
{
    static const char *const keys[] = { "c2c.min", "c2c.median", "c2c.max" };
    for (size_t i = 0; i < 3; i++)
        dg_cannot(ctx, keys[i], "ns", DG_UNAVAILABLE, reason, help);
}

static void measure_handoffs(struct dg_context *ctx, const struct cores *c)
{
    size_t n = c->count, pairs = 0, most = n * (n - 1) / 2;
    bool every = n <= PAIRS_OF_ALL, whole = true;
    double *distance = dg_alloc_array(ctx->scratch, n * n + 1, sizeof *distance);
    double *ns = dg_alloc_array(ctx->scratch, most + 1, sizeof *ns);
    if (distance == NULL || ns == NULL)
        return;
    if (n < 2) {
        no_handoff(ctx, "one CPU is allowed: there is no pair",
                   "allow more CPUs (taskset, the control group's cpuset)");
        return;
    }
    for (size_t i = 0; i < (every ? n : 1); i++)
        for (size_t j = i + 1; j < n && !ctx->stopped; j++) {
            double one = 0;
            bool good = hand_over(ctx, c->cpu[i], c->cpu[j], &one);
            whole &= good;
            distance[i * n + j] = distance[j * n + i] = one;
            ns[pairs] = one;
            pairs += good;
        }
    if (pairs == 0)
        no_handoff(ctx, ctx->last.rule[0] != '\0' ? dg_strdup(ctx->arena, ctx->last.rule)
                                                  : "no pair ran undisturbed",
                   "run again on a quiet machine");
    else
        say_spread(ctx, ns, pairs);
    if (whole && every && c->all && !ctx->stopped)
        say_levels(ctx, c, distance);
}

/* ---- kinds ---- */

/* Latencies that differ between designs; a row that a machine has no loop for is left out. */
static const struct { const char *op; unsigned operand; } marks[] = {
    { "ref.multiply", 0 }, { "ref.through-vector", 0 },
    { "fma.f32.256", 1 }, { "fma.f32.128", 1 }, { "add.f32.128", 1 }, { "mul.f64.128", 1 },
};
enum { MARKS = sizeof marks / sizeof *marks };

static bool read_marks(struct dg_context *ctx, unsigned cpu, double mark[MARKS])
{
    size_t known = 0;
    for (size_t m = 0; m < MARKS; m++) {
        struct dg_measure one;
        struct dg_visit q = { .cpu = cpu, .loop = { .kind = DG_LOOP_LATENCY, .op = marks[m].op,
                                                    .operand = marks[m].operand } };
        if (dg_read_visit(ctx, &q, 15, &one) && one.cycles.min > 0 &&
            (mark[m] <= 0 || one.cycles.min < mark[m]))
            mark[m] = one.cycles.min;
        known += mark[m] > 0;
    }
    return known > 0;
}

static bool is_whole(double cycles)
{
    return fabs(cycles - round(cycles)) <= fmin(0.35, 0.05 + 0.03 * cycles);
}

/* The largest difference of a latency, as a part of it. Latencies of a design are whole cycles: a
 * difference from one that is not is a disturbance, and neither alike nor different. */
static double unlike(const double *a, const double *b)
{
    const double alike = 0.05, unclear = 0.1;
    double most = 0;
    for (size_t m = 0; m < MARKS; m++) {
        double part = a[m] > 0 && b[m] > 0 ? fabs(a[m] - b[m]) / fmin(a[m], b[m]) : 0;
        if (part > alike && !(is_whole(a[m]) && is_whole(b[m])))
            return unclear;
        most = fmax(most, part);
    }
    return most;
}

static void measure_kinds(struct dg_context *ctx, const struct cores *c)
{
    static const char *const key = "kinds.measured";
    const double alike = 0.05, different = 0.15;
    unsigned group[DG_GROUP_MOST];
    size_t n = c->count;
    double *distance = dg_alloc_array(ctx->scratch, n * n, sizeof *distance);
    /* the least of all repeats */
    if (*ctx->carry == NULL)
        *ctx->carry = dg_alloc_array(ctx->arena, n, MARKS * sizeof(double));
    double (*mark)[MARKS] = *ctx->carry;
    bool good = mark != NULL && distance != NULL;
    for (size_t i = 0; good && i < n; i++)
        good = read_marks(ctx, c->cpu[i], mark[i]);
    if (!good || ctx->stopped) {
        dg_refused(ctx, key, "");
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            distance[i * n + j] = unlike(mark[i], mark[j]);
    size_t groups = dg_infer_groups(distance, n, alike, different, group);
    if (groups == 0 || !c->all)
        dg_cannot(ctx, key, "", DG_UNRELIABLE, groups == 0
                      ? "latencies of some CPUs are neither alike nor clearly different"
                      : "more CPUs than can be compared",
                  "run again on a quiet machine, or allow fewer CPUs");
    else
        say_groups(ctx, key, "CPUs whose latencies of several operations are equal in cycles", c,
                   group, groups);
}

/* ---- nodes ---- */

/* One CPU of every node as the system lists them: claims `numa.<n>.cpus`. */
static void measure_nodes(struct dg_context *ctx, const struct cores *c)
{
    enum { NODES = 16 };
    const uint64_t largest = 64 << 20;
    uint64_t bytes = ctx->bench->info->memory_limit / 4;
    for (unsigned node = 0; node < NODES && !ctx->stopped; node++) {
        char key[48];
        size_t count;
        struct dg_measure m;
        dg_format(key, sizeof key, "numa.%u.cpus", node);
        const struct dg_claim *claim = dg_claims_of(ctx->claims, key, &count);
        int home = claim == NULL ? -1 : dg_cpu_common(claim[0].value.text, c->cpu, c->count);
        struct dg_remote q = { .home = (unsigned)home, .bytes = bytes < largest ? bytes : largest };
        dg_format(key, sizeof key, "numa.%u.latency", node);
        if (claim == NULL)
            continue;
        if (home < 0)
            dg_cannot(ctx, key, "ns", DG_UNAVAILABLE, "no CPU of this node is allowed here",
                      "allow a CPU of every node");
        else if (!dg_read_remote(ctx, &q, 11, &m))
            dg_refused(ctx, key, "ns");
        else
            dg_say_stat(ctx, key, "ns", "dependent loads of memory that a CPU of the node wrote "
                        "first, in random order, translations included", &m.ns, 1);
    }
}

void dg_probe_cores(struct dg_context *ctx)
{
    struct cores c;
    if (ctx->quick)
        return;                          /* planning reads none of it */
    choose(ctx, &c);
    measure_handoffs(ctx, &c);
    measure_kinds(ctx, &c);
    measure_nodes(ctx, &c);
}
