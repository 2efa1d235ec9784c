/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/rounds.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "deepgemm/kernel_args.h"
#include "microbench/engine/engine.h"
#include "microbench/host/host.h"
#include "microbench/loops/loops.h"
#include "verify/runner/elements.h"
#include "verify/slices.h"

/* A sample of short calls lasts SAMPLE_NS; a call beyond LONG_NS is cut into slices, since the
 * hypervisor takes the core away within it. */
static const double SAMPLE_NS = 30e3, LONG_NS = 300e3, BLOCK_NS = 5e6;
enum { SAMPLES_A_ROUND = 20, LEAST_SAMPLES = 3, LONG_CALLS = 2, MOST_ROUNDS = 400 };

struct timed {
    struct dg_host *host;
    const struct dg_manifest *manifest;
    void (*call)(const void *a, const void *b, void *c);
    int (*ex)(const struct dg_kernel_args *);         /* of the timing build, NULL: none */
    unsigned char *memory;
    size_t memory_bytes;
    void *a, *b, *c;
    enum dg_rounds_method method;
    uint64_t calls;                                   /* in a sample */
    double *cycles, *wall;                            /* a call, of each sample; wall of all */
    size_t count, kept, wall_count, capacity;         /* kept: of rounds that counted */
    unsigned rounds;                                  /* that counted */
    uint64_t *stamps;
    double *per_tick;
    double sample_wall;                               /* ns, of the sample just run */
    size_t slices;
    uint64_t accepted, rejected;
};

static double now_ns(struct dg_host *host)
{
    return (double)host->monotonic_ns(host);
}

/* ---- getting a kernel ready ---- */

static void take(void *library, const char *name, const char *behind, void *out)
{
    char symbol[256];
    snprintf(symbol, sizeof symbol, "%s%s", name, behind);
    void *address = dlsym(library, symbol);
    memcpy(out, &address, sizeof address);
}

static size_t bytes_of(uint64_t rows, uint64_t columns, uint64_t ld, size_t element)
{
    return rows == 0 || columns == 0 ? 0 : (size_t)((rows - 1) * ld + columns) * element;
}

/* Floats: odd multiples of 2^-12 within 0.5, normal in every format; integers: all there are. */
static void fill(const struct dg_kind *kind, void *out, size_t bytes)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < bytes / kind->bytes; i++) {
        state = state * 1664525u + 1013904223u;
        double value = kind->precision > 0 ? (2 * (double)(state >> 21) - 2047) * 0x1p-12
                                           : (double)(state >> 24) + kind->low;
        dg_element_put(kind, out, i, value);
    }
}

/* The operands stand in one mapping, each at another offset in its page, so that their first lines
 * do not meet in one cache set. */
static bool map_operands(struct timed *t)
{
    const struct dg_manifest *m = t->manifest;
    bool by_columns = strcmp(m->problem.layout_b, "col_major") == 0;
    const struct dg_run_dtype *dtype = dg_run_dtype_named(m->problem.dtype);
    size_t page = 4096, stagger = 1024 + 64;
    size_t a = bytes_of(m->problem.m, m->problem.k, m->problem.lda, dtype->a->bytes);
    size_t source = by_columns
        ? bytes_of(m->problem.n, m->problem.k, m->problem.ldb, dtype->b->bytes)
        : bytes_of(m->problem.k, m->problem.n, m->problem.ldb, dtype->b->bytes);
    bool packed = m->problem.packed_b_size > 0;
    size_t b = packed ? m->problem.packed_b_size : source;
    size_t c = bytes_of(m->problem.m, m->problem.n, m->problem.ldc, dtype->c->bytes);
    size_t a_room = (a + 2 * page) / page * page, b_room = (b + 2 * page) / page * page;
    t->memory_bytes = a_room + b_room + c + 3 * page;
    void *map = mmap(NULL, t->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    if (map == MAP_FAILED)
        return false;
    t->memory = map;
    t->a = t->memory;
    t->b = t->memory + a_room + stagger / 64 * 64;
    t->c = t->memory + a_room + b_room + 2 * stagger / 64 * 64;
    fill(dtype->a, t->a, a);
    fill(dtype->b, t->b, b);      /* packed or not: any finite values time alike */
    memset(t->c, 0, c);
    return true;
}

static bool add_room(struct timed *t, size_t capacity)
{
    t->capacity = capacity;
    t->cycles = calloc(capacity, sizeof *t->cycles);
    t->wall = calloc(capacity, sizeof *t->wall);
    t->per_tick = calloc(capacity, sizeof *t->per_tick);
    size_t stamps = t->method == DG_BY_SLICES ? capacity * (t->slices + 1) : 0;
    t->stamps = malloc((stamps + 1) * sizeof *t->stamps);
    if (t->stamps != NULL)
        memset(t->stamps, 0xFF, stamps * sizeof *t->stamps);   /* touched before it is timed */
    return t->cycles != NULL && t->wall != NULL && t->per_tick != NULL
        && t->stamps != NULL;
}

static double wall_of_call(struct timed *t)
{
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double from = now_ns(t->host);
        t->call(t->a, t->b, t->c);
        best = fmin(best, now_ns(t->host) - from);
    }
    return best;
}

/* One call of the timing build must write exactly the stamps that the manifest counts: else slices
 * of different calls would not lie side by side. */
static bool stamps_fit(struct timed *t, size_t count)
{
    uint64_t *stamps = calloc(count + 1, sizeof *stamps);
    struct dg_kernel_args args = {
        .size = sizeof args, .a = t->a, .b = t->b, .c = t->c, .alpha = 1,
        .beta = t->manifest->problem.beta, .stamps = stamps, .stamp_capacity = count + 1,
    };
    bool fit = stamps != NULL && t->ex(&args) == 0 && stamps[count - 1] != 0 && stamps[count] == 0;
    free(stamps);
    return fit;
}

static void choose_method(struct timed *t)
{
    double one = fmax(wall_of_call(t), 20);
    t->method = one < LONG_NS ? DG_BY_SAMPLES : DG_BY_CALLS;
    t->calls = 1;
    if (t->method == DG_BY_SAMPLES) {
        double from = now_ns(t->host), spent = 0;
        uint64_t calls = 0;
        while (spent < SAMPLE_NS) {
            t->call(t->a, t->b, t->c);
            calls++;
            spent = now_ns(t->host) - from;
        }
        /* the clock reads are in there: what they take is given back as more calls */
        t->calls = (uint64_t)fmax((double)calls, SAMPLE_NS / one);
    } else if (t->ex != NULL && t->manifest->stamps.count > 2
               && stamps_fit(t, (size_t)t->manifest->stamps.count)) {
        t->method = DG_BY_SLICES;
        t->slices = (size_t)t->manifest->stamps.count - 1;
    }
}

static unsigned samples_in_round(const struct timed *t, size_t kernels)
{
    size_t each = (SAMPLES_A_ROUND + kernels - 1) / kernels;
    if (t->method != DG_BY_SAMPLES)
        return LONG_CALLS;
    return each < LEAST_SAMPLES ? LEAST_SAMPLES : (unsigned)each;
}

static bool open_timed(struct timed *t, const struct dg_rounds_kernel *kernel,
                       const struct dg_rounds_job *job, struct dg_host *host)
{
    void *library = dlopen(kernel->shared, RTLD_NOW | RTLD_LOCAL);
    void *timing = kernel->timing == NULL ? NULL : dlopen(kernel->timing, RTLD_NOW | RTLD_LOCAL);
    *t = (struct timed){.host = host, .manifest = kernel->manifest};
    if (library == NULL)
        return false;
    take(library, kernel->manifest->name, "", &t->call);
    if (timing != NULL)
        take(timing, kernel->manifest->name, "_ex", &t->ex);
    if (t->call == NULL || !map_operands(t))
        return false;
    choose_method(t);
    /* a dropped block gives its room back */
    return add_room(t, (size_t)(job->rounds + 1) * samples_in_round(t, job->count));
}

/* ---- one sample ---- */

static void run_calls(void *context)
{
    struct timed *t = context;
    double from = now_ns(t->host);
    for (uint64_t i = 0; i < t->calls; i++)
        t->call(t->a, t->b, t->c);
    t->sample_wall = now_ns(t->host) - from;
}

static void run_stamped(void *context)
{
    struct timed *t = context;
    struct dg_kernel_args args = {
        .size = sizeof args, .a = t->a, .b = t->b, .c = t->c, .alpha = 1,
        .beta = t->manifest->problem.beta, .stamps = t->stamps + t->count * (t->slices + 1),
        .stamp_capacity = t->slices + 1,
    };
    double from = now_ns(t->host);
    t->ex(&args);
    t->sample_wall = now_ns(t->host) - from;
}

/* What became of a sample. A clock that moved spoils it alone, a busy sibling its neighbours. */
enum fate { KEPT, STEPPED, DISTURBED };

/* One call before warms caches and predictors. */
static enum fate sample(struct timed *t, const struct dg_bench *bench)
{
    struct dg_sample got;
    bool by_slices = t->method == DG_BY_SLICES;
    unsigned bits = dg_op_bits(t->manifest->roofs.peak_op);
    if (t->count >= t->capacity)
        return DISTURBED;
    unsigned long steps = dg_engine_state(bench)->rejected_clock;
    t->call(t->a, t->b, t->c);
    bool quiet = t->method == DG_BY_SAMPLES ? dg_engine_time(bench, bits, run_calls, t, &got)
        : dg_engine_time_long(bench, bits, by_slices ? run_stamped : run_calls, t, &got);
    if (t->wall_count < t->capacity)
        t->wall[t->wall_count++] = t->sample_wall / (double)t->calls;
    if (!quiet) {
        t->rejected++;
        return dg_engine_state(bench)->rejected_clock > steps ? STEPPED : DISTURBED;
    }
    double hz = dg_engine_state(bench)->tick_hz;
    t->per_tick[t->count] = got.cycles / (got.ns * hz * 1e-9);
    t->cycles[t->count++] = got.cycles / (double)t->calls;
    t->accepted++;
    return KEPT;
}

/* ---- rounds ---- */

struct outcome { unsigned good, dropped; double seconds; };

/* A block is dropped whole when more than one sample and more than 5 % of it are disturbed: samples
 * that pass in a disturbed time are not to be trusted either. */
static bool run_block(struct timed *const *t, size_t count, size_t kernels,
                      const struct dg_bench *bench)
{
    unsigned tried = 0, fates[DISTURBED + 1] = {0};
    for (size_t i = 0; i < count; i++)
        for (unsigned n = samples_in_round(t[i], kernels); n > 0; n--) {
            tried++;
            fates[sample(t[i], bench)]++;
        }
    bool good = (fates[DISTURBED] <= 1 || 20 * fates[DISTURBED] <= tried) &&
                2 * fates[KEPT] >= tried;
    for (size_t i = 0; i < count; i++) {
        if (good) {
            t[i]->kept = t[i]->count;
            t[i]->rounds++;
        } else {
            t[i]->rejected += t[i]->count - t[i]->kept;
            t[i]->accepted -= t[i]->count - t[i]->kept;
            t[i]->count = t[i]->kept;
        }
    }
    return good;
}

/* One turn over the kernels that still want rounds, in blocks of SAMPLES_A_ROUND samples or a few
 * milliseconds of neighbours in time. Counts blocks; false: nothing is left to do. */
static bool round_robin(struct timed *t, size_t count, const struct dg_rounds_job *job,
                        const struct dg_bench *bench, unsigned *good, unsigned *dropped)
{
    struct timed *block[SAMPLES_A_ROUND];
    size_t size = 0;
    double ns = 0;
    bool any = false;
    for (size_t i = 0; i <= count; i++) {
        bool wants = i < count && t[i].rounds < job->rounds;
        if (wants) {
            block[size++] = &t[i];
            ns += t[i].sample_wall * samples_in_round(&t[i], count);
            any = true;
        }
        bool full = size == SAMPLES_A_ROUND / LEAST_SAMPLES || ns > BLOCK_NS;
        if (size > 0 && (full || i == count)) {
            *(run_block(block, size, count, bench) ? good : dropped) += 1;
            size = 0;
            ns = 0;
        }
    }
    return any;
}

/* Bounded by patience; after turns without a good block the pauses grow to 0.1 s. */
static struct outcome run_rounds(struct timed *t, size_t count, const struct dg_rounds_job *job,
                                 const struct dg_bench *bench, struct dg_host *host)
{
    struct outcome out = {0};
    double from = now_ns(host), pause_ns = 2e6;
    for (unsigned turns = 0; turns < MOST_ROUNDS; turns++) {
        unsigned good = 0;
        if ((now_ns(host) - from) * 1e-9 >= job->patience
            || !round_robin(t, count, job, bench, &good, &out.dropped))
            break;
        out.good += good;
        pause_ns = good > 0 ? 2e6 : fmin(2 * pause_ns, 1e8);
        host->pause(host, (uint64_t)pause_ns);
    }
    out.seconds = (now_ns(host) - from) * 1e-9;
    return out;
}

/* ---- results ---- */

/* Operations a cycle of an operation's best rate loop, two for each lane; NaN: not measured. */
static double measure_peak(const struct dg_bench *bench, const char *op, unsigned lanes)
{
    enum { SAMPLES = 15 };
    struct dg_sample room[SAMPLES];
    double best = NAN;
    for (size_t i = 0; i < dg_loop_count; i++) {
        const struct dg_loop_entry *loop = &dg_loops[i];
        if (loop->kind != DG_LOOP_RATE || strcmp(loop->op, op) != 0 || loop->chains < 8)
            continue;
        struct dg_loop request = {.kind = DG_LOOP_RATE, .op = op, .chains = loop->chains};
        struct dg_samples samples = {.sample = room, .capacity = SAMPLES};
        struct dg_error ignored;
        if (!bench->loop(bench->self, &request, &samples, &ignored) || samples.count < 3)
            continue;
        double rate = 2.0 * lanes / samples.median;
        best = isnan(best) || rate > best ? rate : best;
    }
    return best;
}

static void report_peaks(const struct dg_rounds_job *job, const struct dg_bench *bench, int out)
{
    for (size_t i = 0; i < job->count; i++) {
        const char *op = job->kernels[i].manifest->roofs.peak_op;
        bool seen = op == NULL || op[0] == '\0';
        for (size_t j = 0; j < i && !seen; j++) {
            const char *other = job->kernels[j].manifest->roofs.peak_op;
            seen = other != NULL && strcmp(other, op) == 0;
        }
        if (!seen && op != NULL)
            dprintf(out, "peak\t%.17g\t%s\n",
                    measure_peak(bench, op, job->kernels[i].manifest->roofs.lanes), op);
    }
}

struct found { double cycles, low, high; };

static struct found conclude(struct timed *t)
{
    struct found f = {NAN, NAN, NAN};
    struct dg_slice_sum sum;
    if (t->method == DG_BY_SLICES) {
        struct dg_slices slices = {t->stamps, t->per_tick, t->kept, t->slices};
        if (dg_slices_sum(&slices, &sum))
            f = (struct found){sum.cycles, sum.low, sum.high};
    } else if (t->kept >= DG_SLICE_CALLS_LEAST) {
        f.cycles = dg_quantile(t->cycles, t->kept, 0.5);
        f.low = dg_quantile(t->cycles, t->kept, 0.25);
        f.high = dg_quantile(t->cycles, t->kept, 0.75);
    }
    return f;
}

static void report_kernel(struct timed *t, size_t index, int out)
{
    struct found f = conclude(t);
    double wall = t->wall_count == 0 ? NAN : dg_quantile(t->wall, t->wall_count, 0.5);
    dprintf(out, "kernel\t%zu\t%.17g\t%.17g\t%.17g\t%.17g\t%llu\t%llu\t%d\n", index, f.cycles,
            f.low, f.high, wall, (unsigned long long)t->accepted, (unsigned long long)t->rejected,
            (int)t->method);
}

int dg_rounds_child(void *argument, int out)
{
    const struct dg_rounds_job *job = argument;
    struct dg_host host;
    dg_host_system(&host, NULL);
    struct dg_engine_options options = {.cpu = job->cpu, .memory = 4 << 20, .host = &host};
    struct dg_bench bench;
    struct dg_error e;
    struct timed *timed = calloc(job->count, sizeof *timed);
    if (timed == NULL || !dg_engine_open(&options, &bench, &e)) {
        dprintf(out, "error\t%s\n", timed == NULL ? "out of memory" : e.rule);
        free(timed);
        return 1;
    }
    for (size_t i = 0; i < job->count; i++)
        if (!open_timed(&timed[i], &job->kernels[i], job, &host)) {
            dprintf(out, "error\t%s cannot be loaded or has no memory\n",
                    job->kernels[i].manifest->name);
            free(timed);
            return 1;
        }
    dprintf(out, "source\t%s\n", bench.info->cycle_source);
    report_peaks(job, &bench, out);
    struct outcome o = run_rounds(timed, job->count, job, &bench, &host);
    for (size_t i = 0; i < job->count; i++)
        report_kernel(&timed[i], i, out);
    const struct dg_engine_state *g = dg_engine_state(&bench);
    dprintf(out, "gate\t%lu\t%lu\t%lu\t%lu\n", g->rejected_clock, g->rejected_usage,
            g->rejected_peak, g->rejected_wide);
    dprintf(out, "rounds\t%u\t%u\t%.3f\nend\n", o.good, o.dropped, o.seconds);
    dg_engine_close(&bench);
    free(timed);
    return 0;
}
