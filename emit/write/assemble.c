/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run.h"
#include "base/str.h"
#include "base/workdir.h"
#include "emit/write/assemble.h"
#include "emit/write/target.h"

enum { ARGUMENTS = 32, LIMIT_MS = 30000, OBJECT_LIMIT = 1 << 26 };

struct tool {
    const char *argv[ARGUMENTS];           /* what comes before the files */
    size_t count;
    bool driver;                           /* a compiler driver */
};

struct job {
    struct dg_arena *arena;
    struct tool tool;
    struct dg_workdir dir;
    char source[300], object[300];
    struct dg_error *e;
};

static bool split(struct job *job, const char *option, const char *text)
{
    struct tool *tool = &job->tool;
    char *rest = dg_strdup(job->arena, text), *next;
    tool->count = 0;
    if (rest != NULL && strchr(text, '/') != NULL && dg_run_finds(text)) {
        tool->argv[tool->count++] = rest;
        return true;
    }
    for (char *word = rest != NULL ? strtok_r(rest, " \t", &next) : NULL; word != NULL;
         word = strtok_r(NULL, " \t", &next)) {
        if (tool->count + 8 > ARGUMENTS)
            return dg_fail(job->e, DG_EXIT_USAGE, option, "must have fewer arguments", text,
                           "put them into a script and name that");
        tool->argv[tool->count++] = word;
    }
    if (tool->count == 0)
        return dg_fail(job->e, DG_EXIT_USAGE, option, "must name a program", text,
                       "give its name or path");
    if (!dg_run_finds(tool->argv[0]))
        return dg_fail(job->e, DG_EXIT_UNAVAILABLE, option, "must name a program that can be run",
                       tool->argv[0], "give its path, or install it");
    return true;
}

/* The plain names are right only where this program's own code runs on the kernel's target. */
static bool native(const struct dg_target *target)
{
#if defined __x86_64__
    return target == &dg_target_x86_64;
#elif defined __aarch64__
    return target == &dg_target_aarch64;
#else
    return target == NULL;
#endif
}

static bool look(struct job *job, const struct dg_target *target)
{
    static const struct { const char *name; bool driver, plain; } candidates[] = {
        { "as", false, true }, { "cc", true, true },
        { "-as", false, false }, { "-gcc", true, false },
    };
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char name[64];
        if (candidates[i].plain && !native(target))
            continue;
        dg_format(name, sizeof name, "%s%s", candidates[i].plain ? "" : target->triple,
                  candidates[i].name);
        if (dg_run_finds(name)) {
            job->tool.argv[0] = dg_strdup(job->arena, name);
            job->tool.count = 1;
            job->tool.driver = candidates[i].driver;
            return job->tool.argv[0] != NULL;
        }
    }
    char value[128];
    dg_format(value, sizeof value, "none of %s%s-as and %s-gcc in PATH",
              native(target) ? "as, cc, " : "", target->triple, target->triple);
    return dg_fail(job->e, DG_EXIT_UNAVAILABLE, target->architecture, "needs a GNU assembler",
                   value, "install binutils for it, name one with --as or --cc, or write only the "
                          "source with --source-only");
}

static bool choose(struct job *job, const struct dg_assembler *wanted,
                   const struct dg_target *target)
{
    if (wanted != NULL && wanted->as != NULL)
        return split(job, "--as", wanted->as);
    job->tool.driver = wanted != NULL && wanted->cc != NULL;
    if (job->tool.driver)
        return split(job, "--cc", wanted->cc);
    return look(job, target);
}

/* Plainly: nobody needs it after a crash, so the disk need not have it. */
static bool write_source(struct job *job, const char *text)
{
    FILE *out = fopen(job->source, "w");
    bool ok = out != NULL && fputs(text, out) >= 0;
    if (out != NULL && fclose(out) != 0)
        ok = false;
    int number = errno;
    char reason[sizeof job->e->value];
    dg_format(reason, sizeof reason, "%s", ok ? "" : strerror(number));
    return ok || dg_fail(job->e, DG_EXIT_UNAVAILABLE, job->source, "cannot be written", reason,
                         number == EFBIG ? "raise the limit of file sizes (ulimit -f)"
                                         : "set TMPDIR to a folder with room");
}

static bool run(struct job *job, const char *text, struct dg_run *result)
{
    struct tool tool = job->tool;
    if (!write_source(job, text))
        return false;
    unlink(job->object);
    if (tool.driver) {
        tool.argv[tool.count++] = "-c";
        tool.argv[tool.count++] = "-x";
        tool.argv[tool.count++] = "assembler";
    }
    tool.argv[tool.count++] = "-o";
    tool.argv[tool.count++] = job->object;
    tool.argv[tool.count++] = job->source;
    tool.argv[tool.count] = NULL;
    return dg_run(tool.argv, LIMIT_MS, result, job->e);
}

static bool accepted(const struct dg_run *result)
{
    return !result->late && result->status == 0;
}

/* Each row once, alone in a file: the first that is refused. */
static const char *refused(struct job *job, const struct dg_ir_code *code)
{
    const struct dg_target *target = dg_target_for(code->isa);
    const struct dg_function f = { .code = code, .name = "", .label = ".Lk" };
    for (size_t i = 0; i < code->count; i++) {
        const struct dg_ir_op *op = &code->item[i].op;
        bool seen = code->item[i].kind != DG_IR_OPERATION || strchr(op->op->operands, 'l') != NULL;
        for (size_t j = 0; j < i && !seen; j++)
            seen = code->item[j].kind == DG_IR_OPERATION && code->item[j].op.op == op->op;
        if (seen)
            continue;
        struct dg_str text, line;
        struct dg_run result;
        dg_str_init(&text, job->arena);
        dg_str_init(&line, job->arena);
        target->begin(&text, code->isa);
        dg_spell(&line, target, &f, op);
        dg_str_add(&text, dg_str_text(&line));
        if (line.failed || text.failed || !run(job, dg_str_text(&text), &result))
            return NULL;
        if (!accepted(&result)) {
            char *found = dg_strdup(job->arena, dg_str_text(&line) + 1);
            if (found != NULL)
                found[strcspn(found, "\n")] = '\0';
            return found;
        }
    }
    return NULL;
}

/* A file without instructions: what refuses it is no assembler of the target, or cannot write. */
static bool run_bare(struct job *job, const struct dg_isa *isa, struct dg_run *result)
{
    struct dg_str text;
    dg_str_init(&text, job->arena);
    dg_target_for(isa)->begin(&text, isa);
    return run(job, dg_str_text(&text), result);
}

static bool explain(struct job *job, const struct dg_run *result,
                    const struct dg_ir_code *const *codes, size_t code_count)
{
    const char *tool = job->tool.argv[0];
    char value[sizeof job->e->value], rule[sizeof job->e->rule];
    struct dg_run bare;
    dg_run_words(result, job->dir.path, value, sizeof value);
    if (result->late)
        return dg_fail(job->e, DG_EXIT_UNAVAILABLE, tool, "must end within 30 seconds", value,
                       "name another assembler with --as or --cc");
    if (!run_bare(job, codes[0]->isa, &bare))
        return false;
    if (!accepted(&bare)) {
        dg_run_words(&bare, job->dir.path, value, sizeof value);
        return dg_fail(job->e, DG_EXIT_UNAVAILABLE, tool,
                       "must assemble, but refuses even a file without instructions", value,
                       "name an assembler with --as or a compiler with --cc, or write only the "
                       "source with --source-only");
    }
    for (size_t i = 0; i < code_count; i++) {
        const char *found = refused(job, codes[i]);
        if (found == NULL)
            continue;
        dg_format(rule, sizeof rule, "must know %s, but refuses `%s`", codes[i]->isa->features,
                  found);
        return dg_fail(job->e, DG_EXIT_UNAVAILABLE, tool, rule, value,
                       "use newer binutils, name another assembler with --as or --cc, or write "
                       "only the source with --source-only");
    }
    return dg_fail(job->e, DG_EXIT_UNAVAILABLE, tool, "must assemble the kernel", value,
                   "name another assembler with --as or --cc");
}

static bool work(struct job *job, const char *source, const struct dg_ir_code *const *codes,
                 size_t code_count, const char **bytes, size_t *size)
{
    struct dg_run result;
    dg_workdir_path(&job->dir, "kernel.s", job->source, sizeof job->source);
    dg_workdir_path(&job->dir, "kernel.o", job->object, sizeof job->object);
    if (!run(job, source, &result))
        return false;
    if (!accepted(&result))
        return explain(job, &result, codes, code_count);
    if (access(job->object, R_OK) != 0)
        return dg_fail(job->e, DG_EXIT_UNAVAILABLE, job->tool.argv[0], "must write an object",
                       "it ended well without one", "name another assembler with --as or --cc");
    *bytes = dg_file_read(job->object, OBJECT_LIMIT, job->arena, size, job->e);
    return *bytes != NULL;
}

bool dg_assemble(const struct dg_assembler *assembler, const char *name, const char *source,
                 const struct dg_ir_code *const *codes, size_t code_count,
                 struct dg_arena *arena, const char **bytes, size_t *size, const char **tool,
                 struct dg_error *e)
{
    struct dg_error none;
    struct job job = { .arena = arena, .e = e != NULL ? e : &none };
    const struct dg_target *target = dg_target_for(codes[0]->isa);
    if (target == NULL)
        return dg_fail(e, DG_EXIT_UNAVAILABLE, name, "needs a target that kernels are written for",
                       codes[0]->isa->name, "choose another with --isa");
    if (!choose(&job, assembler, target) || !dg_workdir_open(&job.dir, job.e))
        return false;
    bool ok = work(&job, source, codes, code_count, bytes, size);
    dg_workdir_close(&job.dir);
    *tool = job.tool.argv[0];
    return ok;
}
