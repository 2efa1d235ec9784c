/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line as data. A program is a table of commands, a command a table of options (rows
 * in cli/NAME.def); the parser, --help, the man page and the shell completion are made from them.
 * Options and operands may be mixed; `--` ends options; there are no abbreviations. An option is
 * given at most once unless it is a list. What is wrong ends with exit code 2 and names the
 * nearest valid name. */
#ifndef DG_CLI_OPTIONS_H
#define DG_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"

enum dg_option_kind {
    DG_OPTION_FLAG,              /* --json */
    DG_OPTION_TEXT,              /* --config FILE; never empty */
    DG_OPTION_U64,               /* --cpu N: plain decimal digits, low <= N <= high */
    DG_OPTION_DOUBLE,            /* --budget SECONDS, low <= S <= high */
    DG_OPTION_LIST,              /* --only ID,ID; may be given more than once */
    DG_OPTION_MAYBE,             /* --qemu or --qemu=CMD; the value never is the next argument */
};

struct dg_option {
    const char *name;            /* without the dashes */
    char letter;                 /* one-letter form, or 0 */
    enum dg_option_kind kind;
    const char *argument;        /* how help calls the value: "FILE"; "" for flags */
    double low, high;            /* of numbers; low == high: any */
    const char *help;            /* a sentence, lower case, without a full stop at its end */
};

/* A row of a .def file, for an array of struct dg_option:
 *   DG_OPTION("budget", 0, DOUBLE, "SECONDS", 1, 3600, "stop measuring after this time") */
#define DG_OPTION(name, letter, kind, argument, low, high, help) \
    { name, letter, DG_OPTION_##kind, argument, low, high, help },

/* --help and --version, which every command has. */
enum { DG_OPTIONS_COMMON = 2 };
extern const struct dg_option dg_options_common[DG_OPTIONS_COMMON];

struct dg_options;

struct dg_command {
    const char *name;            /* "plan"; the first command of a program is the default one */
    const char *operands;        /* how help calls them: "FILE", "PATH..."; "" for none */
    size_t operands_least, operands_most;
    const char *summary;         /* one sentence */
    const struct dg_option *options;
    size_t option_count;
    /* Does the work: fills *e and returns false, or true. A failed check is an error with exit
     * code DG_EXIT_CHECK. Data goes to stdout, everything else to stderr. */
    bool (*run)(const struct dg_options *options, struct dg_error *e);
};

struct dg_program {
    const char *name;            /* "deepgemm-gen" */
    const char *summary;         /* the man page's one line: "writes a kernel for a chip" */
    const char *description;     /* paragraphs, separated by an empty line */
    const struct dg_command *commands;
    size_t command_count;
    bool default_named;          /* the default command may be written out too ("run") */
};

struct dg_given {
    const struct dg_option *option;
    const char *value;           /* "" for a flag; NULL for DG_OPTION_MAYBE without one */
};

struct dg_options {
    const struct dg_program *program;
    const struct dg_command *command;
    const struct dg_given *given;          /* in the order of the command line */
    size_t given_count;
    const char *const *operands;           /* NULL behind the last */
    size_t operand_count;
    struct dg_arena *arena;                /* lives until run() has returned */
    bool help, version;
};

/* The whole of a main(): parses, runs the command (or prints help or version), prints the error,
 * checks that stdout arrived, and gives the exit code. Ctrl-C ends with 130. */
int dg_program_main(const struct dg_program *program, int argc, char **argv);

/* The parsing alone. */
bool dg_options_parse(const struct dg_program *program, int argc, char **argv,
                      struct dg_arena *arena, struct dg_options *out, struct dg_error *e);

/* What was given; the name must be in the command's table. */
bool dg_option_given(const struct dg_options *options, const char *name);
const char *dg_option_text(const struct dg_options *options, const char *name);   /* or NULL */
uint64_t dg_option_u64(const struct dg_options *options, const char *name, uint64_t otherwise);
double dg_option_double(const struct dg_options *options, const char *name, double otherwise);
/* The parts of a list between commas, over all times it was given; NULL behind the last. */
const char *const *dg_option_list(const struct dg_options *options, const char *name,
                                  size_t *count);

/* cli/help.c: the same tables for people. */
void dg_help_print(const struct dg_program *program, const struct dg_command *command, FILE *to);
void dg_help_scdoc(const struct dg_program *program, FILE *to);       /* source of the man page */
void dg_help_completion(const struct dg_program *program, FILE *to);  /* for bash */

#endif
