/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known about one kind of core of one chip, how well, and from where. Pure data: the
 * structs and dg_profile_find need no libc; reading and writing (reader.h, writer.h) do. */
#ifndef DG_PROFILE_PROFILE_H
#define DG_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

enum dg_status {
    DG_MEASURED, DG_DERIVED, DG_CLAIMED, DG_ASSERTED,
    DG_UNAVAILABLE, DG_UNRELIABLE,       /* these two: no value; reason and help are set */
};

enum dg_value_kind { DG_VALUE_NULL, DG_VALUE_NUMBER, DG_VALUE_TEXT, DG_VALUE_LIST };

/* A number (double: sizes up to 2^53 are exact), a text, a list of texts, or null. */
struct dg_value {
    enum dg_value_kind kind;
    double number;
    const char *text;
    const char *const *list;
    size_t list_count;
};

struct dg_claim {
    const char *source;                  /* "cpuid", "sysfs", "hwloc", "hwcap", "sysconf", ... */
    struct dg_value value;
};

/* One value with its evidence; probes give these, measurements.<key> holds them. The key is a
 * scalar's name ("l1_size") or a cell's ("op.fma.f32.256.latency"). */
struct dg_answer {
    const char *key, *unit;              /* units: bytes cycles ns "bytes/cycle" GB/s Hz count
                                            "1/cycle" ratio; "" for texts */
    struct dg_value value;
    double low, high;                    /* interval; equal to the number when exact */
    double confidence;                   /* 0..1 */
    enum dg_status status;
    const char *method;                  /* one sentence: what was run and how it was read */
    const char *certificate;             /* NULL, or what was seen that another value excludes */
    unsigned long samples;
    const char *reason, *help;           /* NULL unless unavailable or unreliable */
    const struct dg_claim *claims;
    size_t claim_count;
};

/* environment.<key>: whatever changes from run to run. */
struct dg_fact {
    const char *key;
    struct dg_value value;               /* booleans are the texts "true" and "false" with flag */
    bool is_boolean;
};

struct dg_entry {                        /* a flat top-level value; the array is sorted by key */
    const char *key;
    struct dg_value value;
};

struct dg_profile {
    const struct dg_entry *entries;      /* name, architecture, scalars and cells; strcmp order */
    size_t entry_count;
    const struct dg_answer *measurements;  /* sorted by key */
    size_t measurement_count;
    const struct dg_fact *environment;
    size_t environment_count;
    const char *const *warnings;         /* from validation: contradictions with asserted values */
    size_t warning_count;
};

/* The flat value of a key, after renaming accepted other names (the reader does that); NULL when
 * absent or null. Binary search, no libc. */
const struct dg_value *dg_profile_find(const struct dg_profile *profile, const char *key);
/* A number, or `otherwise` when there is none. */
double dg_profile_number(const struct dg_profile *profile, const char *key, double otherwise);
const char *dg_profile_text(const struct dg_profile *profile, const char *key);
/* measurements.<key>, NULL when there is none. */
const struct dg_answer *dg_profile_evidence(const struct dg_profile *profile, const char *key);
/* environment.<key>, NULL when absent or null. */
const struct dg_value *dg_profile_fact(const struct dg_profile *profile, const char *key);

/* A recording view: what a planner read, each key once, with the value seen (NULL: absent). The
 * list is what makes a kernel's identity; it is kept sorted by key and grows in the arena. */
struct dg_read { const char *key; const struct dg_value *value; bool assumed; double used; };
struct dg_view {
    const struct dg_profile *profile;
    struct dg_arena *arena;              /* holds `reads` and keys built by the planner */
    struct dg_read *reads;
    size_t read_count, read_capacity;
    bool strict;                         /* an absent value is an error, not a default */
    const char *missing;                 /* strict: the first key that was absent */
};
void dg_view_init(struct dg_view *view, const struct dg_profile *profile,
                  struct dg_arena *arena, bool strict);
/* A scalar or a cell: its value, or the named default of defaults.def for this architecture,
 * recorded as assumed. Where a scalar and a cell say the same (memory_bandwidth_gbps and
 * bw.dram.triad.all, l2_to_dram_bandwidth_gbps and bw.dram.read.1, l1_to_l2_bandwidth_gbps x clock
 * and bw.l2.read.1) the cell wins and the scalar stands in for it; both readings are recorded.
 * False only when there is no value at all, or strict and absent, or no memory. */
bool dg_view_field(struct dg_view *view, const char *key, double *out);
/* A cell: false when absent (recorded too: a kernel must be regenerated when it appears). */
bool dg_view_cell(struct dg_view *view, const char *key, double *out);
/* A list of texts ("isa"), or its default, as dg_view_field. */
bool dg_view_list(struct dg_view *view, const char *key, const char *const **list, size_t *count);

#endif
