/* SPDX-License-Identifier: Apache-2.0
 *
 * As much of Criterion as loops_test.c uses, in one process and without a library: Criterion's own
 * does not run under qemu-user. */
#ifndef DG_TESTS_PLAIN_CRITERION_H
#define DG_TESTS_PLAIN_CRITERION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_test {
    const char *suite, *name;
    void (*init)(void), (*fini)(void), (*run)(void);
    const struct plain_test *next;
};
static const struct plain_test *plain_tests;
static unsigned plain_failures;

#define Test(suite_, name_, ...)                                                              \
    static void suite_##_##name_(void);                                                       \
    static __attribute__((constructor)) void suite_##_##name_##_add(void)                     \
    {                                                                                         \
        static struct plain_test test = { .suite = #suite_, .name = #name_, __VA_ARGS__ };    \
        test.run = suite_##_##name_;                                                          \
        test.next = plain_tests;                                                              \
        plain_tests = &test;                                                                  \
    }                                                                                         \
    static void suite_##_##name_(void)

#define cr_expect(condition, ...)                                                             \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            plain_failures++;                                                                 \
            fprintf(stderr, "%s:%d: %s ", __FILE__, __LINE__, #condition);                    \
            fprintf(stderr, "" __VA_ARGS__);                                                  \
            fputc('\n', stderr);                                                              \
        }                                                                                     \
    } while (0)
#define cr_assert(condition, ...)                                                             \
    do {                                                                                      \
        unsigned before_ = plain_failures;                                                    \
        cr_expect(condition, __VA_ARGS__);                                                    \
        if (plain_failures > before_)                                                         \
            exit(1);                                                                          \
    } while (0)
#define cr_expect_eq(a, b, ...) cr_expect((a) == (b), __VA_ARGS__)
#define cr_expect_null(a, ...) cr_expect((a) == NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...) cr_expect((a) != NULL, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...) cr_expect(memcmp(a, b, size) == 0, __VA_ARGS__)

int main(void)
{
    unsigned passed = 0, failed = 0;
    for (const struct plain_test *t = plain_tests; t != NULL; t = t->next) {
        unsigned before = plain_failures;
        if (t->init != NULL)
            t->init();
        t->run();
        if (t->fini != NULL)
            t->fini();
        if (plain_failures == before) {
            passed++;
            continue;
        }
        failed++;
        fprintf(stderr, "%s::%s failed\n", t->suite, t->name);
    }
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed > 0;
}

#endif
