/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/show.h"

#include <math.h>
#include <string.h>

#include "profile/reading.h"
#include "profile/render.h"
#include "profile/writer.h"

enum { KEY_WIDTH = 28, VALUE_WIDTH = 22 };

static void pad(struct dg_str *out, size_t from, size_t width)
{
    for (size_t n = out->length - from; n < width; n++)
        dg_str_addc(out, ' ');
}

static void add_bytes(struct dg_str *out, double bytes)
{
    static const struct { double size; const char *unit; } units[] = {
        { 1073741824, "GiB" }, { 1048576, "MiB" }, { 1024, "KiB" },
    };
    for (size_t i = 0; i < 3; i++) {
        double n = bytes / units[i].size;
        if (n >= 1 && n * 100 == floor(n * 100)) {
            dg_str_double(out, n);
            dg_str_format(out, " %s", units[i].unit);
            return;
        }
    }
    dg_str_double(out, bytes);
    dg_str_add(out, " bytes");
}

static void add_value(struct dg_str *out, const char *unit, const struct dg_value *value)
{
    if (value->kind == DG_VALUE_TEXT) {
        dg_str_add(out, value->text);
    } else if (value->kind == DG_VALUE_LIST) {
        for (size_t i = 0; i < value->list_count; i++)
            dg_str_format(out, "%s%s", i == 0 ? "" : " ", value->list[i]);
    } else if (value->kind != DG_VALUE_NUMBER) {
        dg_str_add(out, "null");
    } else if (strcmp(unit, "bytes") == 0) {
        add_bytes(out, value->number);
    } else if (strcmp(unit, "Hz") == 0) {
        dg_str_double(out, value->number / 1e9);
        dg_str_add(out, " GHz");
    } else {
        dg_str_double(out, value->number);
        if (strcmp(unit, "count") != 0 && unit[0] != '\0')
            dg_str_format(out, " %s", unit);
    }
}

static bool said_before(const struct dg_answer *a, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (dg_value_equal(&a->claims[i].value, &a->claims[j].value))
            return true;
    return false;
}

/* "sysfs, cpuid say 64 KiB (agrees)": those who say the same stand together. */
static void add_claims(struct dg_str *out, const struct dg_answer *a)
{
    static const char *const words[] = { " (agrees)", " (CONTRADICTED)", "" };
    bool first = true;
    for (size_t i = 0; i < a->claim_count; i++) {
        if (said_before(a, i))
            continue;
        dg_str_format(out, "%s%s", first ? "  " : "; ", a->claims[i].source);
        size_t said = 1;
        for (size_t j = i + 1; j < a->claim_count; j++) {
            if (!dg_value_equal(&a->claims[i].value, &a->claims[j].value))
                continue;
            dg_str_format(out, ", %s", a->claims[j].source);
            said++;
        }
        first = false;
        if (a->status == DG_CLAIMED && dg_claim_agrees(a, &a->claims[i]) == DG_AGREES)
            continue;
        dg_str_add(out, said > 1 ? " say " : " says ");
        add_value(out, a->unit, &a->claims[i].value);
        dg_str_add(out, words[dg_claim_agrees(a, &a->claims[i])]);
    }
}

static void add_line(struct dg_str *out, const struct dg_profile *profile, const char *key,
                     const struct dg_value *value)
{
    const struct dg_field *field = dg_field_of(key);
    const struct dg_answer *evidence = dg_profile_evidence(profile, key);
    size_t start = out->length;
    dg_str_format(out, "  %s", key);
    pad(out, start, KEY_WIDTH);
    dg_str_addc(out, ' ');
    start = out->length;
    add_value(out, field->unit, value);
    if (evidence == NULL) {
        dg_str_addc(out, '\n');
        return;
    }
    pad(out, start, VALUE_WIDTH);
    dg_str_format(out, " %s", dg_status_names[evidence->status]);
    if (evidence->status <= DG_DERIVED) {
        dg_str_addc(out, ' ');
        dg_str_fixed(out, evidence->confidence, 2);
    }
    add_claims(out, evidence);
    dg_str_addc(out, '\n');
}

static void add_scalars(struct dg_str *out, const struct dg_profile *profile)
{
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        const struct dg_value *value = dg_profile_find(profile, dg_fields[i].key);
        if (value != NULL)
            add_line(out, profile, dg_fields[i].key, value);
    }
}

/* "op.fma.f32.256" of "op.fma.f32.256.latency": its cells share a line. */
static size_t stem_length(const char *key)
{
    const char *end = strrchr(key, '.');
    bool shared = strncmp(key, "op.", 3) == 0 || strncmp(key, "tlb.", 4) == 0 ||
                  strncmp(key, "mix.turn.", 9) == 0 || strncmp(key, "mix.pass.", 9) == 0;
    return shared && end != NULL ? (size_t)(end - key) : strlen(key);
}

static void add_cells(struct dg_str *out, const struct dg_profile *profile)
{
    const char *stem = "";
    size_t length = 0;
    for (size_t i = 0; i < profile->entry_count; i++) {
        const struct dg_entry *entry = &profile->entries[i];
        if (strchr(entry->key, '.') == NULL || entry->value.kind == DG_VALUE_NULL)
            continue;
        size_t own = stem_length(entry->key);
        size_t start = out->length;
        if (own != length || strncmp(entry->key, stem, own) != 0) {
            dg_str_add(out, "\n  ");
            dg_str_addn(out, entry->key, own);
            pad(out, start, KEY_WIDTH + 2);
        }
        stem = entry->key;
        length = own;
        dg_str_format(out, entry->key[own] == '.' ? "  %s " : "  %s", entry->key[own] == '.' ?
                      entry->key + own + 1 : "");
        add_value(out, dg_field_of(entry->key)->unit, &entry->value);
    }
    if (length > 0)
        dg_str_addc(out, '\n');
}

static void add_unknown(struct dg_str *out, const struct dg_profile *profile)
{
    bool any = false;
    for (size_t i = 0; i < profile->measurement_count; i++) {
        const struct dg_answer *a = &profile->measurements[i];
        if (a->value.kind != DG_VALUE_NULL)
            continue;
        dg_str_add(out, any ? "" : "\nNot known:\n");
        dg_str_format(out, "  %-27s %s: %s", a->key, dg_status_names[a->status],
                      a->reason != NULL ? a->reason : "no reason given");
        add_claims(out, a);
        dg_str_addc(out, '\n');
        any = true;
    }
}

void dg_profile_show(const struct dg_profile *profile, struct dg_str *out)
{
    const char *name = dg_profile_text(profile, "name");
    const char *architecture = dg_profile_text(profile, "architecture");
    dg_str_format(out, "%s (%s)\n", name != NULL ? name : "?",
                  architecture != NULL ? architecture : "?");
    add_scalars(out, profile);
    add_cells(out, profile);
    add_unknown(out, profile);
    for (size_t i = 0; i < profile->warning_count; i++)
        dg_str_format(out, "%swarning: %s\n", i == 0 ? "\n" : "", profile->warnings[i]);
}

/* Letters and digits in small letters, a dash for a run of anything else. */
static void add_slug(struct dg_str *out, const char *text)
{
    bool dash = out->length > 0;
    for (; *text != '\0'; text++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain && dash && out->length > 0)
            dg_str_addc(out, '-');
        dash = !plain;
        if (plain)
            dg_str_addc(out, c);
    }
}

void dg_profile_slug(const struct dg_profile *profile, struct dg_str *out)
{
    static const char *const keys[] = { "vendor", "family", "model" };
    const struct dg_value *parts[4] = { NULL };
    for (size_t i = 0; i < 3; i++)
        parts[i] = dg_profile_fact(profile, keys[i]);
    parts[3] = dg_profile_find(profile, "core_kind");
    const char *name = dg_profile_text(profile, "name");
    if (parts[0] == NULL || parts[1] == NULL || parts[2] == NULL) {
        add_slug(out, name != NULL ? name : "unknown");
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        struct dg_str text;
        if (parts[i] == NULL)
            continue;
        dg_str_init(&text, NULL);
        add_value(&text, "", parts[i]);
        add_slug(out, dg_str_text(&text));
        dg_str_free(&text);
    }
}
