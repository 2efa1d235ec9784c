/* SPDX-License-Identifier: Apache-2.0
 *
 * The option tables written out: --help, the man page's source, the shell completion. */
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "cli/options.h"

enum { WIDTH = 80, HELP_COLUMN = 26 };

static bool is_default(const struct dg_program *program, const struct dg_command *command)
{
    return command == program->commands;
}

static const char *dashes_argument(const struct dg_option *option, struct dg_str *out,
                                   const char *strong, const char *slanted)
{
    dg_str_clear(out);
    if (option->letter != 0)
        dg_str_format(out, "%s-%c%s, ", strong, option->letter, strong);
    dg_str_format(out, "%s--%s%s", strong, option->name, strong);
    if (option->kind == DG_OPTION_MAYBE)
        dg_str_format(out, "[=%s%s%s]", slanted, option->argument, slanted);
    else if (option->kind != DG_OPTION_FLAG)
        dg_str_format(out, " %s%s%s", slanted, option->argument, slanted);
    return dg_str_text(out);
}

/* Words of the text from column `at` on; further lines begin at `indent`. */
static void put_wrapped(const char *text, size_t at, size_t indent, FILE *to)
{
    size_t start = at;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (at > indent && at > start && at + 1 + length > WIDTH) {
            fprintf(to, "\n%*s", (int)indent, "");
            at = start = indent;
        } else if (at > start) {
            fputc(' ', to);
            at++;
        }
        fprintf(to, "%.*s", (int)length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', to);
}

static void put_option(const struct dg_option *option, FILE *to)
{
    struct dg_str s;
    dg_str_init(&s, NULL);
    const char *left = dashes_argument(option, &s, "", "");
    int shown = fprintf(to, "  %s%s", option->letter != 0 ? "" : "    ", left);
    if (shown + 2 > HELP_COLUMN)
        fprintf(to, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(to, "%*s", HELP_COLUMN - shown, "");
    put_wrapped(option->help, HELP_COLUMN, HELP_COLUMN, to);
    dg_str_free(&s);
}

static void put_usage(const struct dg_program *program, const struct dg_command *command,
                      const char *lead, FILE *to)
{
    fprintf(to, "%s%s", lead, program->name);
    if (is_default(program, command) && program->default_named)
        fprintf(to, " [%s]", command->name);
    else if (!is_default(program, command))
        fprintf(to, " %s", command->name);
    fprintf(to, "%s%s%s\n", command->option_count > 0 ? " [OPTION]..." : "",
            command->operands[0] != '\0' ? " " : "", command->operands);
}

static const struct { int code; const char *text; } exits[] = {
    { DG_EXIT_OK, "all went well" },
    { DG_EXIT_CHECK, "a check failed" },
    { DG_EXIT_USAGE, "the command line is wrong" },
    { DG_EXIT_INPUT, "an input file is wrong" },
    { DG_EXIT_UNAVAILABLE, "hardware, a tool or a permission is missing for something required" },
    { DG_EXIT_INTERNAL, "an internal error" },
    { DG_EXIT_INTERRUPTED, "interrupted" },
};
enum { EXITS = sizeof exits / sizeof exits[0] };

void dg_help_print(const struct dg_program *program, const struct dg_command *command, FILE *to)
{
    put_usage(program, command, "Usage: ", to);
    for (size_t i = 1; is_default(program, command) && i < program->command_count; i++)
        put_usage(program, &program->commands[i], "       ", to);
    fputc('\n', to);
    put_wrapped(command->summary, 0, 0, to);
    fprintf(to, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++)
        put_option(&command->options[i], to);
    for (size_t i = 0; i < DG_OPTIONS_COMMON; i++)
        put_option(&dg_options_common[i], to);
    if (is_default(program, command) && program->command_count > 1) {
        fprintf(to, "\nOther commands (each with its own --help):\n");
        for (size_t i = 1; i < program->command_count; i++) {
            int shown = fprintf(to, "  %s", program->commands[i].name);
            fprintf(to, "%*s", shown < HELP_COLUMN ? HELP_COLUMN - shown : 1, "");
            put_wrapped(program->commands[i].summary, HELP_COLUMN, HELP_COLUMN, to);
        }
    }
    fprintf(to, "\nExit codes:\n");
    for (size_t i = 0; i < EXITS; i++)
        fprintf(to, "  %3d  %s\n", exits[i].code, exits[i].text);
}

/* scdoc takes * and _ as marks and some characters at a line's start as structure. */
static void put_plain(const char *text, FILE *to)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("*_\\[]<#~|`", *c) != NULL)
            fputc('\\', to);
        fputc(*c, to);
    }
}

static void put_scdoc_options(const struct dg_command *command, FILE *to)
{
    struct dg_str s;
    dg_str_init(&s, NULL);
    for (size_t i = 0; i < command->option_count; i++) {
        fprintf(to, "%s\n\t", dashes_argument(&command->options[i], &s, "*", "_"));
        put_plain(command->options[i].help, to);
        fprintf(to, ".\n\n");
    }
    dg_str_free(&s);
}

void dg_help_scdoc(const struct dg_program *program, FILE *to)
{
    fprintf(to, "%s(1)\n\n# NAME\n\n%s - ", program->name, program->name);
    put_plain(program->summary, to);
    fprintf(to, "\n\n# SYNOPSIS\n\n");
    for (size_t i = 0; i < program->command_count; i++) {
        const struct dg_command *command = &program->commands[i];
        fprintf(to, "*%s*", program->name);
        if (i > 0 || program->default_named)
            fprintf(to, i == 0 ? " \\[*%s*\\]" : " *%s*", command->name);
        fprintf(to, "%s%s", command->option_count > 0 ? " \\[options...\\]" : "",
                command->operands[0] != '\0' ? " " : "");
        put_plain(command->operands, to);
        fprintf(to, "\n\n");
    }
    fprintf(to, "# DESCRIPTION\n\n");
    put_plain(program->description, to);
    fprintf(to, "\n\n");
    for (size_t i = 0; i < program->command_count; i++) {
        const struct dg_command *command = &program->commands[i];
        if (i == 0 && !program->default_named)
            fprintf(to, "# OPTIONS\n\n");
        else
            fprintf(to, "# %s\n\n", command->name);
        put_plain(command->summary, to);
        fprintf(to, "\n\n");
        put_scdoc_options(command, to);
    }
    fprintf(to, "# EXIT STATUS\n\n");
    for (size_t i = 0; i < EXITS; i++)
        fprintf(to, "*%d*\n\t%s\n\n", exits[i].code, exits[i].text);
}

void dg_help_completion(const struct dg_program *program, FILE *to)
{
    fprintf(to, "# bash completion for %s\ncomplete -o default -W '", program->name);
    for (size_t i = 0; i < program->command_count; i++) {
        const struct dg_command *command = &program->commands[i];
        if (i > 0 || program->default_named)
            fprintf(to, "%s ", command->name);
        for (size_t j = 0; j < command->option_count; j++)
            fprintf(to, "--%s%s ", command->options[j].name,
                    command->options[j].kind == DG_OPTION_MAYBE ? "=" : "");
    }
    fprintf(to, "--help --version' %s\n", program->name);
}
