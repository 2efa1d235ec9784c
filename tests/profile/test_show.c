/* SPDX-License-Identifier: Apache-2.0
 *
 * What people see: show, slug. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "profile/reader.h"
#include "profile/show.h"

static void read_profile(const char *text, struct dg_arena *arena, struct dg_profile *out)
{
    struct dg_error e;
    cr_assert(dg_profile_read_text(text, strlen(text), "f.json", arena, out, &e), "%s %s", e.where,
              e.rule);
}

static const char first[] = "{\"name\":\"Some Chip\",\"architecture\":\"x86_64\",\"l1_size\":49152,"
    "\"l2_size\":1048576,\"clock_hz\":3.5e9,\"isa\":[\"avx2\",\"fma\"],\"core_kind\":\"big\","
    "\"op.fma.f32.256.latency\":4,\"op.fma.f32.256.per_cycle\":2,\"bw.l1.read.1\":64,"
    "\"environment\":{\"vendor\":\"AuthenticAMD\",\"family\":23,\"model\":1},"
    "\"measurements\":{\"l1_size\":{\"status\":\"measured\",\"value\":49152,\"confidence\":0.98,"
    "\"claims\":[{\"source\":\"cpuid\",\"value\":32768},"
    "{\"source\":\"sysfs\",\"value\":49152},{\"source\":\"hwloc\",\"value\":49152}]},"
    "\"l3_size\":{\"status\":\"unavailable\",\"reason\":\"no step seen\",\"help\":\"h\"}}}";
static const char second[] = "{\"name\":\"Some Chip\",\"architecture\":\"x86_64\","
    "\"l1_size\":32768,\"clock_hz\":3.4e9,\"isa\":[\"avx2\"],\"op.fma.f32.256.latency\":4,"
    "\"op.fma.f32.256.per_cycle\":2,\"cores\":4,\"bw.l1.read.1\":64}";

Test(profile_show, text)
{
    static const char *const lines[] = {
        "Some Chip (x86_64)\n", "l1_size", "48 KiB", "measured 0.98",
        "cpuid says 32 KiB (CONTRADICTED); sysfs, hwloc say 48 KiB (agrees)", "1 MiB", "3.5 GHz",
        "avx2 fma", "op.fma.f32.256", "latency 4 cycles  per_cycle 2 1/cycle",
        "Not known:\n", "l3_size", "unavailable: no step seen", "asserted",
    };
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_str out;
    dg_arena_init(&arena);
    read_profile(first, &arena, &p);
    dg_str_init(&out, NULL);
    dg_profile_show(&p, &out);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect_not_null(strstr(dg_str_text(&out), lines[i]), "%s not in\n%s", lines[i],
                           dg_str_text(&out));
    dg_str_free(&out);
    dg_arena_free(&arena);
}

Test(profile_show, slug)
{
    struct dg_arena arena;
    struct dg_profile p;
    struct dg_str out;
    dg_arena_init(&arena);
    dg_str_init(&out, NULL);
    read_profile(first, &arena, &p);
    dg_profile_slug(&p, &out);
    cr_expect_str_eq(dg_str_text(&out), "authenticamd-23-1-big");
    dg_str_clear(&out);
    read_profile(second, &arena, &p);
    dg_profile_slug(&p, &out);
    cr_expect_str_eq(dg_str_text(&out), "some-chip");
    dg_str_free(&out);
    dg_arena_free(&arena);
}
