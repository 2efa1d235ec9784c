/* SPDX-License-Identifier: Apache-2.0 */
#include "random_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = random->state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t random_in(struct random *random, uint64_t low, uint64_t high)
{
    return low + random_next(random) % (high - low + 1);
}

static void random_tile(struct random *random, struct dg_plan *plan)
{
    unsigned registers = plan->body.isa->vector_registers;
    do {
        plan->tile.rows = (unsigned)random_in(random, 1, registers - 3);
        plan->tile.vectors = (unsigned)random_in(random, 1, 6);
    } while (dg_body_registers(&plan->body, plan->tile) > registers);
}

/* rows = count[0] * size[0] + count[1] * size[1] with these sizes. */
static bool split_with(uint64_t rows, const uint32_t size[2], struct dg_split *out)
{
    *out = (struct dg_split){ .size = { size[0], size[1] } };
    for (uint64_t first = rows / size[0] + 1; first-- > 0;) {
        uint64_t left = rows - first * size[0];
        if (left == 0 || (size[1] > 0 && left % size[1] == 0)) {
            out->count[0] = (uint32_t)first;
            out->count[1] = left == 0 ? 0 : (uint32_t)(left / size[1]);
            return true;
        }
    }
    return false;
}

static void split_m(struct random *random, uint64_t m, struct dg_plan *plan)
{
    uint64_t blocks = random_in(random, 1, 4);
    for (;; blocks = 1) {
        plan->mc = (m + blocks - 1) / blocks;
        plan->m_blocks = (m + plan->mc - 1) / plan->mc;
        plan->mc_last = m - (plan->m_blocks - 1) * plan->mc;
        uint64_t tiles = (plan->mc + plan->tile.rows - 1) / plan->tile.rows;
        uint32_t size[2] = { (uint32_t)((plan->mc + tiles - 1) / tiles), 0 };
        size[1] = size[0] - 1;
        if (split_with(plan->mc, size, &plan->rows) &&
            split_with(plan->mc_last, size, &plan->rows_last))
            return;
    }
}

static void split_n(struct random *random, uint64_t n, struct dg_plan *plan)
{
    uint64_t nr = (uint64_t)plan->tile.vectors * plan->body.lanes, all = n / nr;
    plan->tail_columns = (unsigned)(n % nr);
    plan->tail_vectors = (plan->tail_columns + plan->body.lanes - 1) / plan->body.lanes;
    plan->tail_part = plan->tail_columns % plan->body.lanes;
    plan->panels = all == 0 ? 0 : random_in(random, 1, all);
    plan->n_blocks = all == 0 ? 1 : (all + plan->panels - 1) / plan->panels;
    if (all > 0 && plan->tail_columns != 0 && all % plan->panels == 0 && random_next(random) % 2)
        plan->n_blocks++;                  /* the tail alone in the last block */
    plan->panels_last = all - (plan->n_blocks - 1) * plan->panels;
    if (plan->n_blocks == 1)
        plan->panels = plan->panels_last;
    plan->nc = plan->n_blocks == 1 ? n : plan->panels * nr;
    plan->nc_last = n - (plan->n_blocks - 1) * plan->nc;
}

static void split_k(struct random *random, uint64_t k, struct dg_plan *plan)
{
    uint64_t blocks = random_next(random) % 2 ? 1 : random_in(random, 1, 4);
    plan->kc = (k + blocks - 1) / blocks;
    plan->k_blocks = k == 0 ? 1 : (k + plan->kc - 1) / plan->kc;
    plan->kc_last = k - (plan->k_blocks - 1) * plan->kc;
}

void random_case(struct random *random, const struct dg_isa *isa, uint64_t limit,
                 struct random_case *out)
{
    struct dg_problem *p = &out->problem;
    struct dg_plan *plan = &out->plan;
    memset(out, 0, sizeof *out);
    *p = (struct dg_problem){
        .name = "random", .dtype = DG_F32, .m = random_in(random, 1, limit),
        .n = random_in(random, 1, limit),
        .k = random_in(random, 0, random_next(random) % 8 == 0 ? 8 * limit : limit),
        .layout_b = random_next(random) % 2 ? DG_PACKED : DG_ROW_MAJOR,
        .beta = (int)(random_next(random) % 2),
    };
    bool gaps = random_next(random) % 2 != 0;
    p->lda = (p->k == 0 ? 1 : p->k) + (gaps ? random_in(random, 0, 5) : 0);
    p->ldb = p->n + (gaps ? random_in(random, 0, 5) : 0);
    p->ldc = p->n + (gaps ? random_in(random, 0, 5) : 0);
    if (random_next(random) % 16 == 0) {   /* rows far from one another */
        p->lda += random_in(random, 1, 6000);
        p->ldb += random_in(random, 1, 3000);
        p->ldc += random_in(random, 1, 3000);
    }
    dg_body_for(isa, DG_F32, &plan->body);
    random_tile(random, plan);
    split_m(random, p->m, plan);
    split_n(random, p->n, plan);
    split_k(random, p->k, plan);
    plan->inner = random_next(random) % 2 ? DG_PANELS_OUTER : DG_TILES_OUTER;
    plan->prefetch = random_next(random) % 2 != 0;
    plan->unroll = (unsigned)random_in(random, 1, 8);
    plan->schedule = random_in(random, 0, 3) > 0;
    plan->issue = (unsigned)random_in(random, 0, 6);
    plan->cycles = (dg_cost)random_in(random, 0, 100000000) * DG_COST_ONE;
    snprintf(out->text, sizeof out->text,
             "%s m %llu n %llu k %llu lda %llu ldb %llu ldc %llu beta %d %s tile %ux%u "
             "mc %llu nc %llu kc %llu %s unroll %u prefetch %d", isa->name,
             (unsigned long long)p->m, (unsigned long long)p->n, (unsigned long long)p->k,
             (unsigned long long)p->lda, (unsigned long long)p->ldb, (unsigned long long)p->ldc,
             p->beta, p->layout_b == DG_PACKED ? "packed" : "row-major", plan->tile.rows,
             plan->tile.vectors, (unsigned long long)plan->mc, (unsigned long long)plan->nc,
             (unsigned long long)plan->kc,
             plan->inner == DG_PANELS_OUTER ? "panels outer" : "tiles outer", plan->unroll,
             plan->prefetch);
}

static uint64_t elements(uint64_t rows, uint64_t columns, uint64_t ld)
{
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
}

static float *random_floats(struct random *random, struct dg_arena *arena, uint64_t count)
{
    float *out = dg_alloc_array(arena, count + 1, sizeof *out);
    for (uint64_t i = 0; i < count; i++)
        out[i] = (float)((double)(random_next(random) >> 40) / (1 << 23) - 1.0);
    return out;
}

static void multiply(const struct dg_problem *p, const float *a, const float *b, float *c)
{
    for (uint64_t i = 0; i < p->m; i++)
        for (uint64_t j = 0; j < p->n; j++) {
            float sum = p->beta ? c[i * p->ldc + j] : 0.0f;
            for (uint64_t k = 0; k < p->k; k++)
                sum = fmaf(a[i * p->lda + k], b[k * p->ldb + j], sum);
            c[i * p->ldc + j] = sum;
        }
}

static struct dg_ir_region region(const char *name, void *data, uint64_t size, bool writable,
                                  struct dg_arena *arena)
{
    return (struct dg_ir_region){ .name = name, .data = data, .size = size,
                                  .writable = writable,
                                  .touched = dg_alloc(arena, size / DG_IR_LINE + 1) };
}

static bool run_code(const struct dg_ir_code *code, struct dg_ir_run *run, struct dg_arena *arena,
                     const char *what, char message[512])
{
    struct dg_error e = { 0 };
    if (run->limit == 0)
        run->limit = 200000000;
    if (dg_ir_interpret(code, run, arena, &e))
        return true;
    snprintf(message, 512, "%s: %.200s: %.120s: %s", what, e.where, e.rule, e.value);
    return false;
}

static bool check_pack(const struct random_case *test, const float *b, const void *packed,
                       char message[512])
{
    const struct dg_problem *p = &test->problem;
    const float *at = packed;
    uint64_t nr = (uint64_t)test->plan.tile.vectors * test->plan.body.lanes;
    for (uint64_t column = 0; column < p->n; column += nr) {
        uint64_t width = column + nr <= p->n ? nr
                       : (uint64_t)test->plan.tail_vectors * test->plan.body.lanes;
        for (uint64_t k = 0; k < p->k; k++)
            for (uint64_t j = column; j < column + width; j++, at++) {
                float wanted = j < p->n ? b[k * p->ldb + j] : 0.0f;
                if (memcmp(at, &wanted, sizeof wanted) != 0) {
                    snprintf(message, 512, "packed element of k %llu, column %llu",
                             (unsigned long long)k, (unsigned long long)j);
                    return false;
                }
            }
    }
    return true;
}

static bool pack(const struct random_case *test, const struct dg_lowered *lowered,
                 struct dg_arena *arena, struct random_operands *data, char message[512])
{
    data->packed = dg_alloc(arena, lowered->packed_b_size + 1);
    memset(data->packed, 0xff, lowered->packed_b_size);
    struct dg_ir_run run = { .regions = 2, .region = {
        region("B", data->b, data->b_size, false, arena),
        region("packed B", data->packed, lowered->packed_b_size, true, arena) } };
    return run_code(&lowered->pack_b, &run, arena, "pack_b", message) &&
           check_pack(test, data->b, data->packed, message);
}

bool random_prepare(const struct random_case *test, const struct dg_lowered *lowered,
                    struct random *random, struct dg_arena *arena, struct random_operands *out,
                    char message[512])
{
    const struct dg_problem *p = &test->problem;
    uint64_t a = elements(p->m, p->k, p->lda), b = elements(p->k, p->n, p->ldb);
    uint64_t c = elements(p->m, p->n, p->ldc);
    *out = (struct random_operands){
        .a = random_floats(random, arena, a), .b = random_floats(random, arena, b),
        .c = random_floats(random, arena, c), .wanted = dg_alloc_array(arena, c + 1, 4),
        .a_size = a * 4, .b_size = b * 4, .c_size = c * 4,
    };
    for (uint64_t i = 0; p->beta == 0 && i < c; i++)
        if (i % p->ldc < p->n)
            out->c[i] = NAN;
    memcpy(out->wanted, out->c, out->c_size);
    multiply(p, out->a, out->b, out->wanted);
    return !lowered->has_pack_b || pack(test, lowered, arena, out, message);
}

static bool same(const struct dg_problem *p, const float *c, const float *wanted, uint64_t count,
                 char message[512])
{
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(&c[i], &wanted[i], sizeof *wanted) != 0) {
            snprintf(message, 512, "C[%llu][%llu] is %g, not %g", (unsigned long long)(i / p->ldc),
                     (unsigned long long)(i % p->ldc), (double)c[i], (double)wanted[i]);
            return false;
        }
    return true;
}

bool random_run(const struct random_case *test, const struct dg_lowered *lowered,
                const struct random_operands *data, const struct dg_ir_code *kernel,
                struct dg_ir_run *run, struct dg_arena *arena, char message[512])
{
    float *c = dg_alloc(arena, data->c_size + 1);
    memcpy(c, data->c, data->c_size);
    run->regions = 3;
    run->region[0] = region("A", data->a, data->a_size, false, arena);
    run->region[1] = data->packed == NULL
        ? region("B", data->b, data->b_size, false, arena)
        : region("packed B", data->packed, lowered->packed_b_size, false, arena);
    run->region[2] = region("C", c, data->c_size, true, arena);
    return run_code(kernel, run, arena, "kernel", message) &&
           same(&test->problem, c, data->wanted, data->c_size / 4, message);
}
