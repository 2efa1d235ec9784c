/* SPDX-License-Identifier: Apache-2.0
 *
 * The option machinery over a made-up program: what parses, what is refused and how. */
#include "cli/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct dg_option options[] = {
    DG_OPTION("hardware", 0, TEXT, "FILE", 0, 0, "a file")
    DG_OPTION("output", 'o', TEXT, "DIR", 0, 0, "a folder with *stars* and under_scores")
    DG_OPTION("m", 0, U64, "M", 1, 1e9, "rows")
    DG_OPTION("big", 0, U64, "N", 0, 0, "any number")
    DG_OPTION("budget", 0, DOUBLE, "SECONDS", 1, 3600, "stop after this time")
    DG_OPTION("only", 0, LIST, "ID,..", 0, 0, "only these")
    DG_OPTION("qemu", 0, MAYBE, "CMD", 0, 0, "under an emulator")
    DG_OPTION("json", 'j', FLAG, "", 0, 0, "print JSON")
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static bool run(const struct dg_options *o, struct dg_error *e)
{
    return o->operand_count == 0 || dg_fail(e, DG_EXIT_CHECK, "run", "no operands", "", "");
}

static const struct dg_command commands[] = {
    { .name = "run", .operands = "[PATH]", .operands_most = 1, .summary = "Runs.",
      .options = options, .option_count = OPTIONS, .run = run },
    { .name = "show", .operands = "FILE", .operands_least = 1, .operands_most = 1,
      .summary = "Shows.", .run = run },
    { .name = "list", .operands = "", .summary = "Lists.", .run = run },
};
static const struct dg_program program = {
    .name = "deepgemm-toy", .summary = "is a toy", .description = "One.\n\nTwo.",
    .commands = commands, .command_count = 3, .default_named = true,
};

enum { WORDS = 12 };

static int parse(const char *line, struct dg_arena *arena, struct dg_options *out,
                 struct dg_error *e)
{
    char *words[WORDS + 2] = { dg_strdup(arena, "toy") };
    int count = 1;
    for (char *word = strtok(dg_strdup(arena, line), " "); word != NULL && count <= WORDS;
         word = strtok(NULL, " "))
        words[count++] = word;
    *e = (struct dg_error){ 0 };
    return dg_options_parse(&program, count, words, arena, out, e) ? 0 : (int)e->exit_code;
}

Test(options, right)
{
    static const struct { const char *line, *output, *qemu; uint64_t m; double budget;
                          const char *only; size_t operands; bool has_qemu, json; } rows[] = {
        { "", NULL, NULL, 7, 0.5, "", 0, false, false },
        { "run --m 64 -o x", "x", NULL, 64, 0.5, "", 0, false, false },
        { "--m=1 -ox -j", "x", NULL, 1, 0.5, "", 0, false, true },
        { "--qemu PATH --budget 1.5", NULL, NULL, 7, 1.5, "", 1, true, false },
        { "PATH --qemu=cmd --budget=3600", NULL, "cmd", 7, 3600, "", 1, true, false },
        { "--only a,b --json --only c", NULL, NULL, 7, 0.5, "a b c ", 0, false, true },
        { "-- --json", NULL, NULL, 7, 0.5, "", 1, false, false },
        { "--output=a=b", "a=b", NULL, 7, 0.5, "", 0, false, false },
        { "-", NULL, NULL, 7, 0.5, "", 1, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dg_arena arena;
        struct dg_options o;
        struct dg_error e;
        char only[64] = "";
        size_t count = 0;
        dg_arena_init(&arena);
        cr_assert(parse(rows[i].line, &arena, &o, &e) == 0, "%s: %s", rows[i].line, e.rule);
        const char *output = dg_option_text(&o, "output"), *qemu = dg_option_text(&o, "qemu");
        const char *const *list = dg_option_list(&o, "only", &count);
        for (size_t j = 0; j < count; j++)
            strcat(strcat(only, list[j]), " ");
        cr_expect((output == NULL) == (rows[i].output == NULL), "%s", rows[i].line);
        cr_expect(output == NULL || strcmp(output, rows[i].output) == 0, "%s", rows[i].line);
        cr_expect((qemu == NULL) == (rows[i].qemu == NULL), "%s", rows[i].line);
        cr_expect(dg_option_given(&o, "qemu") == rows[i].has_qemu, "%s", rows[i].line);
        cr_expect(dg_option_given(&o, "json") == rows[i].json, "%s", rows[i].line);
        cr_expect(dg_option_u64(&o, "m", 7) == rows[i].m, "%s", rows[i].line);
        cr_expect(dg_option_double(&o, "budget", 0.5) == rows[i].budget, "%s", rows[i].line);
        cr_expect(strcmp(only, rows[i].only) == 0 && list[count] == NULL, "%s", rows[i].line);
        cr_expect(o.operand_count == rows[i].operands, "%s", rows[i].line);
        dg_arena_free(&arena);
    }
}

Test(options, refused)
{
    static const struct { const char *line, *where, *value, *todo; } rows[] = {
        { "--m 6x4", "--m", "6x4", "" }, { "--m 0x20", "--m", "0x20", "" },
        { "--m -1", "--m", "-1", "" }, { "--m=", "--m", "empty", "" }, { "--m", "--m", "", "" },
        { "--m 99999999999999999999", "--m", "99999999999999999999", "" },
        { "--m 1e3", "--m", "1e3", "" }, { "--m 0", "--m", "0", "" },
        { "--m 007", "--m", "007", "" }, { "--budget 0.5", "--budget", "0.5", "" },
        { "--m 1000000001", "--m", "1000000001", "" },
        { "--budget nan", "--budget", "nan", "" }, { "--budget 1,5", "--budget", "1,5", "" },
        { "--output=", "--output", "empty", "" }, { "--json=1", "--json", "", "" },
        { "--m 1 --m 2", "--m", "2", "" }, { "--json -j", "--json", "", "" },
        { "--hardwrae x", "", "--hardwrae", "--hardware" },
        { "--budge 3", "", "--budge", "--budget" },
        { "--unrelated-thing", "", "--unrelated-thing", "deepgemm-toy run --help" },
        { "-x", "", "-x", "" }, { "a b", "", "b", "" }, { "show", "", "nothing", "show --help" },
        { "list x", "", "x", "" }, { "show --m 1 f", "", "--m", "" },
        { "--only ,", "--only", ",", "comma" }, { "--only a,,b", "--only", "a,,b", "comma" },
        { "--only a,", "--only", "a,", "" }, { "--only=", "--only", "empty", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dg_arena arena;
        struct dg_options o;
        struct dg_error e;
        dg_arena_init(&arena);
        cr_expect(parse(rows[i].line, &arena, &o, &e) == DG_EXIT_USAGE, "%s", rows[i].line);
        cr_expect(strstr(e.where, rows[i].where) != NULL, "%s: %s", rows[i].line, e.where);
        cr_expect(strstr(e.value, rows[i].value) != NULL, "%s: %s", rows[i].line, e.value);
        cr_expect(strstr(e.todo, rows[i].todo) != NULL, "%s: %s", rows[i].line, e.todo);
        cr_expect(e.rule[0] != '\0' && e.todo[0] != '\0', "%s", rows[i].line);
        dg_arena_free(&arena);
    }
}

static char *printed(void (*print)(FILE *), char **text)
{
    size_t size = 0;
    FILE *file = open_memstream(text, &size);
    print(file);
    fclose(file);
    return *text;
}

static void print_help(FILE *to) { dg_help_print(&program, &commands[0], to); }
static void print_man(FILE *to) { dg_help_scdoc(&program, to); }
static void print_completion(FILE *to) { dg_help_completion(&program, to); }

Test(options, all_forms_name_every_option)
{
    char *help = NULL, *man = NULL, *completion = NULL;
    printed(print_help, &help);
    printed(print_man, &man);
    printed(print_completion, &completion);
    for (size_t i = 0; i < OPTIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "--%s", options[i].name);
        cr_expect(strstr(help, name) != NULL && strstr(man, name) != NULL &&
                  strstr(completion, name) != NULL, "%s", name);
    }
    cr_expect(strstr(help, "130  interrupted") != NULL && strstr(help, "show") != NULL);
    cr_expect(strstr(man, "\\*stars\\* and under\\_scores") != NULL, "%s", man);
    for (char *line = strtok(help, "\n"); line != NULL; line = strtok(NULL, "\n"))
        cr_expect(strlen(line) <= 80, "%s", line);
    free(help);
    free(man);
    free(completion);
}
