/* SPDX-License-Identifier: Apache-2.0
 *
 * One screen about a profile: what was measured, and where the system's claims are wrong. */
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "cli/probe.h"
#include "profile/writer.h"

void dg_probe_number(char out[64], double value, const char *unit)
{
    char text[DG_FIXED_SIZE];
    if (strcmp(unit, "bytes") == 0 && value >= 1048576)
        dg_write_fixed(text, value / 1048576, value < 10485760 ? 1 : 0), unit = "MiB";
    else if (strcmp(unit, "bytes") == 0 && value >= 1024)
        dg_write_fixed(text, value / 1024, 0), unit = "KiB";
    else if (strcmp(unit, "Hz") == 0)
        dg_write_fixed(text, value / 1e9, 2), unit = "GHz";
    else
        dg_write_double(text, dg_round_digits(value, 4));
    dg_format(out, 64, "%s%s%s", text, strcmp(unit, "count") == 0 ? "" : " ",
              strcmp(unit, "count") == 0 ? "" : unit);
}

static void add_claims(struct dg_str *out, const struct dg_answer *a)
{
    if (a->claim_count == 0)
        return;
    enum dg_agreement agreement = dg_answer_agrees(a);
    bool wrong = agreement == DG_CONTRADICTED;
    dg_str_format(out, "   %s", wrong ? "CONTRADICTED:"
                                      : agreement == DG_AGREES ? "agrees:" : "claimed by:");
    for (size_t i = 0; i < a->claim_count; i++) {
        char text[64];
        if (wrong && dg_claim_agrees(a, &a->claims[i]) != DG_CONTRADICTED)
            continue;
        if (a->claims[i].value.kind != DG_VALUE_NUMBER)
            continue;
        dg_probe_number(text, a->claims[i].value.number, a->unit);
        if (wrong)
            dg_str_format(out, " %s says %s", a->claims[i].source, text);
        else
            dg_str_format(out, " %s", a->claims[i].source);
    }
}

/* 3.99 .. 4.01, where the ends can be told apart */
static void interval_text(char out[64], const struct dg_answer *a)
{
    double scale = strcmp(a->unit, "Hz") == 0 ? 1e9 : 1;
    char low[64], high[64];
    out[0] = '\0';
    if (a->value.kind != DG_VALUE_NUMBER ||
        dg_round_digits(a->low, 3) == dg_round_digits(a->high, 3))
        return;
    bool bytes = strcmp(a->unit, "bytes") == 0;
    dg_probe_number(low, bytes ? a->low : dg_round_digits(a->low / scale, 3),
                    bytes ? "bytes" : "count");
    dg_probe_number(high, bytes ? a->high : dg_round_digits(a->high / scale, 3),
                    bytes ? "bytes" : "count");
    dg_format(out, 64, "%s .. %s", low, high);
}

static void add_row(struct dg_str *out, const struct dg_profile *p, const char *title,
                    const char *key)
{
    char text[64] = "not determined";
    const struct dg_answer *a = dg_profile_evidence(p, key);
    const struct dg_value *value = dg_profile_find(p, key);
    if (value != NULL && value->kind == DG_VALUE_NUMBER)
        dg_probe_number(text, value->number, a != NULL ? a->unit : "");
    else if (value != NULL && value->kind == DG_VALUE_TEXT)
        dg_format(text, sizeof text, "%s", value->text);
    char interval[64] = "";
    if (a != NULL)
        interval_text(interval, a);
    dg_str_format(out, "  %-26s %-18s %-20s", title, text, interval);
    if (a != NULL)
        add_claims(out, a);
    if (a != NULL && (a->status == DG_UNRELIABLE || a->status == DG_UNAVAILABLE) &&
        a->reason != NULL)
        dg_str_format(out, "   %s", a->reason);
    dg_str_format(out, "\n");
}

static bool flag(const struct dg_profile *p, const char *key)
{
    const struct dg_value *v = dg_profile_fact(p, key);
    return v != NULL && v->kind == DG_VALUE_TEXT && strcmp(v->text, "true") == 0;
}

static void add_head(struct dg_str *out, const struct dg_profile *p)
{
    const char *name = dg_profile_text(p, "name");
    const char *architecture = dg_profile_text(p, "architecture");
    const struct dg_value *model = dg_profile_fact(p, "model_name");
    const struct dg_value *seconds = dg_profile_fact(p, "seconds");
    char text[DG_NUMBER_SIZE] = "";
    dg_str_format(out, "%s (%s)", name != NULL ? name : "no name",
                  architecture != NULL ? architecture : "?");
    if (model != NULL && model->kind == DG_VALUE_TEXT)
        dg_str_format(out, ", %s", model->text);
    if (seconds != NULL && seconds->kind == DG_VALUE_NUMBER) {
        dg_write_double(text, seconds->number);
        dg_str_format(out, ", measured in %s s", text);
    }
    dg_str_format(out, "%s%s%s\n", flag(p, "emulated") ? ", EMULATED: times mean nothing" : "",
           flag(p, "incomplete") ? ", INCOMPLETE" : "",
           flag(p, "memory_short") ? ", little memory: DRAM figures may include cache" : "");
}

/* Whether row i is unknown and asks for the same as row j. */
static bool same_advice(const struct dg_profile *p, size_t i, size_t j)
{
    const struct dg_answer *a = &p->measurements[i], *b = &p->measurements[j];
    return a->value.kind == DG_VALUE_NULL && b->value.kind == DG_VALUE_NULL && a->help != NULL &&
           b->help != NULL && strcmp(a->help, b->help) == 0;
}

static void add_advice(struct dg_str *out, const struct dg_profile *p, size_t first)
{
    enum { SHOWN = 3 };
    size_t same = 0;
    dg_str_format(out, "  not known: %s", p->measurements[first].key);
    for (size_t i = first; i < p->measurement_count; i++)
        if (same_advice(p, first, i) && same++ > 0 && same <= SHOWN)
            dg_str_format(out, ", %s", p->measurements[i].key);
    if (same > SHOWN)
        dg_str_format(out, " and %zu more", same - SHOWN);
    dg_str_format(out, "\n    -> %s\n", p->measurements[first].help);
}

/* What to do about what is missing: each advice once, with the first that call for it. */
static void add_missing(struct dg_str *out, const struct dg_profile *p)
{
    enum { SHOWN = 4 };
    size_t kinds = 0;
    for (size_t i = 0; i < p->measurement_count; i++) {
        bool said = !same_advice(p, i, i);
        for (size_t j = 0; j < i && !said; j++)
            said = same_advice(p, i, j);
        if (!said && kinds++ < SHOWN)
            add_advice(out, p, i);
    }
    if (kinds > SHOWN)
        dg_str_format(out, "  and more that is not known, for %zu other reasons\n", kinds - SHOWN);
}

static void add_tail(struct dg_str *out, const struct dg_profile *p)
{
    size_t known = 0, unreliable = 0, cells = 0;
    for (size_t i = 0; i < p->measurement_count; i++) {
        known += p->measurements[i].value.kind != DG_VALUE_NULL;
        unreliable += p->measurements[i].status == DG_UNRELIABLE;
        cells += strchr(p->measurements[i].key, '.') != NULL &&
                 p->measurements[i].value.kind != DG_VALUE_NULL;
    }
    dg_str_format(out, "  %zu values, %zu of them cells; %zu not reliable\n", known, cells,
                  unreliable);
}

void dg_probe_summary(const struct dg_profile *p, struct dg_str *out)
{
    static const struct { const char *title, *key; } rows[] = {
        { "core clock", "clock_hz" }, { "cores of this kind", "cores" },
        { "vector", "vector_bits" }, { "fma latency", "fma_latency" },
        { "L1 data cache", "l1_size" }, { "  line", "l1_line_size" }, { "  ways", "l1_ways" },
        { "  latency", "l1_latency" },
        { "L2 cache", "l2_size" }, { "  latency", "l2_latency" },
        { "L3 cache", "l3_size" }, { "  share of one core", "l3_effective_size" },
        { "  latency", "l3_latency" }, { "memory latency", "dram_latency" },
        { "L1 read", "bw.l1.read.1" }, { "L2 read", "bw.l2.read.1" }, { "L3 read", "bw.l3.read.1" },
        { "memory read, one core", "bw.dram.read.1" },
        { "memory triad, all cores", "bw.dram.triad.all" },
    };
    char key[64];
    const struct dg_value *bits = dg_profile_find(p, "vector_bits");
    add_head(out, p);
    dg_probe_map(p, out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add_row(out, p, rows[i].title, rows[i].key);
        if (strcmp(rows[i].key, "fma_latency") == 0 && bits != NULL) {
            dg_format(key, sizeof key, "op.fma.f32.%u.per_cycle", (unsigned)bits->number);
            add_row(out, p, "fma per cycle, f32", key);
        }
    }
    add_missing(out, p);
    add_tail(out, p);
}
