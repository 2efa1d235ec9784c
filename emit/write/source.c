/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME.s: comments, entry points, the code item by item. */
#include <string.h>

#include "base/str.h"
#include "emit/write/source.h"
#include "emit/write/target.h"

struct writer {
    struct dg_str out;
    const struct dg_kernel *kernel;
    const struct dg_target *target;
    const char *comment;         /* starts one */
    size_t counted;              /* bytes of `out` whose lines are in `lines` */
    unsigned lines;
};

uint64_t dg_kernel_cycles(const struct dg_plan *plan)
{
    return (uint64_t)((plan->cycles + DG_COST_ONE / 2) / DG_COST_ONE);
}

const char *dg_layout_text(enum dg_layout layout)
{
    return layout == DG_ROW_MAJOR ? "row_major" : layout == DG_COL_MAJOR ? "col_major" : "packed";
}

const char *dg_options_text(const struct dg_kernel *kernel, struct dg_arena *arena)
{
    const struct dg_problem *p = kernel->problem;
    struct dg_str out;
    dg_str_init(&out, arena);
    dg_str_format(&out, "--name %s --isa %s --m %llu --n %llu --k %llu --dtype %s", p->name,
                  kernel->plan->body.isa->name, (unsigned long long)p->m,
                  (unsigned long long)p->n, (unsigned long long)p->k, dg_dtype_names[p->dtype]);
    dg_str_format(&out, " --layout-a %s --layout-b %s --layout-c %s", dg_layout_text(p->layout_a),
                  dg_layout_text(p->layout_b), dg_layout_text(p->layout_c));
    dg_str_format(&out, " --layout-lda %llu --layout-ldb %llu --layout-ldc %llu --beta %d",
                  (unsigned long long)p->lda,
                  (unsigned long long)p->ldb, (unsigned long long)p->ldc, p->beta);
    dg_str_format(&out, " --objective %s",
                  p->objective == DG_OBJECTIVE_CYCLES ? "cycles"
                  : p->intensity_divides              ? "intensity-dividing"
                                                      : "intensity");
    if (p->enable_debug)
        dg_str_add(&out, " --codegen-enable-debug true");
    if (p->tile_m != 0)
        dg_str_format(&out, " --codegen-tile-m %u", p->tile_m);
    if (p->tile_n != 0)
        dg_str_format(&out, " --codegen-tile-n %u", p->tile_n);
    return out.failed ? NULL : dg_str_text(&out);
}

static void line(struct writer *w, const char *text)
{
    dg_str_format(&w->out, "%s%s%s\n", w->comment, text[0] != '\0' ? " " : "", text);
}

static void put_plan(struct writer *w)
{
    const struct dg_plan *plan = w->kernel->plan;
    dg_str_format(&w->out, "%s Tile %u x %u, blocks kc %llu mc %llu nc %llu, %s%s%s, unroll %u\n",
                  w->comment, plan->tile.rows, plan->tile.vectors * plan->body.lanes,
                  (unsigned long long)plan->kc_elements, (unsigned long long)plan->mc,
                  (unsigned long long)plan->nc,
                  dg_inner_text(plan->inner),
                  plan->along ? ", last columns along k" : "",
                  plan->prefetch ? ", next panel prefetched" : "", plan->unroll);
    dg_str_format(&w->out, "%s Estimated cycles: %llu\n", w->comment,
                  (unsigned long long)dg_kernel_cycles(plan));
    for (size_t i = 0; i < plan->term_count; i++)
        if (plan->terms[i].cost > 0)
            dg_str_format(&w->out, "%s   %10llu  %s\n", w->comment,
                          (unsigned long long)((plan->terms[i].cost + DG_COST_ONE / 2) /
                                               DG_COST_ONE),
                          plan->terms[i].title);
}

/* Neighbours with one name share a line. */
static void put_vectors(struct writer *w, const struct dg_ir_code *code)
{
    const char *vector = w->target->vector(code->isa);
    for (unsigned i = 0, last; i < code->isa->vector_registers; i = last + 1) {
        const char *name = code->vector_name[last = i];
        if (name == NULL || (code->vectors_used >> i & 1) == 0)
            continue;
        while (last + 1 < code->isa->vector_registers && code->vector_name[last + 1] != NULL &&
               (code->vectors_used >> (last + 1) & 1) != 0 &&
               strcmp(code->vector_name[last + 1], name) == 0)
            last++;
        char range[32];
        dg_format(range, sizeof range, last > i ? "%s%u-%u" : "%s%u", vector, i, last);
        dg_str_format(&w->out, "%s   %-10s%s\n", w->comment, range, name);
    }
}

static void put_register_map(struct writer *w, const struct dg_ir_code *code, const char *what)
{
    dg_str_format(&w->out, "%s Registers of %s:\n", w->comment, what);
    for (unsigned i = 0; i < code->isa->scalar_registers; i++)
        if (code->scalar_name[i] != NULL)
            dg_str_format(&w->out, "%s   %-10s%s\n", w->comment, w->target->scalar(i),
                          code->scalar_name[i]);
    put_vectors(w, code);
    for (unsigned i = 0; i < code->masks; i++)
        dg_str_format(&w->out, "%s   %%k%-8ufirst %u lanes\n", w->comment, i + 1,
                      code->mask_part[i]);
}

static void put_head(struct writer *w, const char *options)
{
    const struct dg_kernel *k = w->kernel;
    const struct dg_problem *p = k->problem;
    dg_str_format(&w->out, "%s %s: C[%llu,%llu] %s A[%llu,%llu] * B[%llu,%llu], %s, %s\n",
                  w->comment, p->name, (unsigned long long)p->m, (unsigned long long)p->n,
                  p->beta != 0 ? "+=" : "=", (unsigned long long)p->m, (unsigned long long)p->k,
                  (unsigned long long)p->k, (unsigned long long)p->n, dg_dtype_names[p->dtype],
                  k->plan->body.isa->name);
    dg_str_format(&w->out, "%s Written by deepgemm-gen %s\n", w->comment, k->tool_version);
    dg_str_format(&w->out, "%s Options: %s\n", w->comment, options);
    dg_str_format(&w->out, "%s Planned for: %s, values read: %s\n", w->comment, k->profile_name,
                  k->profile_hash);
    put_plan(w);
    line(w, "");
    put_register_map(w, k->run, "the product");
    if (k->pack != NULL) {
        line(w, "");
        put_register_map(w, k->pack, "packing B");
    }
    line(w, "");
}

/* Line numbers by hand, with the source's bare name: an assembler's own would hold the folder it
 * ran in. */
static void put_location(struct writer *w)
{
    if (w->kernel->debug_name == NULL)
        return;
    for (; w->counted < w->out.length; w->counted++)
        w->lines += w->out.text[w->counted] == '\n';
    dg_str_format(&w->out, "\t.loc 0 %u\n", w->lines + 2);
}

static void put_debug_unit(struct writer *w)
{
    const char *name = w->kernel->debug_name;
    if (name == NULL)
        return;
    dg_str_format(&w->out, "\n\t.text\n.Lend:\n\t.section .debug_abbrev, \"\", %cprogbits\n",
                  w->target->type_sign);
    dg_str_add(&w->out, "\t.byte 1, 0x11, 0, 0x10, 0x17, 3, 8, 0x1b, 8, 0x11, 1, 0x12, 7, 0x13, 5\n"
                        "\t.byte 0, 0, 0\n");
    dg_str_format(&w->out, "\t.section .debug_info, \"\", %cprogbits\n"
                           "\t.4byte .Linfo_end - .Linfo\n.Linfo:\n\t.2byte 4\n"
                           "\t.4byte .debug_abbrev\n\t.byte 8, 1\n\t.4byte .debug_line\n",
                  w->target->type_sign);
    dg_str_format(&w->out, "\t.asciz \"%s\"\n\t.asciz \".\"\n\t.8byte .Ltext\n"
                           "\t.8byte .Lend - .Ltext\n\t.2byte 0x8001\n.Linfo_end:\n"
                           "\t.section .debug_line, \"\", %cprogbits\n",
                  name, w->target->type_sign);
}

static void begin_function(struct writer *w, const char *name, const char *suffix)
{
    dg_str_format(&w->out, "\n\t.globl %s%s\n\t.type %s%s, %cfunction\n\t.p2align 6\n%s%s:\n"
                           "\t.cfi_startproc\n",
                  name, suffix, name, suffix, w->target->type_sign, name, suffix);
    put_location(w);
    dg_str_add(&w->out, w->target->entry_mark);
}

static void end_function(struct writer *w, const char *name, const char *suffix)
{
    dg_str_format(&w->out, "\t.cfi_endproc\n\t.size %s%s, . - %s%s\n", name, suffix, name, suffix);
}

/* The first and the last stamp bound the call: these wait for what goes before. */
static bool is_outermost(const struct dg_ir_code *code, size_t index)
{
    bool before = false, after = false;
    for (size_t i = 0; i < code->count; i++)
        if (code->item[i].kind == DG_IR_STAMP && i != index)
            *(i < index ? &before : &after) = true;
    return !before || !after;
}

static void put_item(struct writer *w, struct dg_function *f, const struct dg_ir_item *item)
{
    switch (item->kind) {
    case DG_IR_OPERATION:
        put_location(w);
        dg_spell(&w->out, w->target, f, &item->op);
        break;
    case DG_IR_TARGET:
        if (item->hot)
            dg_str_add(&w->out, "\t.p2align 5\n");
        dg_str_format(&w->out, "%s_%u:\n", f->label, item->label);
        break;
    case DG_IR_COMMENT:
        dg_str_format(&w->out, "\t%s %s\n", w->comment, item->text);
        break;
    case DG_IR_STAMP:
        if (f->timed) {
            size_t i = (size_t)(item - f->code->item);
            dg_frame_stamp(&w->out, w->target, f, is_outermost(f->code, i));
        }
        break;
    }
}

/* From the label of the body to the return. */
static void put_body(struct writer *w, struct dg_function *f)
{
    dg_frame_enter(&w->out, w->target, f);
    for (size_t i = 0; i < f->code->count; i++)
        put_item(w, f, &f->code->item[i]);
    dg_frame_leave(&w->out, w->target, f);
}

static void put_product(struct writer *w)
{
    const struct dg_kernel *k = w->kernel;
    const struct dg_problem *p = k->problem;
    struct dg_function f = { .code = k->run, .name = p->name, .label = ".Lrun", .timed = true };
    struct dg_checks checks = {
        .name = p->name, .label = f.label, .m = p->m, .a = p->k > 0, .b = p->k > 0, .c = true,
        .b_alignment = k->pack != NULL ? DG_PACKED_ALIGNMENT : 1,
    };
    begin_function(w, p->name, "_ex");
    w->target->checked_entry(&w->out, &checks);
    end_function(w, p->name, "_ex");
    begin_function(w, p->name, "");
    dg_str_format(&w->out, ".ifdef DG_TIMING\n%s.endif\n%s:\n", w->target->no_stamps, f.label);
    put_body(w, &f);
    end_function(w, p->name, "");
}

static void put_packing(struct writer *w)
{
    const struct dg_kernel *k = w->kernel;
    const char *name = k->problem->name;
    struct dg_function f = { .code = k->pack, .name = name, .label = ".Lpack" };
    begin_function(w, name, "_packed_b_size");
    w->target->constant(&w->out, k->packed_b_size);
    end_function(w, name, "_packed_b_size");
    begin_function(w, name, "_pack_b");
    put_body(w, &f);
    end_function(w, name, "_pack_b");
}

const char *dg_source_text(const struct dg_kernel *kernel, struct dg_arena *arena)
{
    const struct dg_isa *isa = kernel->plan->body.isa;
    const char *options = dg_options_text(kernel, arena);
    struct writer w = { .kernel = kernel, .target = dg_target_for(isa), .comment = isa->comment };
    if (options == NULL || w.target == NULL)
        return NULL;
    dg_str_init(&w.out, arena);
    put_head(&w, options);
    w.target->begin(&w.out, isa);
    if (kernel->debug_name != NULL)
        dg_str_format(&w.out, "\t.file 0 \".\" \"%s\"\n", kernel->debug_name);
    dg_str_add(&w.out, kernel->debug_name != NULL ? "\t.text\n.Ltext:\n" : "\t.text\n");
    put_product(&w);
    if (kernel->pack != NULL)
        put_packing(&w);
    put_debug_unit(&w);
    dg_str_addc(&w.out, '\n');
    dg_str_add(&w.out, w.target->notes);
    return w.out.failed ? NULL : dg_str_text(&w.out);
}
