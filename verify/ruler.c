/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/ruler.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/child.h"
#include "verify/roofline.h"
#include "verify/rounds.h"

enum { MOST_PEAKS = 8 };

struct reading {
    const struct dg_ruler_kernel *kernels;
    size_t count;
    struct dg_arena *arena;
    struct dg_verify_report *report;
    struct { char op[64]; double value; } peaks[MOST_PEAKS];
    size_t peak_count;
    char source[32], error[200];
    double seconds;
    bool ended;
};

static size_t split_tabs(char *line, char **fields, size_t most)
{
    size_t count = 0;
    for (char *at = line; at != NULL && count < most;) {
        fields[count++] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return count;
}

static void read_kernel(struct reading *r, char **f)
{
    static const char *const methods[] = {
        "samples of about 30 us of calls, median of undisturbed ones",
        "time stamps within the call, sum of the medians of its slices",
        "whole calls, median; interruptions within them are counted too",
    };
    size_t index = strtoull(f[1], NULL, 10), method = strtoull(f[8], NULL, 10);
    if (index >= r->count || method >= sizeof methods / sizeof *methods)
        return;
    struct dg_kernel_report *k = r->kernels[index].report;
    double cycles = strtod(f[2], NULL), low = strtod(f[3], NULL), high = strtod(f[4], NULL);
    k->cycles.raw_wall = strtod(f[5], NULL);
    k->cycles.accepted = strtoull(f[6], NULL, 10);
    k->cycles.rejected = strtoull(f[7], NULL, 10);
    k->cycles.method = methods[method];
    if (!isfinite(cycles))
        return;
    k->cycles.measured = cycles;
    /* A median well above the lower quartile is the mark of interruptions that no gate sees. */
    if (!(low >= 0.995 * cycles))
        k->cycles.reason = "unsteady: median and lower quartile differ by more than 0.5 %";
    k->cycles.low = low;
    k->cycles.high = high;
}

static void read_line(void *context, char *line)
{
    struct reading *r = context;
    char *f[12] = {NULL};
    size_t count = split_tabs(line, f, sizeof f / sizeof *f);
    assert(f[0] != NULL && "a line has a first field, even an empty one");
    if (strcmp(f[0], "kernel") == 0 && count == 9) {
        read_kernel(r, f);
    } else if (strcmp(f[0], "peak") == 0 && count == 3 && r->peak_count < MOST_PEAKS) {
        r->peaks[r->peak_count].value = strtod(f[1], NULL);
        dg_format(r->peaks[r->peak_count].op, sizeof r->peaks->op, "%s", f[2]);
        r->peak_count++;
    } else if (strcmp(f[0], "rounds") == 0 && count == 4) {
        r->report->rounds = (unsigned)strtoul(f[1], NULL, 10);
        r->report->dropped = (unsigned)strtoul(f[2], NULL, 10);
        r->seconds = strtod(f[3], NULL);
    } else if (strcmp(f[0], "gate") == 0 && count == 5) {
        dg_format(r->report->gate, sizeof r->report->gate,
                  "clock stepped %s, interrupted %s, sibling on multiply-adds %s, sibling busy %s",
                  f[1], f[2], f[3], f[4]);
    } else if (strcmp(f[0], "source") == 0 && count == 2) {
        dg_format(r->source, sizeof r->source, "%s", f[1]);
    } else if (strcmp(f[0], "error") == 0 && count == 2) {
        dg_format(r->error, sizeof r->error, "%s", f[1]);
    } else if (strcmp(f[0], "end") == 0) {
        r->ended = true;
    }
}

/* Why nothing was measured; a text in the arena. */
static const char *reason_for(const struct reading *r, const struct dg_child_end *end,
                              const struct dg_kernel_report *k)
{
    char text[320];
    if (r->error[0] != '\0')
        dg_format(text, sizeof text, "not measured: %s", r->error);
    else if (end->late)
        dg_format(text, sizeof text, "not measured: timing did not end in time");
    else if (!r->ended)
        dg_format(text, sizeof text, "not measured: timing ended with %s %d",
                  end->signal != 0 ? dg_signal_name(end->signal) : "code",
                  end->signal != 0 ? end->signal : end->status);
    else
        dg_format(text, sizeof text, "not determined: no undisturbed window in %llu s (%u rounds "
                  "good, %u dropped, %llu samples thrown away; of all: %s)",
                  (unsigned long long)ceil(r->seconds), r->report->rounds, r->report->dropped,
                  (unsigned long long)k->cycles.rejected, r->report->gate);
    return dg_strdup(r->arena, text);
}

static double peak_of(const struct reading *r, const struct dg_manifest *m)
{
    for (size_t i = 0; i < r->peak_count; i++)
        if (strcmp(r->peaks[i].op, m->roofs.peak_op) == 0 && isfinite(r->peaks[i].value))
            return r->peaks[i].value;
    return m->roofs.peak;
}

static void fill_roofline(const struct reading *r, const struct dg_ruler_kernel *kernel)
{
    struct dg_kernel_report *k = kernel->report;
    k->roofline.peak = peak_of(r, kernel->manifest);
    struct dg_roofline roof = dg_roofline_of(kernel->manifest, k->cycles.measured,
                                             k->roofline.peak);
    k->roofline.of_peak = roof.of_peak;
    k->roofline.of_roof = roof.of_roof;
    k->roofline.limit = roof.limit;
    k->roofline.inconsistent = roof.inconsistent;
}

/* Rounds and waiting are bounded by patience; what opens before is not long. */
static double limit_for(const struct dg_ruler_kernel *kernels, size_t count, double patience)
{
    double operations = 0;
    for (size_t i = 0; i < count; i++)
        operations += 2 * (double)kernels[i].manifest->problem.m
                    * (double)kernels[i].manifest->problem.n
                    * (double)kernels[i].manifest->problem.k;
    return 60 + 2 * patience + 16 * operations / 1e8;
}

void dg_ruler_run(const struct dg_ruler_kernel *kernels, size_t count,
                  const struct dg_verify_options *options, struct dg_arena *arena,
                  struct dg_verify_report *report)
{
    struct reading reading = {.kernels = kernels, .count = count, .arena = arena,
                              .report = report};
    struct dg_rounds_kernel *list = dg_alloc_array(arena, count, sizeof *list);
    struct dg_child_end end = {0};
    struct dg_error e = {0};
    if (count == 0 || list == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct dg_rounds_kernel){kernels[i].manifest, kernels[i].shared,
                                            kernels[i].timing};
    double patience = options->quiet_seconds * (count < 4 ? 1 : sqrt((double)count));
    struct dg_rounds_job job = {list, count, options->cpu, patience, options->rounds};
    if (!dg_child_run(dg_rounds_child, &job, limit_for(kernels, count, patience), read_line,
                      &reading, &end, &e))
        dg_format(reading.error, sizeof reading.error, "%s", e.rule);
    for (size_t i = 0; i < count; i++) {
        struct dg_kernel_report *k = kernels[i].report;
        if (!isfinite(k->cycles.measured))
            k->cycles.reason = reason_for(&reading, &end, k);
        fill_roofline(&reading, &kernels[i]);
    }
}
