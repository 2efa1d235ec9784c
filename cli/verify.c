/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/report.h"
#include "base/run.h"
#include "base/str.h"
#include "cli/options.h"
#include "emit/write/manifest.h"
#include "microbench/host/host.h"
#include "verify/verify.h"

static const struct dg_option verify_options[] = {
#include "cli/verify.def"
};

static struct dg_verify_options take_options(const struct dg_options *o)
{
    return (struct dg_verify_options){
        .emulate = dg_option_given(o, "qemu"),
        .qemu = dg_option_text(o, "qemu"),
        .cc = dg_option_text(o, "cc"),
        .as = dg_option_text(o, "as"),
        .seed = dg_option_u64(o, "seed", 1),
        .timeout = dg_option_double(o, "timeout", 0),
        .timing_only = dg_option_given(o, "timing-only"),
        .timing = !dg_option_given(o, "no-timing"),
        .quiet_seconds = dg_option_double(o, "quiet", 20),
        .rounds = (unsigned)dg_option_u64(o, "rounds", 10),
        .cpu = dg_option_given(o, "cpu") ? (int)dg_option_u64(o, "cpu", 0) : -1,
    };
}

/* Asked for before minutes of checks: only the timing would miss the CPU. */
static bool check_cpu(const struct dg_verify_options *options, struct dg_error *e)
{
    char value[16];
    struct dg_host host;
    struct dg_cpus allowed;
    dg_host_system(&host, NULL);
    if (options->cpu < 0 || !host.get_affinity(&host, &allowed) ||
        dg_cpus_have(&allowed, (unsigned)options->cpu))
        return true;
    dg_format(value, sizeof value, "%d", options->cpu);
    return dg_fail(e, DG_EXIT_USAGE, "--cpu", "must be an allowed CPU", value,
                   "choose one that this process may use (see nproc and taskset -p)");
}

static bool check_tool(const char *option, const char *name, struct dg_error *e)
{
    return name == NULL || dg_run_finds(name) ||
           dg_fail(e, DG_EXIT_UNAVAILABLE, option, "must name a program that can be run", name,
                   "give its path, install it, or leave the option out");
}

static bool check_json(const char *path, struct dg_arena *arena, struct dg_error *e)
{
    struct dg_manifest ignored;
    struct stat about;
    if (path == NULL)
        return true;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
        dg_manifest_read(path, arena, &ignored, NULL))
        return dg_fail(e, DG_EXIT_USAGE, "--json", "must not replace the manifest of a kernel",
                       path, "give another path");
    return dg_file_check(path, e);
}

static bool write_json(const struct dg_verify_report *report, const char *path,
                       struct dg_arena *arena, struct dg_error *e)
{
    struct dg_str text;
    dg_str_init(&text, arena);
    dg_report_json(report, &text);
    if (text.failed)
        return dg_fail_memory(e, path);
    return dg_file_write(path, text.text, text.length, e);
}

/* The report goes to stdout also when it is not good; a file that cannot be written weighs more
 * than a kernel that cannot be run, less than one that is wrong. */
static bool run(const struct dg_options *o, struct dg_error *e)
{
    struct dg_verify_options options = take_options(o);
    if (options.timing_only && (!options.timing || options.emulate))
        return dg_fail(e, DG_EXIT_USAGE, "--timing-only",
                       "goes with neither --no-timing nor --qemu", "", "leave one out");
    const char *json = dg_option_text(o, "json");
    if (!check_cpu(&options, e) || !check_tool("--cc", options.cc, e) ||
        !check_tool("--as", options.as, e) || !check_json(json, o->arena, e))
        return false;
    struct dg_verify_report report;
    struct dg_str text;
    struct dg_error unwritten;
    enum dg_exit code = dg_verify(o->operands[0], &options, o->arena, &report, e);
    dg_str_init(&text, o->arena);
    if (dg_option_given(o, "table"))
        dg_report_table(&report, &text);
    else
        dg_report_text(&report, &text);
    if (report.count > 0 && (json == NULL || strcmp(json, "/dev/stdout") != 0))
        dg_print_plain(stdout, dg_str_text(&text));
    if (report.count > 0 && json != NULL && !write_json(&report, json, o->arena, &unwritten)) {
        if (code != DG_EXIT_CHECK)
            *e = unwritten;
        return false;
    }
    return code == DG_EXIT_OK;
}

static const struct dg_command commands[] = {
    {.name = "verify", .operands = "PATH", .operands_least = 1, .operands_most = 1,
     .summary = "Checks generated kernels: right, busy, near the roof?",
     .options = verify_options,
     .option_count = sizeof verify_options / sizeof *verify_options, .run = run},
};

static const struct dg_program program = {
    .name = "deepgemm-verify",
    .summary = "checks generated kernels and measures them",
    .description =
        "PATH is a folder (every NAME.json in it that deepgemm-gen wrote), a NAME.json or a NAME.o "
        "with its NAME.json beside.\n\n"
        "Each kernel is linked into a shared object and runs in a process of its own, with a time "
        "limit. Every element is compared with a double-precision reference within a derived "
        "bound; memory next to the operands is unmapped; registers, flags and stack are checked; a "
        "system call is a fault. "
        "Then it is timed in core cycles while the core is undisturbed, and set against the peak "
        "measured in the same run. Slow is never a failure.\n\n"
        "Exit codes: 0 all pass, 1 a check failed, 2 wrong usage, 3 a broken manifest or object, "
        "4 this machine cannot run a kernel or lacks a tool.",
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
};

int main(int argc, char **argv)
{
    return dg_program_main(&program, argc, argv);
}
