/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/report.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "profile/assets.h"
#include "profile/picture.h"
#include "profile/reading.h"
#include "profile/svg.h"
#include "profile/writer.h"

static const char *const scale_names[] = { "LINEAR", "LOG", "LOG2", "BYTES" };

/* ---- values ---- */

enum { FIGURES = 4 };

static void add_number(struct dg_str *out, const char *unit, double number)
{
    bool bytes = strcmp(unit, "bytes") == 0;
    if (strcmp(unit, "Hz") == 0) {
        number /= 1e9;
        unit = "GHz";
    }
    dg_scale_label(out, bytes ? DG_BYTES : DG_LINEAR, dg_round_digits(number, FIGURES));
    if (bytes && number >= 1024)
        return;
    dg_str_format(out, "%s%s", unit[0] == '\0' ? "" : " ", strcmp(unit, "count") == 0 ? "" : unit);
}

static void add_value(struct dg_str *out, const char *unit, const struct dg_value *value)
{
    if (value->kind == DG_VALUE_NUMBER)
        add_number(out, unit, value->number);
    else if (value->kind == DG_VALUE_TEXT)
        dg_html_text(out, value->text);
    for (size_t i = 0; value->kind == DG_VALUE_LIST && i < value->list_count; i++) {
        dg_str_add(out, i == 0 ? "" : " ");
        dg_html_text(out, value->list[i]);
    }
}

/* ---- tables ---- */

static void add_interval(struct dg_str *out, const struct dg_answer *a)
{
    bool bytes = a != NULL && strcmp(a->unit, "bytes") == 0;
    bool clock = a != NULL && strcmp(a->unit, "Hz") == 0;
    if (a == NULL || a->value.kind != DG_VALUE_NUMBER ||
        dg_round_digits(a->low, FIGURES) == dg_round_digits(a->high, FIGURES))
        return;
    add_number(out, bytes ? "bytes" : "", clock ? a->low / 1e9 : a->low);
    dg_str_add(out, " – ");
    add_number(out, a->unit, a->high);
}

static void add_claims(struct dg_str *out, const struct dg_answer *a)
{
    for (size_t i = 0; a != NULL && i < a->claim_count; i++) {
        bool wrong = dg_claim_agrees(a, &a->claims[i]) == DG_CONTRADICTED;
        dg_str_add(out, i == 0 ? "" : ", ");
        dg_str_add(out, wrong ? "<span class=\"wrong\">" : "<span>");
        dg_html_text(out, a->claims[i].source);
        if (wrong) {
            dg_str_add(out, " says ");
            add_value(out, a->unit, &a->claims[i].value);
        }
        dg_str_add(out, "</span>");
    }
}

static void scalar_row(struct dg_str *out, const struct dg_profile *p,
                       const struct dg_field *field, const struct dg_value *value)
{
    const struct dg_answer *a = dg_profile_evidence(p, field->key);
    dg_str_add(out, "<tr><td class=\"what\">");
    dg_html_text(out, field->title);
    bool list = value->kind == DG_VALUE_LIST;
    dg_str_format(out, "<br/><span class=\"key\">%s</span></td><td%s>", field->key,
                  list ? " colspan=\"2\"" : " class=\"value\"");
    add_value(out, field->unit, value);
    if (!list) {
        dg_str_add(out, "</td><td class=\"value\">");
        add_interval(out, a);
    }
    dg_str_format(out, "</td><td>%s</td><td>", a != NULL ? dg_status_names[a->status] : "");
    add_claims(out, a);
    dg_str_add(out, "</td></tr>\n");
}

static void scalars(struct dg_str *out, const struct dg_profile *p)
{
    dg_str_add(out, "<section id=\"values\"><h2>What is known</h2>\n<div class=\"wide\"><table>"
               "<tr><th>what</th><th>value</th><th>interval</th><th>how</th>"
               "<th>claimed by; <span class=\"wrong\">contradicted</span></th></tr>\n");
    for (size_t i = 0; i < DG_FIELD_COUNT; i++) {
        const struct dg_value *value = dg_profile_find(p, dg_fields[i].key);
        if (value != NULL)
            scalar_row(out, p, &dg_fields[i], value);
    }
    dg_str_add(out, "</table></div></section>\n");
}

static void unknowns(struct dg_str *out, const struct dg_profile *p)
{
    dg_str_add(out, "<section id=\"unknown\"><h2>What is not known, and why</h2>\n"
               "<div class=\"wide\"><table><tr><th>key</th><th>why</th><th>what to do</th></tr>\n");
    for (size_t i = 0; i < p->measurement_count; i++) {
        const struct dg_answer *a = &p->measurements[i];
        if (a->value.kind != DG_VALUE_NULL)
            continue;
        dg_str_add(out, "<tr><td class=\"key\">");
        dg_html_text(out, a->key);
        dg_str_add(out, "</td><td>");
        dg_html_text(out, a->reason != NULL ? a->reason : "no reason given");
        dg_str_add(out, "</td><td>");
        dg_html_text(out, a->help != NULL ? a->help : "");
        dg_str_add(out, "</td></tr>\n");
    }
    dg_str_add(out, "</table></div></section>\n");
}

static void cells(struct dg_str *out, const struct dg_profile *p)
{
    dg_str_add(out, "<section id=\"cells\"><h2>Cells</h2>\n<p class=\"soft\">Operations, "
               "bandwidths and mixes, each by its key; core-clocked ones in cycles.</p>\n"
               "<details><summary>show all</summary><div class=\"wide\"><table>"
               "<tr><th>key</th><th>value</th><th>interval</th></tr>\n");
    for (size_t i = 0; i < p->entry_count; i++) {
        const struct dg_entry *entry = &p->entries[i];
        if (strchr(entry->key, '.') == NULL || entry->value.kind == DG_VALUE_NULL)
            continue;
        dg_str_add(out, "<tr><td class=\"key\">");
        dg_html_text(out, entry->key);
        dg_str_add(out, "</td><td>");
        add_value(out, dg_field_of(entry->key)->unit, &entry->value);
        dg_str_add(out, "</td><td class=\"value\">");
        add_interval(out, dg_profile_evidence(p, entry->key));
        dg_str_add(out, "</td></tr>\n");
    }
    dg_str_add(out, "</table></div></details></section>\n");
}

static void conditions(struct dg_str *out, const struct dg_profile *p)
{
    dg_str_add(out, "<section id=\"conditions\"><h2>Conditions</h2>\n<p class=\"soft\">What held "
               "while this was measured. A load above the number of CPUs, many rejected samples or "
               "a drift of more than a part in a hundred say: measure again when it is quiet.</p>"
               "\n<div class=\"wide\"><table>\n");
    for (size_t i = 0; i < p->environment_count; i++) {
        dg_str_add(out, "<tr><td class=\"key\">");
        dg_html_text(out, p->environment[i].key);
        dg_str_add(out, "</td><td>");
        if (p->environment[i].value.kind == DG_VALUE_NUMBER)
            dg_str_double(out, p->environment[i].value.number);
        else
            add_value(out, "", &p->environment[i].value);
        dg_str_add(out, "</td></tr>\n");
    }
    dg_str_add(out, "</table></div></section>\n");
}

/* ---- pictures ---- */

/* A JSON string that can end neither the script nor a CDATA section. */
static void json_text(struct dg_str *out, const char *text)
{
    struct dg_str quoted;
    dg_str_init(&quoted, NULL);
    dg_str_quoted(&quoted, text);
    for (const char *c = dg_str_text(&quoted); *c != '\0'; c++) {
        if (strchr("<>&]", *c) != NULL)
            dg_str_format(out, "\\u00%02x", (unsigned)*c);
        else
            dg_str_addc(out, *c);
    }
    out->failed |= quoted.failed;
    dg_str_free(&quoted);
}

static void json_numbers(struct dg_str *out, const char *name, const struct dg_series *s, bool x)
{
    dg_str_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < s->count; i++) {
        dg_str_add(out, i == 0 ? "" : ",");
        dg_str_double(out, dg_round_digits(x ? s->point[i].x : s->point[i].value, 9));
    }
    dg_str_addc(out, ']');
}

static void picture_data(struct dg_str *out, const struct dg_picture *p)
{
    dg_str_format(out, "<script type=\"application/json\">{\"xScale\":\"%s\",\"yScale\":\"%s\","
                  "\"x\":", scale_names[p->row->x_scale], scale_names[p->row->y_scale]);
    json_text(out, p->row->x);
    dg_str_add(out, ",\"y\":");
    json_text(out, p->row->y);
    dg_str_add(out, ",\"series\":[");
    for (size_t i = 0; i < p->count; i++) {
        dg_str_add(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        json_text(out, p->series[i].name);
        json_numbers(out, "x", &p->series[i], true);
        json_numbers(out, "value", &p->series[i], false);
        dg_str_addc(out, '}');
    }
    dg_str_add(out, "]}</script>\n");
}

static void curve_legend(struct dg_str *out, const struct dg_picture *p)
{
    dg_str_add(out, "<ul class=\"legend\">");
    for (size_t i = 0; i < p->count; i++) {
        dg_str_format(out, "<li><i class=\"s%zu\"></i>", i);
        dg_html_text(out, p->series[i].name);
        dg_str_add(out, "</li>");
    }
    if (p->left_out > 0)
        dg_str_add(out, "<li class=\"soft\">further series are not drawn</li>");
    dg_str_add(out, "</ul>\n");
}

static void map_legend(struct dg_str *out, const struct dg_picture *p)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->series[0].count; i++) {
        low = fmin(low, p->series[0].point[i].value);
        high = fmax(high, p->series[0].point[i].value);
    }
    dg_str_add(out, "<p class=\"soft\">");
    add_number(out, "", low);
    dg_str_add(out, "<span class=\"ramp\"></span>");
    add_number(out, p->row->unit, high);
    dg_str_add(out, "</p>\n");
}

static void add_picture(struct dg_str *out, const struct dg_picture *p)
{
    bool curve = p->count > 0 && p->row->form != DG_MAP;
    dg_str_format(out, "<section id=\"%s\"%s><h2>", p->row->id,
                  curve ? " data-curve=\"true\"" : "");
    dg_html_text(out, p->row->title);
    dg_str_add(out, "</h2>\n<div class=\"wide\">");
    dg_svg(out, p);
    dg_str_add(out, "</div>\n");
    if (curve)
        curve_legend(out, p);
    else if (p->count > 0)
        map_legend(out, p);
    dg_str_add(out, "<p><b>How to read it.</b> ");
    dg_html_text(out, p->row->read);
    dg_str_add(out, "</p>\n");
    if (curve)
        picture_data(out, p);
    dg_str_add(out, "</section>\n");
}

static void pictures(struct dg_str *out, const struct dg_profile *profile,
                     const struct dg_samples_file *samples)
{
    for (int id = 0; id < DG_PICTURE_COUNT; id++) {
        struct dg_arena arena;
        struct dg_picture picture;
        dg_arena_init(&arena);
        out->failed |= !dg_picture_make((enum dg_picture_id)id, profile, samples, &arena, &picture);
        if (!out->failed)
            add_picture(out, &picture);
        dg_arena_free(&arena);
    }
}

/* ---- the page ---- */

static void head(struct dg_str *out, const char *name)
{
    dg_str_add(out, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
               "<head><meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
               "content=\"width=device-width, initial-scale=1\"/>\n<title>");
    dg_html_text(out, name);
    dg_str_add(out, "</title>\n<style>/*<![CDATA[*/\n");
    dg_str_add(out, dg_asset_uplot_css);
    dg_str_add(out, dg_asset_page_css);
    dg_str_add(out, "/*]]>*/</style></head>\n<body><main>\n");
}

static void script(struct dg_str *out, const char *text)
{
    dg_str_add(out, "<script>//<![CDATA[\n");
    dg_str_add(out, text);
    dg_str_add(out, "\n//]]></script>\n");
}

static void note(struct dg_str *out, const struct dg_profile *p, const char *key, const char *text)
{
    const struct dg_value *value = dg_profile_fact(p, key);
    if (value != NULL && value->kind == DG_VALUE_TEXT && strcmp(value->text, "true") == 0)
        dg_str_format(out, "<p class=\"note\">%s</p>\n", text);
}

static void fact(struct dg_str *out, const struct dg_profile *p, const char *before,
                 const char *key)
{
    const struct dg_value *value = dg_profile_fact(p, key);
    if (value == NULL)
        return;
    dg_str_add(out, before);
    add_value(out, "", value);
}

static void title(struct dg_str *out, const struct dg_profile *p, const char *name)
{
    dg_str_add(out, "<h1>");
    dg_html_text(out, name);
    dg_str_add(out, "</h1>\n<p class=\"soft\">");
    dg_html_text(out, dg_profile_text(p, "architecture") != NULL ?
                 dg_profile_text(p, "architecture") : "?");
    fact(out, p, " · ", "model_name");
    fact(out, p, " · measured ", "time");
    fact(out, p, " · ", "tool");
    dg_str_add(out, "</p>\n");
    note(out, p, "emulated", "Measured under emulation: the times mean nothing.");
    note(out, p, "incomplete", "The run was broken off: what is missing was not measured.");
    note(out, p, "memory_short", "There was little memory: figures of DRAM may include cache.");
    dg_str_add(out, "<nav><a href=\"#values\">values</a>");
    for (int id = 0; id < DG_PICTURE_COUNT; id++) {
        dg_str_format(out, "<a href=\"#%s\">", dg_picture_rows[id].id);
        dg_html_text(out, dg_picture_rows[id].title);
        dg_str_add(out, "</a>");
    }
    dg_str_add(out, "<a href=\"#conditions\">Conditions</a><a href=\"#unknown\">What is not "
               "known</a><a href=\"#cells\">Cells</a></nav>\n");
}

void dg_profile_report(const struct dg_profile *profile, const struct dg_samples_file *samples,
                       struct dg_str *out)
{
    const char *name = dg_profile_text(profile, "name");
    name = name != NULL ? name : "no name";
    head(out, name);
    title(out, profile, name);
    scalars(out, profile);
    pictures(out, profile, samples);
    conditions(out, profile);
    unknowns(out, profile);
    cells(out, profile);
    dg_str_add(out, "</main>\n");
    script(out, dg_asset_uplot_js);
    script(out, dg_asset_page_js);
    dg_str_add(out, "</body></html>\n");
}
