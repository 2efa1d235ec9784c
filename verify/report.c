/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/report.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void dg_kernel_report_init(struct dg_kernel_report *kernel)
{
    *kernel = (struct dg_kernel_report){.name = "", .isa = ""};
    kernel->numbers.max_error = kernel->numbers.bound = NAN;
    kernel->cycles.predicted = kernel->cycles.measured = kernel->cycles.raw_wall = NAN;
    kernel->cycles.low = kernel->cycles.high = NAN;
    kernel->roofline.of_peak = kernel->roofline.of_roof = NAN;
    kernel->roofline.peak = kernel->roofline.peak_claimed = NAN;
}

bool dg_report_check(struct dg_kernel_report *kernel, struct dg_arena *arena, const char *name,
                     enum dg_check_state state, const char *detail)
{
    /* checks are few: a new array for each power of two */
    size_t count = kernel->check_count;
    if ((count & (count - 1)) == 0) {
        struct dg_check *wider = dg_alloc_array(arena, count == 0 ? 1 : 2 * count, sizeof *wider);
        if (wider == NULL)
            return false;
        for (size_t i = 0; i < count; i++)
            wider[i] = kernel->checks[i];
        kernel->checks = wider;
    }
    struct dg_check check = {dg_strdup(arena, name), dg_strdup(arena, detail), state};
    if (check.name == NULL || check.detail == NULL)
        return false;
    kernel->checks[kernel->check_count++] = check;
    return true;
}

static const char *known(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

bool dg_report_elsewhere(const struct dg_kernel_report *k)
{
    return known(k->planned_for) != NULL && known(k->host) != NULL &&
           strcmp(k->planned_for, k->host) != 0;
}

/* ---- JSON ---- */

static void put_number(struct dg_str *out, double value)
{
    if (isfinite(value))
        dg_str_double(out, value);
    else
        dg_str_add(out, "null");
}

static void key(struct dg_str *out, const char *name)
{
    dg_str_quoted(out, name);
    dg_str_add(out, ": ");
}

static void member_number(struct dg_str *out, const char *name, double value, const char *behind)
{
    key(out, name);
    put_number(out, value);
    dg_str_add(out, behind);
}

static void member_text(struct dg_str *out, const char *name, const char *text, const char *behind)
{
    key(out, name);
    if (text != NULL)
        dg_str_quoted(out, text);
    else
        dg_str_add(out, "null");
    dg_str_add(out, behind);
}

static void member_bool(struct dg_str *out, const char *name, bool value, const char *behind)
{
    dg_str_format(out, "\"%s\": %s%s", name, value ? "true" : "false", behind);
}

static void member_verdict(struct dg_str *out, bool pass, bool unchecked, const char *behind)
{
    if (unchecked)
        dg_str_format(out, "\"pass\": null%s", behind);
    else
        member_bool(out, "pass", pass, behind);
}

static void put_numbers(struct dg_str *out, const struct dg_kernel_report *k)
{
    dg_str_add(out, "      \"numbers\": ");
    if (!k->ran || k->unchecked) {
        dg_str_add(out, "null,\n");
        return;
    }
    dg_str_add(out, "{");
    member_bool(out, "pass", k->numbers.pass, ", ");
    member_number(out, "max_error", k->numbers.max_error, ", ");
    member_number(out, "bound", k->numbers.bound, ", ");
    dg_str_format(out, "\"checked\": %llu},\n", (unsigned long long)k->numbers.checked);
}

static void put_cycles(struct dg_str *out, const struct dg_kernel_report *k)
{
    dg_str_add(out, "      \"cycles\": {");
    member_number(out, "predicted", k->cycles.predicted, ", ");
    member_number(out, "measured", k->cycles.measured, ", ");
    member_number(out, "raw_wall", k->cycles.raw_wall, ",\n                 ");
    member_text(out, "method", k->cycles.method, ", ");
    member_text(out, "note", k->cycles.note, ", ");
    member_text(out, "reason", k->cycles.reason, ", ");
    member_number(out, "low", k->cycles.low, ", ");
    member_number(out, "high", k->cycles.high, ",\n                 ");
    dg_str_format(out, "\"accepted\": %llu, \"rejected\": %llu},\n",
                  (unsigned long long)k->cycles.accepted, (unsigned long long)k->cycles.rejected);
}

static void put_roofline(struct dg_str *out, const struct dg_kernel_report *k)
{
    dg_str_add(out, "      \"roofline\": {");
    member_number(out, "of_peak", k->roofline.of_peak, ", ");
    member_number(out, "of_roof", k->roofline.of_roof, ", ");
    member_text(out, "limit", k->roofline.limit, ",\n                   ");
    member_number(out, "peak", k->roofline.peak, ", ");
    member_number(out, "peak_claimed", k->roofline.peak_claimed, ", ");
    member_bool(out, "inconsistent", k->roofline.inconsistent, "},\n");
}

static void put_checks(struct dg_str *out, const struct dg_kernel_report *k)
{
    static const char *const states[] = {"ok", "failed", "skipped"};
    dg_str_add(out, "      \"checks\": [");
    for (size_t i = 0; i < k->check_count; i++) {
        dg_str_add(out, i == 0 ? "\n        {" : ",\n        {");
        member_text(out, "name", k->checks[i].name, ", ");
        member_text(out, "state", states[k->checks[i].state], ", ");
        member_text(out, "detail", k->checks[i].detail, "}");
    }
    dg_str_add(out, k->check_count == 0 ? "],\n" : "\n      ],\n");
}

static void put_error(struct dg_str *out, const struct dg_kernel_report *k)
{
    dg_str_add(out, "      \"error\": ");
    if (k->ran) {
        dg_str_add(out, "null\n");
        return;
    }
    dg_str_add(out, "{");
    member_text(out, "where", k->problem.where, ", ");
    member_text(out, "rule", k->problem.rule, ",\n                ");
    member_text(out, "value", k->problem.value, ", ");
    member_text(out, "todo", k->problem.todo, "}\n");
}

void dg_report_json(const struct dg_verify_report *report, struct dg_str *out)
{
    dg_str_add(out, "{\n  \"schema\": \"deepgemm-verify/1\",\n  ");
    member_verdict(out, report->pass, report->unchecked, ",\n");
    dg_str_format(out, "  \"rounds\": %u,\n  \"rounds_dropped\": %u,\n  \"kernels\": [",
                  report->rounds, report->dropped);
    for (size_t i = 0; i < report->count; i++) {
        const struct dg_kernel_report *k = &report->kernels[i];
        dg_str_add(out, i == 0 ? "\n    {\n      " : ",\n    {\n      ");
        member_text(out, "name", k->name, ",\n      ");
        member_text(out, "isa", k->isa, ",\n      ");
        member_text(out, "planned_for", known(k->planned_for), ", ");
        member_text(out, "host", known(k->host), ",\n      ");
        member_verdict(out, k->pass, k->unchecked, ",\n");
        put_numbers(out, k);
        put_cycles(out, k);
        put_roofline(out, k);
        put_checks(out, k);
        put_error(out, k);
        dg_str_add(out, "    }");
    }
    dg_str_add(out, report->count == 0 ? "]\n}\n" : "\n  ]\n}\n");
}

/* ---- text ---- */

/* Three or four significant digits, without the C library's locale. */
static void put_small(struct dg_str *out, double value)
{
    if (!isfinite(value)) {
        dg_str_add(out, "-");
        return;
    }
    int exponent = value == 0 ? 0 : (int)floor(log10(fabs(value)));
    if (exponent >= -3 && exponent < 7) {
        dg_str_fixed(out, value, exponent < 0 ? 5 : exponent < 3 ? 3 : 1);
        return;
    }
    dg_str_fixed(out, value / pow(10, exponent), 2);
    dg_str_format(out, "e%d", exponent);
}

static void text_numbers(struct dg_str *out, const struct dg_kernel_report *k)
{
    size_t done = 0;
    if (k->unchecked) {
        dg_str_add(out, "  numbers   not checked\n");
        return;
    }
    for (size_t i = 0; i < k->check_count; i++)
        done += k->checks[i].state == DG_CHECK_OK;
    dg_str_format(out, "  numbers   %s: %zu checks passed, %llu elements",
                  k->numbers.pass ? "pass" : "FAIL", done, (unsigned long long)k->numbers.checked);
    if (isfinite(k->numbers.max_error)) {
        dg_str_add(out, ", worst error ");
        put_small(out, k->numbers.max_error);
        dg_str_add(out, " of ");
        put_small(out, k->numbers.bound);
        dg_str_add(out, " allowed");
    }
    dg_str_add(out, "\n");
    for (size_t i = 0; i < k->check_count; i++) {
        const struct dg_check *check = &k->checks[i];
        if (check->state != DG_CHECK_OK)
            dg_str_format(out, "            %s %s: %s\n",
                          check->state == DG_CHECK_FAILED ? "FAILED" : "skipped", check->name,
                          check->detail);
    }
}

static void text_cycles(struct dg_str *out, const struct dg_kernel_report *k)
{
    dg_str_add(out, "  cycles    predicted ");
    put_small(out, k->cycles.predicted);
    dg_str_add(out, ", measured ");
    put_small(out, k->cycles.measured);
    if (isfinite(k->cycles.measured) && isfinite(k->cycles.predicted)) {
        dg_str_add(out, " (prediction off by ");
        dg_str_fixed(out, 100 * (k->cycles.predicted / k->cycles.measured - 1), 2);
        dg_str_add(out, " %)");
    }
    if (isfinite(k->cycles.raw_wall)) {
        dg_str_add(out, ", wall ");
        dg_str_fixed(out, k->cycles.raw_wall, k->cycles.raw_wall < 1000 ? 1 : 0);
        dg_str_add(out, " ns");
    }
    dg_str_add(out, "\n");
    if (k->cycles.method != NULL)
        dg_str_format(out, "            %s\n", k->cycles.method);
    if (dg_report_elsewhere(k))
        dg_str_format(out, "            warning: planned for %s, this host is %s: plan, prediction "
                      "and roofs are another chip's\n", k->planned_for, k->host);
    if (k->cycles.note != NULL)
        dg_str_format(out, "            %s\n", k->cycles.note);
    if (k->cycles.reason != NULL)
        dg_str_format(out, "            %s\n", k->cycles.reason);
}

static void text_roofline(struct dg_str *out, const struct dg_kernel_report *k)
{
    if (!isfinite(k->roofline.of_peak))
        return;
    dg_str_add(out, "  roofline  ");
    dg_str_fixed(out, 100 * k->roofline.of_peak, 1);
    dg_str_add(out, " % of the peak (");
    put_small(out, k->roofline.peak);
    dg_str_add(out, " operations a cycle), ");
    if (isfinite(k->roofline.of_roof)) {
        dg_str_fixed(out, 100 * k->roofline.of_roof, 1);
        dg_str_format(out, " %% of the roof, limit %s", k->roofline.limit);
    }
    dg_str_add(out, "\n");
    if (fabs(k->roofline.peak / k->roofline.peak_claimed - 1) > 0.05) {
        dg_str_add(out, "            the profile says ");
        put_small(out, k->roofline.peak_claimed);
        dg_str_add(out, " operations a cycle: this kernel was planned for another chip\n");
    }
    if (k->roofline.inconsistent)
        dg_str_add(out, "            INCONSISTENT: above 102 % of the peak; the peak or the cycles "
                        "are wrong, measure again\n");
}

void dg_report_text(const struct dg_verify_report *report, struct dg_str *out)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct dg_kernel_report *k = &report->kernels[i];
        dg_str_format(out, "%s (%s): %s\n", k->name, k->isa[0] != '\0' ? k->isa : "unknown",
                      k->unchecked ? "timed only" : k->pass ? "pass" : k->ran ? "FAIL" : "not run");
        if (!k->ran) {
            dg_str_format(out, "  %s: %s%s%s\n", k->problem.where, k->problem.rule,
                          k->problem.value[0] != '\0' ? ": " : "", k->problem.value);
            if (k->problem.todo[0] != '\0')
                dg_str_format(out, "  %s\n", k->problem.todo);
            continue;
        }
        text_numbers(out, k);
        text_cycles(out, k);
        text_roofline(out, k);
    }
    if (report->count != 1 && !report->unchecked) {
        size_t passed = 0;
        for (size_t i = 0; i < report->count; i++)
            passed += report->kernels[i].pass;
        dg_str_format(out, "%zu of %zu kernels pass\n", passed, report->count);
    }
}

/* ---- table ---- */

static void cell(struct dg_str *out, double value, unsigned decimals)
{
    char text[DG_FIXED_SIZE];
    if (isfinite(value))
        dg_write_fixed(text, value, decimals);
    else
        dg_format(text, sizeof text, "-");
    dg_str_format(out, " %12s", text);
}

void dg_report_table(const struct dg_verify_report *report, struct dg_str *out)
{
    dg_str_format(out, "%-28s %-14s %5s %5s %5s %4s %4s %4s %12s %12s %12s %12s %12s\n", "kernel",
                  "isa", "m", "n", "k", "mr", "nr", "pass", "predicted", "measured", "quartile",
                  "error_%", "of_peak_%");
    for (size_t i = 0; i < report->count; i++) {
        const struct dg_kernel_report *k = &report->kernels[i];
        dg_str_format(out, "%-28s %-14s %5llu %5llu %5llu %4u %4u %4s", k->name, k->isa,
                      (unsigned long long)k->m, (unsigned long long)k->n, (unsigned long long)k->k,
                      k->tile_m, k->tile_n, k->unchecked ? "-" : k->pass ? "yes" : "NO");
        cell(out, k->cycles.predicted, 1);
        cell(out, k->cycles.measured, 1);
        cell(out, k->cycles.low, 1);
        cell(out, 100 * (k->cycles.predicted / k->cycles.measured - 1), 2);
        cell(out, 100 * k->roofline.of_peak, 2);
        dg_str_add(out, "\n");
    }
    dg_str_format(out, "rounds %u, dropped %u (%s)\n", report->rounds, report->dropped,
                  report->gate);
}
