/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <assert.h>
#include <popt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/names.h"
#include "base/number.h"
#include "base/report.h"

const struct dg_option dg_options_common[DG_OPTIONS_COMMON] = {
    DG_OPTION("help", 0, FLAG, "", 0, 0, "print this help")
    DG_OPTION("version", 0, FLAG, "", 0, 0, "print the version")
};
enum { HELP = 0, VERSION = 1 };

static const struct dg_option *row(const struct dg_command *command, size_t i)
{
    return i < command->option_count ? &command->options[i]
                                     : &dg_options_common[i - command->option_count];
}

static bool usage(struct dg_error *e, const char *where, const char *rule, const char *value,
                  const char *todo)
{
    return dg_fail(e, DG_EXIT_USAGE, where, rule, value, todo);
}

static bool no_memory(struct dg_error *e)
{
    return dg_fail_memory(e, "");
}

static bool see_help(struct dg_error *e, const char *where, const char *rule, const char *value,
                     const struct dg_options *o, const char *near, const char *prefix)
{
    char todo[sizeof e->todo];
    bool named = o->command->name != NULL &&
                 (o->command != o->program->commands || o->program->default_named);
    dg_format(todo, sizeof todo, "%s%s%s%srun `%s%s%s --help` for what there is",
              near == NULL ? "" : "did you mean ", near == NULL ? "" : prefix,
              near == NULL ? "" : near, near == NULL ? "" : "? Otherwise ", o->program->name,
              named ? " " : "", named ? o->command->name : "");
    return usage(e, where, rule, value, todo);
}

static const char *nearest_option(const struct dg_command *command, const char *name)
{
    size_t count = command->option_count + DG_OPTIONS_COMMON;
    const char **names = malloc(count * sizeof *names);
    if (names == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        names[i] = row(command, i)->name;
    const char *near = dg_name_nearest(name, names, count);
    free(names);
    return near;
}

static bool unknown_option(const struct dg_options *o, const char *bad, struct dg_error *e)
{
    char shown[128];
    size_t length = strcspn(bad, "=");
    length = length < sizeof shown ? length : sizeof shown - 1;
    memcpy(shown, bad, length);
    shown[length] = '\0';
    const char *name = shown + strspn(shown, "-");
    return see_help(e, "command line", "unknown option", shown, o,
                    nearest_option(o->command, name), "--");
}

/* The command that argv[1] names, else the default one; *first is the first argument behind it. */
static const struct dg_command *choose_command(const struct dg_program *program, int argc,
                                               char **argv, int *first)
{
    *first = 1;
    for (size_t i = program->default_named ? 0 : 1; argc > 1 && i < program->command_count; i++) {
        if (strcmp(argv[1], program->commands[i].name) == 0) {
            *first = 2;
            return &program->commands[i];
        }
    }
    return &program->commands[0];
}

/* popt's argument vector: the program's name, then the arguments behind the command's name. A bare
 * `--qemu` becomes `--qemu=`, because popt would take the next argument as its value. */
static const char **vector_for(const struct dg_options *o, int argc, char **argv, int first,
                               int *count)
{
    const char **out = dg_alloc_array(o->arena, (size_t)(argc - first) + 2, sizeof *out);
    bool ended = false;
    if (out == NULL)
        return NULL;
    *count = 0;
    out[(*count)++] = o->program->name;
    for (int i = first; i < argc; i++) {
        const char *argument = argv[i];
        ended |= strcmp(argument, "--") == 0;
        for (size_t j = 0; !ended && j < o->command->option_count; j++) {
            const struct dg_option *option = &o->command->options[j];
            if (option->kind != DG_OPTION_MAYBE || strncmp(argument, "--", 2) != 0 ||
                strcmp(argument + 2, option->name) != 0)
                continue;
            size_t size = strlen(argument) + 2;
            char *copy = dg_alloc(o->arena, size);
            if (copy == NULL)
                return NULL;
            dg_format(copy, size, "%s=", argument);
            argument = copy;
        }
        out[(*count)++] = argument;
    }
    return out;
}

static struct poptOption *popt_table(const struct dg_options *o)
{
    size_t count = o->command->option_count + DG_OPTIONS_COMMON;
    struct poptOption *out = dg_alloc_array(o->arena, count + 1, sizeof *out);
    for (size_t i = 0; out != NULL && i < count; i++) {
        const struct dg_option *option = row(o->command, i);
        out[i] = (struct poptOption){
            .longName = option->name, .shortName = option->letter, .val = (int)i + 1,
            .argInfo = option->kind == DG_OPTION_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING };
    }
    return out;
}

static bool already_given(const struct dg_options *o, const struct dg_option *option)
{
    for (size_t i = 0; i < o->given_count; i++)
        if (o->given[i].option == option)
            return true;
    return false;
}

static bool check_number(const struct dg_option *option, const char *where, const char *value,
                         struct dg_error *e)
{
    const char *rule;
    uint64_t whole = 0;
    double number = 0;
    bool ok = option->kind == DG_OPTION_U64 ? dg_parse_u64(value, &whole, &rule)
                                            : dg_parse_double(value, &number, &rule);
    if (!ok)
        return usage(e, where, rule, value[0] == '\0' ? "an empty text" : value,
                     "correct the option's value");
    number = option->kind == DG_OPTION_U64 ? (double)whole : number;
    if (option->low < option->high && (number < option->low || number > option->high)) {
        char text[128], low[DG_NUMBER_SIZE], high[DG_NUMBER_SIZE];
        dg_write_double(low, option->low);
        dg_write_double(high, option->high);
        dg_format(text, sizeof text, "must be from %s to %s", low, high);
        return usage(e, where, text, value, "correct the option's value");
    }
    return true;
}

static bool check_value(const struct dg_options *o, const struct dg_option *option,
                        const char *value, struct dg_error *e)
{
    char where[80];
    dg_format(where, sizeof where, "option --%s", option->name);
    if (option->kind != DG_OPTION_LIST && already_given(o, option))
        return usage(e, where, "may be given only once", value == NULL ? "" : value,
                     "keep one of them");
    if (option->kind == DG_OPTION_U64 || option->kind == DG_OPTION_DOUBLE)
        return check_number(option, where, value, e);
    size_t length = strlen(value);
    if (option->kind == DG_OPTION_LIST && length > 0 &&
        (value[0] == ',' || value[length - 1] == ',' || strstr(value, ",,") != NULL))
        return usage(e, where, "must be names with commas between them", value,
                     "leave out the comma that has no name beside it");
    if (option->kind != DG_OPTION_FLAG && option->kind != DG_OPTION_MAYBE && value[0] == '\0')
        return usage(e, where, "needs a value", "an empty text", "give a value or leave it out");
    return true;
}

static bool take_options(poptContext context, struct dg_options *o, struct dg_given *given,
                         struct dg_error *e)
{
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        const struct dg_option *option = row(o->command, (size_t)code - 1);
        char *raw = poptGetOptArg(context);
        const char *value = raw == NULL ? "" : dg_strdup(o->arena, raw);
        free(raw);
        if (value == NULL)
            return no_memory(e);
        if (!check_value(o, option, value, e))
            return false;
        o->help |= option == &dg_options_common[HELP];
        o->version |= option == &dg_options_common[VERSION];
        if (option->kind == DG_OPTION_MAYBE && value[0] == '\0')
            value = NULL;
        given[o->given_count++] = (struct dg_given){ option, value };
    }
    if (code == POPT_ERROR_BADOPT)
        return unknown_option(o, poptBadOption(context, POPT_BADOPTION_NOALIAS), e);
    if (code == POPT_ERROR_NOARG)
        return usage(e, poptBadOption(context, POPT_BADOPTION_NOALIAS), "needs a value", "",
                     "give one");
    if (code < -1)
        return usage(e, poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(code), "",
                     "correct the option");
    return true;
}

static bool take_operands(poptContext context, struct dg_options *o, struct dg_error *e)
{
    const struct dg_command *command = o->command;
    const char **args = poptGetArgs(context);
    size_t count = 0;
    while (args != NULL && args[count] != NULL)
        count++;
    const char **copy = dg_alloc_array(o->arena, count + 1, sizeof *copy);
    if (copy == NULL)
        return no_memory(e);
    for (size_t i = 0; i < count; i++)
        if ((copy[i] = dg_strdup(o->arena, args[i])) == NULL)
            return no_memory(e);
    o->operands = copy;
    o->operand_count = count;
    if (o->help || o->version)
        return true;
    for (size_t i = 0; i < count; i++)
        if (copy[i][0] == '\0')
            return see_help(e, "command line", "needs arguments with something in them",
                            "an empty text", o, NULL, "");
    if (count > command->operands_most) {
        const char *names[16], *near = NULL;
        size_t n = 0;
        for (; command == o->program->commands && n < o->program->command_count && n < 16; n++)
            names[n] = o->program->commands[n].name == NULL ? "" : o->program->commands[n].name;
        near = n > 1 ? dg_name_nearest(copy[0], names, n) : NULL;
        return see_help(e, "command line",
                        command->operands_most == 0 && n > 1 ? "unknown command"
                                                             : "too many arguments",
                        copy[command->operands_most], o, near, "");
    }
    char rule[64];
    dg_format(rule, sizeof rule, "needs %s", command->operands);
    if (count < command->operands_least)
        return see_help(e, "command line", rule, "nothing", o, NULL, "");
    return true;
}

bool dg_options_parse(const struct dg_program *program, int argc, char **argv,
                      struct dg_arena *arena, struct dg_options *out, struct dg_error *e)
{
    int first, count = 0;
    *out = (struct dg_options){ .program = program, .arena = arena };
    out->command = choose_command(program, argc, argv, &first);
    const char **vector = vector_for(out, argc, argv, first, &count);
    struct poptOption *table = popt_table(out);
    /* every argument gives at most as many options as it has letters */
    size_t most = 1;
    for (int i = first; i < argc; i++)
        most += strlen(argv[i]) + 1;
    struct dg_given *given = dg_alloc_array(arena, most, sizeof *given);
    if (vector == NULL || table == NULL || given == NULL)
        return no_memory(e);
    out->given = given;
    poptContext context = poptGetContext(program->name, count, vector, table, 0);
    if (context == NULL)
        return no_memory(e);
    bool ok = take_options(context, out, given, e) && take_operands(context, out, e);
    poptFreeContext(context);
    return ok;
}

static const struct dg_given *find_given(const struct dg_options *o, const char *name)
{
    bool known = false;
    for (size_t i = 0; i < o->command->option_count; i++)
        known |= strcmp(o->command->options[i].name, name) == 0;
    assert(known && "the option stands in the command's table");
    for (size_t i = 0; known && i < o->given_count; i++)
        if (strcmp(o->given[i].option->name, name) == 0)
            return &o->given[i];
    return NULL;
}

bool dg_option_given(const struct dg_options *options, const char *name)
{
    return find_given(options, name) != NULL;
}

const char *dg_option_text(const struct dg_options *options, const char *name)
{
    const struct dg_given *given = find_given(options, name);
    return given == NULL ? NULL : given->value;
}

uint64_t dg_option_u64(const struct dg_options *options, const char *name, uint64_t otherwise)
{
    uint64_t value;
    const struct dg_given *given = find_given(options, name);
    return given != NULL && dg_parse_u64(given->value, &value, NULL) ? value : otherwise;
}

double dg_option_double(const struct dg_options *options, const char *name, double otherwise)
{
    double value;
    const struct dg_given *given = find_given(options, name);
    return given != NULL && dg_parse_double(given->value, &value, NULL) ? value : otherwise;
}

const char *const *dg_option_list(const struct dg_options *options, const char *name,
                                  size_t *count)
{
    static const char *const none[] = { NULL };
    size_t most = 1;
    *count = 0;
    if (find_given(options, name) == NULL)
        return none;
    for (size_t i = 0; i < options->given_count; i++)
        for (const char *c = options->given[i].value; c != NULL && *c != '\0'; c++)
            most += *c == ',';
    const char **out = dg_alloc_array(options->arena, most + options->given_count,
                                      sizeof *out);
    for (size_t i = 0; out != NULL && i < options->given_count; i++) {
        if (strcmp(options->given[i].option->name, name) != 0)
            continue;
        char *copy = dg_strdup(options->arena, options->given[i].value);
        for (char *part = copy, *next; part != NULL; part = next) {
            next = strchr(part, ',');
            if (next != NULL)
                *next++ = '\0';
            out[(*count)++] = part;
        }
    }
    return out == NULL ? none : out;
}

static void interrupted(int signal)
{
    _exit(DG_EXIT_INTERRUPTED);
}

/* --help-man and --help-bash are for the build of this project, not for users. */
static bool made_for_build(const struct dg_program *program, int argc, char **argv)
{
    if (argc != 2)
        return false;
    if (strcmp(argv[1], "--help-man") == 0)
        dg_help_scdoc(program, stdout);
    else if (strcmp(argv[1], "--help-bash") == 0)
        dg_help_completion(program, stdout);
    else
        return false;
    return true;
}

static bool serve(const struct dg_options *options, struct dg_error *e)
{
    if (options->help)
        dg_help_print(options->program, options->command, stdout);
    else if (options->version)
        printf("%s %s\n", options->program->name, DG_VERSION);
    else
        return options->command->run(options, e);
    return true;
}

int dg_program_main(const struct dg_program *program, int argc, char **argv)
{
    struct dg_error e = { .exit_code = DG_EXIT_OK };
    struct dg_arena arena;
    struct dg_options options;
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = interrupted }, before;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);      /* nohup ignores one of them */
    /* a write beyond the limit of file sizes then fails like one to a full disk */
    signal(SIGXFSZ, SIG_IGN);
    dg_arena_init(&arena);
    bool for_build = made_for_build(program, argc, argv);
    bool ok = for_build || dg_options_parse(program, argc, argv, &arena, &options, &e);
    if (ok && !for_build)
        ok = serve(&options, &e);
    /* a failed command's own error comes first; lost output is one only when all else went well */
    struct dg_error lost = { .exit_code = DG_EXIT_OK };
    int code = ok ? DG_EXIT_OK : dg_error_print(program->name, &e);
    if (!dg_stdout_done(&lost) && ok)
        code = dg_error_print(program->name, &lost);
    dg_arena_free(&arena);
    return code;
}
