/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts, hashes, names, arena, errors. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "base/sha256.h"
#include "base/str.h"

/* The examples of FIPS 180-4 and the lengths around a block, made with coreutils' sha256sum. */
Test(text, sha256)
{
    static const struct { size_t count; const char *bytes, *hex; } rows[] = {
        { 0, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { 3, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { 56, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    char hex[DG_SHA256_HEX], again[DG_SHA256_HEX];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dg_sha256_hex(rows[i].bytes, rows[i].count, hex);
        cr_expect(strcmp(hex, rows[i].hex) == 0, "%zu bytes: %s", rows[i].count, hex);
    }
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    dg_sha256_hex(million, 1000000, hex);
    cr_expect(strcmp(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0") == 0);
    /* in pieces as in one */
    for (size_t length = 50; length < 140; length++) {
        struct dg_sha256 s;
        unsigned char digest[32];
        dg_sha256_init(&s);
        for (size_t at = 0; at < length; at += at % 7 + 1)
            dg_sha256_add(&s, million + at, at + at % 7 + 1 < length ? at % 7 + 1 : length - at);
        dg_sha256_end(&s, digest);
        for (unsigned i = 0; i < 32; i++)
            sprintf(again + 2 * i, "%02x", digest[i]);
        dg_sha256_hex(million, length, hex);
        cr_expect(strcmp(hex, again) == 0, "%zu bytes", length);
    }
    free(million);
}

Test(text, grows_in_both_memories)
{
    for (unsigned in_arena = 0; in_arena < 2; in_arena++) {
        struct dg_arena arena;
        struct dg_str s;
        dg_arena_init(&arena);
        dg_str_init(&s, in_arena ? &arena : NULL);
        cr_expect(strcmp(dg_str_text(&s), "") == 0);
        for (unsigned i = 0; i < 1000; i++)
            dg_str_format(&s, "%u,", i);
        dg_str_double(&s, 0.1);
        dg_str_addc(&s, ' ');
        dg_str_fixed(&s, 2.0 / 3, 3);
        cr_expect(!s.failed && s.length == 3890 + 3 + 1 + 5 && s.length == strlen(s.text));
        cr_expect(strncmp(s.text, "0,1,2,", 6) == 0);
        cr_expect(strcmp(s.text + 3890, "0.1 0.667") == 0, "%s", s.text + 3890);
        dg_str_clear(&s);
        dg_str_addn(&s, "a\0b", 3);
        cr_expect(s.length == 3 && memcmp(s.text, "a\0b", 4) == 0);
        dg_str_clear(&s);
        dg_str_quoted(&s, "a\"b\\\n\x7f\303\251");
        cr_expect(strcmp(s.text, "\"a\\\"b\\\\\\u000a\x7f\303\251\"") == 0, "%s", s.text);
        dg_str_free(&s);
        dg_arena_free(&arena);
    }
    /* no memory: said once at the end, never a crash */
    char buffer[128];
    struct dg_arena small;
    struct dg_str s;
    dg_arena_over(&small, buffer, sizeof buffer);
    dg_str_init(&s, &small);
    for (unsigned i = 0; i < 100; i++)
        dg_str_add(&s, "0123456789");
    cr_expect(s.failed && s.length < sizeof buffer && strlen(dg_str_text(&s)) == s.length);
}

Test(text, arena_and_format)
{
    struct dg_arena arena;
    char out[64];
    dg_arena_init(&arena);
    for (size_t size = 1; size < 200000; size = size * 3 + 1) {
        unsigned char *block = dg_alloc(&arena, size);
        cr_assert(block != NULL && (uintptr_t)block % 16 == 0, "%zu", size);
        for (size_t i = 0; i < size; i++)
            cr_assert(block[i] == 0);
        memset(block, 0xff, size);
    }
    cr_expect(dg_alloc(&arena, SIZE_MAX) == NULL);
    cr_expect(dg_alloc_array(&arena, SIZE_MAX / 2, 3) == NULL);
    cr_expect(strcmp(dg_strdup(&arena, "text"), "text") == 0);
    dg_arena_free(&arena);

    cr_expect(dg_format(out, sizeof out, "%5d|%-5u|%05d|%x|%s|%c|%%", -42, 7u, -42, 255u, "s",
                        'c') == 26);
    cr_expect(strcmp(out, "  -42|7    |-0042|ff|s|c|%") == 0, "%s", out);
    cr_expect(dg_format(out, 5, "%llu", 18446744073709551615ull) == 20);
    cr_expect(strcmp(out, "1844") == 0);
    cr_expect(dg_format(NULL, 0, "%zu", (size_t)12) == 2);
    struct dg_error e;
    cr_expect(!dg_fail(&e, DG_EXIT_INPUT, "file:3", "rule", NULL, "do"));
    cr_expect(e.exit_code == DG_EXIT_INPUT && strcmp(e.where, "file:3") == 0 && e.value[0] == 0);
    cr_expect(!dg_fail(NULL, DG_EXIT_INPUT, "", "", "", ""));
}

Test(text, nearest_name)
{
    static const char *const names[] = { "dtype", "l1_size", "l2_size", "layout.b", "m",
                                         "tile_m", "vector_registers", "codegen.kernel_name" };
    static const struct { const char *text, *near; } rows[] = {
        { "dtpye", "dtype" }, { "l1-size", "l1_size" }, { "l1_cache_size", "l1_size" },
        { "L1_SIZE", "l1_size" }, { "tile_n", "tile_m" }, { "vector_register", "vector_registers" },
        { "layout_b", "layout.b" }, { "quantisation", NULL },
        { "kernel_name", "codegen.kernel_name" }, { "kernelname", "codegen.kernel_name" },
        { "zzz", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *near = dg_name_nearest(rows[i].text, names, sizeof names / sizeof names[0]);
        cr_expect(rows[i].near == NULL ? near == NULL
                                       : near != NULL && strcmp(near, rows[i].near) == 0,
                  "%s: %s", rows[i].text, near == NULL ? "none" : near);
    }
    cr_expect(dg_name_distance("kitten", "sitting") == 3);
    cr_expect(dg_name_distance("ab", "ba") == 1 && dg_name_distance("", "abc") == 3);
    char longest[200];
    memset(longest, 'x', sizeof longest);
    longest[199] = '\0';
    cr_expect(dg_name_distance(longest, longest) == 0);
}
