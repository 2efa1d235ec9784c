/* SPDX-License-Identifier: Apache-2.0
 *
 * One screen about a folder that scripts/quickstart filled: what was measured and what the
 * operating system claimed, what was planned, and how the kernel did. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/report.h"
#include "base/str.h"
#include "cli/options.h"
#include "emit/write/manifest.h"
#include "profile/json.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "verify/locate.h"

enum { REPORT_LIMIT = 64 << 20, TITLE_WIDTH = 20, VALUE_WIDTH = 22 };

static const struct { const char *title, *key; } lines[] = {
#define SUMMARY(title, key) { title, key },
#include "cli/summary.def"
#undef SUMMARY
};

/* 49152 bytes as 48 KiB, 3.4e9 Hz as 3.4 GHz, 4 cycles. */
static void put_quantity(struct dg_str *out, double value, const char *unit)
{
    static const char *const sizes[] = { "B", "KiB", "MiB", "GiB" };
    if (strcmp(unit, "bytes") == 0) {
        unsigned step = 0;
        /* whole multiples exactly, measured extents of megabytes to three digits */
        while (step < 3 && value >= 1024 && (fmod(value, 1024) == 0 || value >= 1e6)) {
            value /= 1024;
            step++;
        }
        dg_str_double(out, dg_round_digits(value, fmod(value, 1) == 0 ? 12 : 3));
        dg_str_format(out, " %s", sizes[step]);
        return;
    }
    bool hertz = strcmp(unit, "Hz") == 0;
    dg_str_double(out, dg_round_digits(hertz ? value / 1e9 : value, hertz ? 3 : 4));
    dg_str_format(out, " %s", hertz ? "GHz" : strcmp(unit, "1/cycle") == 0 ? "per cycle"
                                            : strcmp(unit, "count") == 0 ? "" : unit);
}

static void put_value(struct dg_str *out, const struct dg_value *value, const char *unit)
{
    if (value->kind == DG_VALUE_NUMBER)
        put_quantity(out, value->number, unit);
    else if (value->kind == DG_VALUE_TEXT)
        dg_str_add(out, value->text);
    else
        dg_str_add(out, "-");
    while (out->length > 0 && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
}

static void pad_to(struct dg_str *out, size_t column, size_t line_start)
{
    do
        dg_str_addc(out, ' ');
    while (!out->failed && out->length - line_start < column);
}

static bool same_value(const struct dg_value *a, const struct dg_value *b)
{
    return a->kind == b->kind && a->kind == DG_VALUE_NUMBER ? a->number == b->number
         : a->kind == DG_VALUE_TEXT && b->kind == DG_VALUE_TEXT && strcmp(a->text, b->text) == 0;
}

/* `32 KiB (cpuid, sysfs); 48 KiB (hwloc)`: sources with one value stand together. */
static void put_claims(struct dg_str *out, const struct dg_answer *answer)
{
    for (size_t i = 0; i < answer->claim_count; i++) {
        const struct dg_claim *claim = &answer->claims[i];
        bool said = false;
        for (size_t j = 0; j < i; j++)
            said |= same_value(&answer->claims[j].value, &claim->value);
        if (said)
            continue;
        dg_str_add(out, i == 0 ? "" : "; ");
        put_value(out, &claim->value, answer->unit);
        dg_str_format(out, " (%s", claim->source);
        for (size_t j = i + 1; j < answer->claim_count; j++)
            if (same_value(&answer->claims[j].value, &claim->value))
                dg_str_format(out, ", %s", answer->claims[j].source);
        dg_str_addc(out, ')');
    }
    if (answer->claim_count > 0 && dg_answer_agrees(answer) == DG_CONTRADICTED)
        dg_str_add(out, "  CONTRADICTED");
}

static const struct dg_answer *find_answer(const struct dg_profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->measurement_count; i++)
        if (strcmp(profile->measurements[i].key, key) == 0)
            return &profile->measurements[i];
    return NULL;
}

static void put_line(struct dg_str *out, const struct dg_profile *profile, const char *title,
                     const char *pattern)
{
    char key[96];
    const char *place = strstr(pattern, "%B");
    size_t head = place == NULL ? 0 : (size_t)(place - pattern);
    memcpy(key, pattern, head);
    if (place == NULL)
        dg_format(key, sizeof key, "%s", pattern);
    else
        dg_format(key + head, sizeof key - head, "%u%s",
                  (unsigned)dg_profile_number(profile, "vector_bits", 0), place + 2);
    const struct dg_value *value = dg_profile_find(profile, key);
    const struct dg_answer *answer = find_answer(profile, key);
    if (value == NULL && answer == NULL)
        return;
    size_t start = out->length;
    dg_str_format(out, "  %s", title);
    pad_to(out, TITLE_WIDTH + 2, start);
    if (value == NULL)
        dg_str_add(out, answer->status == DG_UNRELIABLE ? "not determined" : "unknown");
    else
        put_value(out, value, answer == NULL ? "" : answer->unit);
    if (answer != NULL && answer->claim_count > 0) {
        pad_to(out, TITLE_WIDTH + VALUE_WIDTH + 2, start);
        put_claims(out, answer);
    } else if (value == NULL && answer->reason != NULL) {
        pad_to(out, TITLE_WIDTH + VALUE_WIDTH + 2, start);
        dg_str_format(out, "- (%s)", answer->reason);
    }
    dg_str_addc(out, '\n');
}

static void put_profile(struct dg_str *out, const struct dg_profile *profile)
{
    const char *name = dg_profile_text(profile, "name");
    const char *architecture = dg_profile_text(profile, "architecture");
    dg_str_format(out, "\n%s (%s)\n", name == NULL ? "this machine" : name,
                  architecture == NULL ? "unknown architecture" : architecture);
    dg_str_format(out, "  %-20s%-22s%s\n", "", "measured", "claimed by");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        put_line(out, profile, lines[i].title, lines[i].key);
}

static void put_plan(struct dg_str *out, const struct dg_manifest *m)
{
    dg_str_format(out, "\n%s (%s)\n", m->name, m->isa);
    dg_str_format(out, "  %-12stile %u x %u, blocks m %llu n %llu k %llu, unroll %u%s\n", "plan",
                  m->plan.mr, m->plan.nr, (unsigned long long)m->plan.mc,
                  (unsigned long long)m->plan.nc, (unsigned long long)m->plan.kc, m->plan.unroll,
                  m->plan.prefetch ? ", prefetch" : "");
    dg_str_format(out, "  %-12s%s\n", "bound by", m->plan.binding);
}

/* A plan made of defaults predicts what the defaults say; whoever reads it must know. */
static void put_assumed(struct dg_str *out, const struct dg_manifest *m)
{
    size_t assumed = 0;
    for (size_t i = 0; i < m->profile.key_count; i++)
        assumed += m->profile.keys[i].assumed;
    if (assumed > 0)
        dg_str_format(out, "  %-12s%zu values not measured, named defaults were used: measure "
                      "again when the machine is quiet\n", "assumed", assumed);
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool truth_of(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static void put_number(struct dg_str *out, double value, unsigned digits)
{
    if (isnan(value))
        dg_str_add(out, "not determined");
    else
        dg_str_double(out, dg_round_digits(value, digits));
}

static void put_cycles(struct dg_str *out, const struct dg_manifest *m, const cJSON *cycles)
{
    double measured = number_of(cycles, "measured"), predicted = m->predicted.cycles;
    dg_str_format(out, "  %-12s", "cycles");
    dg_str_fixed(out, predicted, 0);
    dg_str_add(out, " predicted, ");
    if (isnan(measured)) {
        dg_str_add(out, "measured: not determined");
    } else {
        dg_str_fixed(out, measured, 0);
        dg_str_add(out, " measured (");
        dg_str_add(out, "prediction off by ");
        dg_str_add(out, predicted >= measured ? "+" : "");
        dg_str_fixed(out, (predicted / measured - 1) * 100, 1);
        dg_str_add(out, "%)");
    }
    dg_str_addc(out, '\n');
}

static void put_speed(struct dg_str *out, const cJSON *roofline)
{
    double of_peak = number_of(roofline, "of_peak"), of_roof = number_of(roofline, "of_roof");
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(roofline, "limit");
    dg_str_format(out, "  %-12s", "speed");
    if (isnan(of_peak)) {
        dg_str_add(out, "share of the measured peak: not determined\n");
        return;
    }
    dg_str_fixed(out, of_peak * 100, 1);
    dg_str_add(out, "% of the measured peak");
    if (!isnan(of_roof)) {
        dg_str_add(out, ", ");
        dg_str_fixed(out, of_roof * 100, 1);
        dg_str_add(out, "% of the roof");
    }
    if (cJSON_IsString(limit))
        dg_str_format(out, " (limit: %s)", limit->valuestring);
    dg_str_addc(out, '\n');
}

static void put_verified(struct dg_str *out, const struct dg_manifest *m, const cJSON *report)
{
    const cJSON *kernel, *found = NULL;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(report, "kernels")) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(kernel, "name");
        if (cJSON_IsString(name) && strcmp(name->valuestring, m->name) == 0)
            found = kernel;
    }
    if (found == NULL) {
        dg_str_format(out, "  %-12snot in verify.json\n", "verified");
        return;
    }
    const cJSON *numbers = cJSON_GetObjectItemCaseSensitive(found, "numbers");
    dg_str_format(out, "  %-12s%s: ", "verified", truth_of(found, "pass") ? "pass" : "FAIL");
    put_number(out, number_of(numbers, "checked"), 17);
    dg_str_add(out, " elements, worst error ");
    put_number(out, number_of(numbers, "max_error"), 2);
    dg_str_add(out, " where ");
    put_number(out, number_of(numbers, "bound"), 2);
    dg_str_add(out, " is allowed\n");
    put_cycles(out, m, cJSON_GetObjectItemCaseSensitive(found, "cycles"));
    put_speed(out, cJSON_GetObjectItemCaseSensitive(found, "roofline"));
}

static const char *inside(struct dg_arena *arena, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *out = dg_alloc(arena, size);
    if (out != NULL)
        dg_format(out, size, "%s/%s", folder, name);
    return out;
}

static cJSON *read_report(const char *path, struct dg_arena *arena, struct dg_error *e)
{
    struct dg_json json = { .where = path, .arena = arena, .e = e };
    json.text = dg_file_read(path, REPORT_LIMIT, arena, &json.size, e);
    return json.text == NULL ? NULL : dg_json_parse(&json);
}

static bool put_kernels(struct dg_str *out, const char *folder, const cJSON *report,
                        struct dg_arena *arena, struct dg_error *e)
{
    struct dg_manifest_list list;
    if (!dg_locate_manifests(folder, arena, &list, e))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct dg_manifest manifest;
        if (!dg_manifest_read(list.paths[i], arena, &manifest, e))
            return false;
        put_plan(out, &manifest);
        put_assumed(out, &manifest);
        put_verified(out, &manifest, report);
    }
    return true;
}

static bool summarise(const struct dg_options *options, struct dg_error *e)
{
    struct dg_arena *arena = options->arena;
    struct dg_profile profile;
    struct dg_str out;
    const char *folder = options->operands[0];
    const char *hardware = inside(arena, folder, "hardware.json");
    const char *kernels = inside(arena, folder, "kernels");
    const char *verify = inside(arena, folder, "verify.json");
    if (hardware == NULL || kernels == NULL || verify == NULL)
        return dg_fail_memory(e, "");
    if (!dg_profile_load(hardware, arena, &profile, e))
        return false;
    cJSON *report = read_report(verify, arena, e);
    if (report == NULL)
        return false;
    dg_str_init(&out, arena);
    put_profile(&out, &profile);
    bool ok = put_kernels(&out, kernels, report, arena, e);
    cJSON_Delete(report);
    if (ok && out.failed)
        ok = dg_fail_memory(e, "");
    if (ok)
        dg_print_plain(stdout, dg_str_text(&out));
    return ok;
}

static const struct dg_command commands[] = {
    { .name = "summary", .operands = "DIR", .operands_least = 1, .operands_most = 1,
      .summary = "Prints one screen about DIR/hardware.json, DIR/kernels and DIR/verify.json.",
      .run = summarise },
};

static const struct dg_program program = {
    .name = "deepgemm-summary", .summary = "says what quickstart found",
    .description = "Reads what scripts/quickstart left in a folder and prints one screen about it.",
    .commands = commands, .command_count = 1,
};

int main(int argc, char **argv)
{
    return dg_program_main(&program, argc, argv);
}
