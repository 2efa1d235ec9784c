/* SPDX-License-Identifier: Apache-2.0
 *
 * deepgemm-gen: a plan and its kernel for a chip. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/gen.h"
#include "cli/gen_plan.h"
#include "emit/write/emit.h"
#include "emit/write/source.h"

static const struct dg_option gen_options[] = {
#include "cli/gen_problem.def"
#include "cli/gen.def"
};
static const struct dg_option plan_options[] = {
#include "cli/gen_problem.def"
    DG_OPTION("json", 0, FLAG, "", 0, 0, "print the plan as JSON")
    DG_OPTION("what-if", 0, TEXT, "CHANGES", 0, 0,
              "also plan for a chip with other values, KEY=NUMBER apart by commas (KEY=null takes "
              "one away), and print the difference")
};

/* Where the files go. */
struct place { const char *folder, *stem; };

static bool ends_in_s(const char *path)
{
    size_t length = strlen(path);
    return length > 2 && strcmp(path + length - 2, ".s") == 0;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool choose_place(const struct dg_options *options, const struct dg_problem *problem,
                         struct place *out, struct dg_error *e)
{
    const char *file = dg_option_text(options, "output");
    const char *given = dg_option_text(options, "output-dir");
    if (given != NULL && ends_in_s(given) && !is_folder(given))
        return dg_fail(e, DG_EXIT_USAGE, "-o", "must be a folder", given,
                       "to name the source use --output FILE.s");
    *out = (struct place){ problem->output_dir[0] != '\0' ? problem->output_dir : ".", NULL };
    if (file == NULL)
        return true;
    if (given != NULL)
        return dg_fail(e, DG_EXIT_USAGE, "--output", "must not stand beside -o", file,
                       "give one of the two");
    const char *slash = strrchr(file, '/'), *base = slash != NULL ? slash + 1 : file;
    if (!ends_in_s(base))
        return dg_fail(e, DG_EXIT_USAGE, "--output", "must be a path that ends in .s", file,
                       "for a folder use -o DIR");
    char *folder = dg_strdup(options->arena, slash == NULL ? "." : slash == file ? "/" : file);
    char *stem = dg_strdup(options->arena, base);
    if (folder == NULL || stem == NULL)
        return dg_fail_memory(e, file);
    if (slash != NULL && slash != file)
        folder[slash - file] = '\0';
    stem[strlen(stem) - 2] = '\0';
    *out = (struct place){ folder, stem };
    return true;
}

/* hardware.json would become the manifest of a kernel of that name. */
static bool keep_inputs(const struct dg_options *options, const struct dg_emitted *emitted,
                        const char *folder, struct dg_error *e)
{
    static const char *const inputs[] = { "hardware", "config" };
    for (size_t i = 0; i < 2 * emitted->count; i++) {
        const char *input = dg_option_text(options, inputs[i % 2]);
        struct dg_str path;
        dg_str_init(&path, options->arena);
        dg_str_format(&path, "%s/%s", folder, emitted->file[i / 2].name);
        if (input != NULL && dg_file_same(input, dg_str_text(&path)))
            return dg_fail(e, DG_EXIT_USAGE, dg_str_text(&path),
                           "must not be replaced, since it is read", input,
                           "choose another folder with -o, or another --name");
    }
    return true;
}

static void print_assumed(const struct dg_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->read_count; i++)
        count += view->reads[i].assumed;
    if (count == 0)
        return;
    printf("assumed:   %zu value%s that the hardware file lacks\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < view->read_count; i++)
        if (view->reads[i].assumed) {
            struct dg_str number;
            dg_str_init(&number, view->arena);
            dg_str_double(&number, view->reads[i].used);
            printf("           %s = %s\n", view->reads[i].key, dg_str_text(&number));
        }
}

static void print_plan(const struct dg_problem *p, const struct dg_plan *plan)
{
    double cycles = (double)plan->cycles / DG_COST_ONE;
    double operations = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    double peak = (double)plan->peak / DG_COST_ONE;
    printf("kernel:    %s, %s\n", p->name, plan->body.isa->name);
    printf("plan:      tile %u x %u, blocks kc %llu, mc %llu, nc %llu, %s%s\n", plan->tile.rows,
           plan->tile.vectors * plan->body.lanes, (unsigned long long)plan->kc_elements,
           (unsigned long long)plan->mc, (unsigned long long)plan->nc,
           dg_inner_text(plan->inner),
           plan->prefetch ? ", prefetch" : "");
    printf("predicted: %llu cycles", (unsigned long long)dg_kernel_cycles(plan));
    if (operations > 0 && peak > 0 && cycles > 0)
        printf(", %.1f%% of the peak of %.1f operations per cycle",
               100 * operations / cycles / peak, peak);
    printf("\n");
}

static bool generate(const struct dg_options *options, struct dg_error *e)
{
    struct dg_gen_input in;
    struct dg_emitted emitted;
    struct place place = { ".", NULL };
    if (dg_option_given(options, "as") && dg_option_given(options, "cc"))
        return dg_fail(e, DG_EXIT_USAGE, "--as", "must not stand beside --cc",
                       dg_option_text(options, "cc"), "give one of the two");
    if (!dg_gen_plan(options, &in, e) || !choose_place(options, &in.problem, &place, e))
        return false;
    const struct dg_emit_options emit = {
        .tool_version = DG_VERSION,
        .assembler = { dg_option_text(options, "as"), dg_option_text(options, "cc") },
        .source_only = dg_option_given(options, "source-only"),
        .stem = place.stem,
    };
    if (!dg_emit_make(&in.problem, &in.plan, &emit, options->arena, &emitted, e) ||
        !keep_inputs(options, &emitted, place.folder, e) ||
        !dg_emit_write(&emitted, place.folder, options->arena, e))
        return false;
    print_plan(&in.problem, &in.plan.best);
    print_assumed(&in.plan.view);
    printf("files:    ");
    for (size_t i = 0; i < emitted.count; i++)
        printf(" %s/%s", place.folder, emitted.file[i].name);
    printf("\n");
    return true;
}

static bool plan_only(const struct dg_options *options, struct dg_error *e)
{
    struct dg_gen_input in;
    const char *changes = dg_option_text(options, "what-if");
    if (!dg_gen_plan(options, &in, e))
        return false;
    if (changes != NULL)
        return dg_cli_gen_what_if(&in, changes, dg_option_given(options, "json"), e);
    return dg_cli_gen_plan(&in, dg_option_given(options, "json"), e);
}

static const struct dg_command commands[] = {
    { .name = "generate", .operands = "", .summary = "Plans a product and writes its kernel.",
      .options = gen_options, .option_count = sizeof gen_options / sizeof *gen_options,
      .run = generate },
    { .name = "plan", .operands = "", .summary = "Plans only, and explains the plan.",
      .options = plan_options, .option_count = sizeof plan_options / sizeof *plan_options,
      .run = plan_only },
};

static const struct dg_program program = {
    .name = "deepgemm-gen",
    .summary = "writes a matrix product kernel for a measured chip",
    .description =
        "Takes a hardware file and a product, finds the best plan for that chip by exact search, "
        "and writes NAME.s, NAME.h, NAME.o, libNAME.a and NAME.json: all of them or none. Nothing "
        "of the machine that runs it gets in: the same inputs give the same bytes.\n\n"
        "The object comes from `as` or `cc` for a kernel of this architecture, from TRIPLE-as or "
        "TRIPLE-gcc in PATH for another one, or from the program named with --as or --cc.\n\n"
        "A value that the hardware file lacks is replaced by a conservative default, which is "
        "printed and listed in NAME.json; --strict refuses instead.",
    .commands = commands, .command_count = sizeof commands / sizeof *commands,
    .default_named = true,
};

int main(int argc, char **argv)
{
    return dg_program_main(&program, argc, argv);
}
