/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures out of samples with known points, and a page that no name can break. */
#include <criterion/criterion.h>
#include <string.h>

#include "profile/picture.h"
#include "profile/reader.h"
#include "profile/report.h"
#include "profile/svg.h"

Test(profile_report, patterns)
{
    static const struct { const char *pattern, *text; char separator; bool match; double x, y;
                          const char *s; } rows[] = {
        { "resample window {x} ...", "resample window 65536 400 offsets ab", ' ', true, 65536, 0,
          "" },
        { "resample window {x} ...", "resample window", ' ', false, 0, 0, "" },
        { "resample window {x} ...", "resample window 12", ' ', true, 12, 0, "" },
        { "loop rate fma.{s} chains {x}", "loop rate fma.f32.512 chains 8", ' ', true, 8, 0,
          "f32.512" },
        { "loop rate fma.{s} chains {x}", "loop rate fma_load.f32.512 chains 8", ' ', false, 0, 0,
          "" },
        { "loop rate fma.{s} chains {x}", "loop rate fma.f32.512 chains 8 more", ' ', false, 0, 0,
          "" },
        { "mix.stream.dram.b{y}.d{x}", "mix.stream.dram.b64.d256", '.', true, 256, 64, "" },
        { "mix.stream.dram.b{y}.d{x}", "mix.stream.l2.b64.d256", '.', false, 0, 0, "" },
        { "c2c.{x}.{y}", "c2c.groups.0", '.', false, 0, 0, "" },
        { "c2c.{x}.{y}", "c2c.min", '.', false, 0, 0, "" },
        { "a * c", "a b c", ' ', true, 0, 0, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_captured c;
        bool match = dg_pattern_match(rows[i].pattern, rows[i].text, rows[i].separator, &c);
        cr_expect_eq(match, rows[i].match, "row %zu", i);
        if (match && rows[i].match)
            cr_expect(c.x == rows[i].x && c.y == rows[i].y && c.s_length == strlen(rows[i].s) &&
                      strncmp(c.s, rows[i].s, c.s_length) == 0, "row %zu", i);
    }
}

static void read_profile(const char *text, struct dg_arena *arena, struct dg_profile *out)
{
    struct dg_error e;
    cr_assert(dg_profile_read_text(text, strlen(text), "f.json", arena, out, &e), "%s %s", e.where,
              e.rule);
}

static const double slow[] = { 130, 120, 140, 110, 150 }, fast[] = { 4, 5, 3 };
static const double quick[] = { 1, 1, 1 };
static const struct dg_sample_row rows[] = {
    { "resample window 1048576 400 offsets aa", slow, slow, 3, 0, NULL },
    { "resample window 65536 400 offsets ab", fast, fast, 3, 0, NULL },
    { "resample window 1048576 400 offsets ac", slow + 3, slow + 3, 2, 0, NULL },
    { "resample window 131072 400 offsets ad", NULL, NULL, 0, 2, "not here" },
    { "chase 64 offsets ae every 64 span 4032 steps 2048 warm 4", quick, quick, 3, 0, NULL },
};
static const struct dg_samples_file samples = { .rows = rows, .row_count = 5 };
static const char profile_text[] = "{\"name\":\"a\",\"architecture\":\"x86_64\","
    "\"l1_size\":32768,\"clock_hz\":2e9,\"vector_bits\":256,\"op.fma.f32.256.per_cycle\":2,"
    "\"bw.l1.read.1\":64,\"bw.dram.read.1\":16,\"measurements\":{\"l1_ways\":{\"status\":"
    "\"unreliable\",\"reason\":\"too <noisy>\",\"help\":\"again\"}}}";

Test(profile_report, points)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_picture picture;
    dg_arena_init(&arena);
    read_profile(profile_text, &arena, &p);
    cr_assert(dg_picture_make(DG_PICTURE_staircase, &p, &samples, &arena, &picture));
    cr_assert_eq(picture.count, 2u);
    cr_expect_str_eq(picture.series[0].name, "chase over every line");
    cr_expect(picture.series[0].count == 1 && picture.series[0].point[0].x == 4032);
    const struct dg_series *s = &picture.series[1];
    cr_assert_eq(s->count, 2u);
    cr_expect(s->point[0].x == 65536 && s->point[0].value == 4 && s->point[0].samples == 3);
    cr_expect(s->point[1].x == 1048576 && s->point[1].value == 130 && s->point[1].low == 120 &&
              s->point[1].high == 140 && s->point[1].samples == 5);
    cr_expect(picture.mark_count == 1 && picture.mark[0].x == 32768);

    cr_assert(dg_picture_make(DG_PICTURE_conflicts, &p, &samples, &arena, &picture));
    cr_expect(picture.count == 0);
    cr_expect_str_eq(picture.reason, "too <noisy>");
    cr_assert(dg_picture_make(DG_PICTURE_staircase, &p, NULL, &arena, &picture));
    cr_expect(picture.count == 0 && strstr(picture.reason, "raw samples") != NULL);

    /* 2 a cycle x 8 lanes x 2 x 2 GHz; memory reaches it at 4 operations a byte */
    cr_assert(dg_picture_make(DG_PICTURE_roofline, &p, NULL, &arena, &picture));
    cr_assert_eq(picture.count, 2u);
    for (size_t i = 0; i < picture.series[1].count; i++) {
        const struct dg_point *q = &picture.series[1].point[i];
        cr_expect_float_eq(q->value, q->x < 4 ? 16 * q->x : 64, 1e-9);
    }
    dg_arena_free(&arena);
}

Test(profile_report, hostile_texts)
{
    static const struct { const char *text, *shown; } texts[] = {
        { "<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;" }, { "\x1b[31m\x01", "\\x1b[31m\\x01" },
        { "\xc3\xa9", "\xc3\xa9" }, { "\xc3(", "\\xc3(" }, { "\xff", "\\xff" },
        { "\xe2\x82", "\\xe2\\x82" }, { "\xed\xa0\x80", "\\xed\\xa0\\x80" },
        { "\xef\xbf\xbf", "\\xef\\xbf\\xbf" }, { "]]>", "]]&gt;" },
    };
    struct dg_str out;
    dg_str_init(&out, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dg_str_clear(&out);
        dg_html_text(&out, texts[i].text);
        cr_expect_str_eq(dg_str_text(&out), texts[i].shown);
    }
    dg_str_free(&out);
}

/* Every picture is on the page, with points or a reason, and texts of files stay texts. */
Test(profile_report, page)
{
    static const double x[] = { 1 };
    static const struct dg_sample_row bad[] = {
        { "loop rate fma.f32.</script><img> chains 3", x, x, 1, 0, NULL } };
    const struct dg_samples_file file = { .rows = bad, .row_count = 1 };
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_str out;
    dg_arena_init(&arena);
    read_profile(profile_text, &arena, &p);
    dg_str_init(&out, &arena);
    dg_profile_report(&p, &file, &out);
    cr_assert(!out.failed);
    for (int id = 0; id < DG_PICTURE_COUNT; id++) {
        char section[64];
        dg_format(section, sizeof section, "<section id=\"%s\"", dg_picture_rows[id].id);
        cr_expect_not_null(strstr(dg_str_text(&out), section), "%s", section);
    }
    cr_expect_null(strstr(dg_str_text(&out), "<img>"));
    cr_expect_not_null(strstr(dg_str_text(&out), "&lt;/script&gt;&lt;img&gt;"));
    cr_expect_not_null(strstr(dg_str_text(&out), "\\u003c/script\\u003e"));
    cr_expect_not_null(strstr(dg_str_text(&out), "too &lt;noisy&gt;"));
    dg_arena_free(&arena);
}
