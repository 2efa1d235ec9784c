/* SPDX-License-Identifier: Apache-2.0
 *
 * What was found out about kernels, as a struct, as JSON and as text for people. */
#ifndef DG_VERIFY_REPORT_H
#define DG_VERIFY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum dg_check_state { DG_CHECK_OK, DG_CHECK_FAILED, DG_CHECK_SKIPPED };

struct dg_check {
    const char *name, *detail;
    enum dg_check_state state;
};

/* Numbers that are not known are NaN (null in the file). */
struct dg_kernel_report {
    const char *name, *isa;
    const char *planned_for, *host;    /* "intel 6 167"; NULL or "": not known */
    uint64_t m, n, k;
    unsigned tile_m, tile_n;
    bool ran;                          /* false: `problem` says why nothing was run */
    struct dg_error problem;
    bool pass;                         /* numbers and calls; speed never matters here */
    bool unchecked;                    /* timed only: there is no verdict (null) */
    struct dg_check *checks;
    size_t check_count;
    struct {
        bool pass;
        double max_error, bound;       /* of the element where error / bound is largest */
        uint64_t checked;              /* elements compared with the reference */
    } numbers;
    struct {
        double predicted, measured;    /* core cycles a call */
        double low, high;              /* quartiles of measured */
        double raw_wall;               /* median wall time of a call, ns */
        const char *method, *reason;   /* how it was measured; why it was not */
        const char *note;              /* why it was measured in another way than it could be */
        uint64_t accepted, rejected;   /* samples or slices */
    } cycles;
    struct {
        double of_peak, of_roof;
        const char *limit;             /* "compute", "l1", "l2", "l3", "dram"; NULL */
        double peak, peak_claimed;     /* operations a cycle: of this run, of the manifest */
        bool inconsistent;             /* above 1.02 of the peak: one of the two is wrong */
    } roofline;
};

struct dg_verify_report {
    bool pass;
    bool unchecked;                    /* some kernel is */
    struct dg_kernel_report *kernels;
    size_t count;
    unsigned rounds, dropped;          /* blocks of timing: undisturbed, and left out */
    char gate[160];                    /* what disturbed the others */
};

void dg_kernel_report_init(struct dg_kernel_report *kernel);
/* Planned for a chip that this host is known not to be. */
bool dg_report_elsewhere(const struct dg_kernel_report *kernel);
/* Adds a check; false when memory is short. Copies the texts. */
bool dg_report_check(struct dg_kernel_report *kernel, struct dg_arena *arena, const char *name,
                     enum dg_check_state state, const char *detail);

/* The JSON of the contract, with `checks`, `reason` and `error` beside. */
void dg_report_json(const struct dg_verify_report *report, struct dg_str *out);
void dg_report_text(const struct dg_verify_report *report, struct dg_str *out);
/* A line per kernel, columns apart by blanks, a title above; "-" where nothing is known:
 * name isa m n k tile_m tile_n pass predicted measured low error% of_peak% */
void dg_report_table(const struct dg_verify_report *report, struct dg_str *out);

#endif
