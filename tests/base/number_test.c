/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comma.h"

static void integers(void)
{
    static const struct { const char *text; bool ok; uint64_t value; } rows[] = {
        { "0", true, 0 }, { "1", true, 1 }, { "64", true, 64 },
        { "18446744073709551615", true, UINT64_MAX },
        { "4294967296", true, 4294967296u }, { "9007199254740993", true, 9007199254740993u },
        { "18446744073709551616", false, 0 }, { "99999999999999999999", false, 0 },
        { "", false, 0 }, { "-1", false, 0 }, { "+1", false, 0 }, { " 1", false, 0 },
        { "1 ", false, 0 }, { "01", false, 0 }, { "00", false, 0 }, { "1_000", false, 0 },
        { "0x20", false, 0 }, { "1e3", false, 0 }, { "6x4", false, 0 }, { "3.5", false, 0 },
        { "1,000", false, 0 }, { "\xd9\xa1", false, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t value = 7;
        const char *rule = NULL;
        bool ok = dg_parse_u64(rows[i].text, &value, &rule);
        cr_expect(ok == rows[i].ok, "\"%s\"", rows[i].text);
        cr_expect(value == (ok ? rows[i].value : 7), "\"%s\": %" PRIu64, rows[i].text, value);
        cr_expect((rule == NULL) == ok, "\"%s\"", rows[i].text);
    }
    uint64_t value;
    cr_expect(dg_parse_u64_in("8", 8, 9, &value, NULL) && value == 8);
    cr_expect(!dg_parse_u64_in("7", 8, 9, &value, NULL));
    cr_expect(!dg_parse_u64_in("10", 8, 9, &value, NULL));
}

static void decimals(void)
{
    static const struct { const char *text; bool ok; double value; } rows[] = {
        { "0", true, 0 }, { "-0", true, 0 }, { "17.6", true, 17.6 }, { "1.5e9", true, 1.5e9 },
        { "1E+3", true, 1000 }, { "-2.5e-3", true, -0.0025 },
        { "1.7976931348623157e308", true, 1.7976931348623157e308 }, { "5e-324", true, 5e-324 },
        { "1e-999999999", true, 0 }, { "0.1", true, 0.1 },
        { "1e309", false, 0 }, { "1e999999999999", false, 0 }, { "", false, 0 }, { ".", false, 0 },
        { ".5", false, 0 }, { "5.", false, 0 }, { "01.5", false, 0 }, { "1,5", false, 0 },
        { "nan", false, 0 }, { "inf", false, 0 }, { "0x1p3", false, 0 }, { "1e", false, 0 },
        { "1.5 ", false, 0 }, { " 1.5", false, 0 }, { "+1", false, 0 }, { "--1", false, 0 },
        { "1.5GB", false, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = 7;
        bool ok = dg_parse_double(rows[i].text, &value, NULL);
        cr_expect(ok == rows[i].ok, "\"%s\"", rows[i].text);
        cr_expect(value == (ok ? rows[i].value : 7), "\"%s\": %g", rows[i].text, value);
    }
}

static void written(void)
{
    static const struct { double value; const char *text; } rows[] = {
        { 0, "0" }, { 4, "4" }, { 17.6, "17.6" }, { 65536, "65536" }, { 0.5, "0.5" },
        { 0.05, "0.05" }, { 1.0 / 3, "0.3333333333333333" }, { 1.5e-9, "1.5e-9" },
        { 3400000000.0, "3400000000" }, { 9007199254740992.0, "9007199254740992" },
        { 1e16, "10000000000000000" }, { 1e22, "1e22" }, { -0.001, "-0.001" }, { 100, "100" },
        { 123.456, "123.456" }, { 5e-324, "5e-324" }, { NAN, "null" }, { INFINITY, "null" },
    };
    char text[DG_NUMBER_SIZE], fixed[DG_FIXED_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = dg_write_double(text, rows[i].value);
        cr_expect(strcmp(text, rows[i].text) == 0, "%s instead of %s", text, rows[i].text);
        cr_expect(length == strlen(text));
    }
    cr_expect(dg_write_fixed(fixed, -1234.5678, 2) == 8 && strcmp(fixed, "-1234.57") == 0);
    cr_expect(dg_write_fixed(fixed, 3, 0) == 1 && strcmp(fixed, "3") == 0);
}

static void round_trips(void)
{
    uint64_t state = 88172645463325252u;
    for (unsigned i = 0; i < 20000; i++) {
        double value, again;
        char text[DG_NUMBER_SIZE];
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        memcpy(&value, &state, sizeof value);
        if (!isfinite(value))
            continue;
        size_t length = dg_write_double(text, value);
        cr_assert(length < sizeof text && length == strlen(text));
        cr_assert(dg_parse_double(text, &again, NULL) && again == value, "%s", text);
    }
}

Test(number, reads_and_writes)
{
    integers();
    decimals();
    written();
    round_trips();
}

Test(number, decimal_comma_changes_nothing)
{
    if (!use_comma_locale())
        cr_skip_test("localedef cannot make a locale with a decimal comma");
    decimals();
    written();
    round_trips();
}

Test(number, rounds_to_interval)
{
    static const struct { double value, low, high, want; } rows[] = {
        { 4.003, 3.99, 4.01, 4 }, { 17.634, 17.5, 17.7, 17.6 }, { 17.634, 17.634, 17.634, 17.634 },
        { 0.99987, 0.99, 1.01, 1 }, { 48973, 48000, 50000, 50000 }, { 48973, 48900, 49010, 49000 },
        { -2.51, -2.6, -2.4, -2.5 }, { 0, -1, 1, 0 }, { 5, 6, 7, 5 }, { 2.5e-7, 2e-7, 3e-7, 2e-7 },
        { 95, 94, 101, 100 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double got = dg_round_to_interval(rows[i].value, rows[i].low, rows[i].high);
        cr_expect(got == rows[i].want, "%g in [%g, %g]: %g, not %g", rows[i].value, rows[i].low,
                  rows[i].high, got, rows[i].want);
    }
    cr_expect(dg_round_digits(3437123456.0, 2) == 3400000000.0);
    uint64_t whole = 7;
    cr_expect(dg_double_to_u64(4294967296.0, &whole) && whole == 4294967296u);
    cr_expect(!dg_double_to_u64(3.5, &whole) && !dg_double_to_u64(-1, &whole));
    cr_expect(!dg_double_to_u64(NAN, &whole) && !dg_double_to_u64(1.9e19, &whole));
    cr_expect(!dg_double_to_u64(9007199254740994.0, &whole));
}
