/* SPDX-License-Identifier: Apache-2.0 */
#include "random_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/elements.h"

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

/* Half of the tails that can go along K do. */
static void turn_tail(struct random *random, const struct dg_problem *p, struct dg_plan *plan)
{
    struct dg_along tile = { plan->tile.rows, plan->tail_columns };
    plan->along = plan->body.along != NULL && p->layout_b == DG_PACKED && p->k > 0 &&
                  plan->tail_columns > 0 && plan->tail_columns < plan->body.lanes &&
                  dg_body_along_registers(tile) <= plan->body.isa->vector_registers &&
                  random_next(random) % 2 != 0;
    if (!plan->along)
        return;
    plan->tail_vectors = plan->tail_columns;
    plan->tail_part = 0;
    if (plan->k_blocks > 1) {              /* blocks of whole steps */
        plan->kc = (plan->kc + plan->body.lanes - 1) / plan->body.lanes * plan->body.lanes;
        plan->k_blocks = (p->k + plan->kc - 1) / plan->kc;
        plan->kc_last = p->k - (plan->k_blocks - 1) * plan->kc;
    }
}

static void split_k(struct random *random, uint64_t k, struct dg_plan *plan)
{
    bool whole = random_next(random) % 2 != 0 || plan->body.c_bytes < plan->body.sum_bytes;
    uint64_t blocks = whole ? 1 : random_in(random, 1, 4);
    plan->kc = (k + blocks - 1) / blocks;
    plan->k_blocks = k == 0 ? 1 : (k + plan->kc - 1) / plan->kc;
    plan->kc_last = k - (plan->k_blocks - 1) * plan->kc;
}

/* Half of the cases f32, the others of all types that the target has a recipe for. */
static void random_dtype(struct random *random, const struct dg_isa *isa, struct random_case *out)
{
    static const enum dg_dtype dtypes[] = { DG_F16, DG_F64, DG_BF16, DG_U8S8, DG_S8S8 };
    out->problem.dtype = DG_F32;
    if (random_next(random) % 2 != 0)
        out->problem.dtype = dtypes[random_in(random, 0, 4)];
    if (!dg_body_for(isa, out->problem.dtype, NULL, 0, &out->plan.body)) {
        out->problem.dtype = DG_F32;
        dg_body_for(isa, DG_F32, NULL, 0, &out->plan.body);
    }
    if (strcmp(out->plan.body.source, out->plan.body.load->dtype) != 0)
        out->problem.layout_b = DG_PACKED;
}

void random_case(struct random *random, const struct dg_isa *isa, uint64_t limit,
                 struct random_case *out)
{
    struct dg_problem *p = &out->problem;
    struct dg_plan *plan = &out->plan;
    memset(out, 0, sizeof *out);
    *p = (struct dg_problem){
        .name = "random", .m = random_in(random, 1, limit),
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
    random_dtype(random, isa, out);
    random_tile(random, plan);
    split_m(random, p->m, plan);
    split_n(random, p->n, plan);
    split_k(random, dg_body_steps(&plan->body, p->k), plan);
    turn_tail(random, p, plan);
    plan->inner = random_next(random) % 2 ? DG_PANELS_OUTER : DG_TILES_OUTER;
    plan->prefetch = random_next(random) % 2 != 0;
    plan->unroll = (unsigned)random_in(random, 1, 8);
    plan->schedule = random_in(random, 0, 3) > 0;
    plan->issue = (unsigned)random_in(random, 0, 6);
    plan->cycles = (dg_cost)random_in(random, 0, 100000000) * DG_COST_ONE;
    snprintf(out->text, sizeof out->text,
             "%s %s m %llu n %llu k %llu lda %llu ldb %llu ldc %llu beta %d %s tile %ux%u "
             "mc %llu nc %llu kc %llu %s unroll %u prefetch %d along %d", isa->name,
             dg_dtype_names[p->dtype],
             (unsigned long long)p->m, (unsigned long long)p->n, (unsigned long long)p->k,
             (unsigned long long)p->lda, (unsigned long long)p->ldb, (unsigned long long)p->ldc,
             p->beta, p->layout_b == DG_PACKED ? "packed" : "row-major", plan->tile.rows,
             plan->tile.vectors, (unsigned long long)plan->mc, (unsigned long long)plan->nc,
             (unsigned long long)plan->kc,
             plan->inner == DG_PANELS_OUTER ? "panels outer" : "tiles outer", plan->unroll,
             plan->prefetch, plan->along);
}

static uint64_t elements(uint64_t rows, uint64_t columns, uint64_t ld)
{
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
}

static void multiply(const struct dg_problem *p, int64_t seed, const struct type *t,
                     unsigned char *c)
{
    for (uint64_t i = 0; i < p->m; i++)
        for (uint64_t j = 0; j < p->n; j++) {
            int64_t sum = whole(t->c, (int64_t)(i * p->ldc + j), seed + 2);
            sum = p->beta ? sum * (kind_is_integer(t->c) ? 1 : 16) : 0;
            for (uint64_t k = 0; k < p->k; k++)
                sum += whole(t->a, (int64_t)(i * p->lda + k), seed) *
                       whole(t->b, (int64_t)(k * p->ldb + j), seed + 1);
            put(t->c, c + (i * p->ldc + j) * kind_size(t->c), sum, 256);
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

/* -128 times a column's sum, which stands ahead of the panel's steps. */
static int32_t head_of(const struct dg_problem *p, const unsigned char *b, uint64_t column)
{
    int32_t sum = 0;
    for (uint64_t k = 0; k < p->k && column < p->n; k++)
        sum += (int8_t)b[k * p->ldb + column];
    return -128 * sum;
}

/* An element of B as packing leaves it: bf16 as f32, s8 as s16, the others as they are. */
static void packed_element(const unsigned char *b, size_t from, size_t size, unsigned char *out)
{
    memcpy(out + (from == 2 ? size - from : 0), b, from);
    if (from == 1 && size == 2)
        out[1] = b[0] > 127 ? 0xff : 0;
}

/* A panel of `width` columns from `column` on; returns what is behind it, NULL at a fault. */
static const unsigned char *check_panel(const struct random_case *test, const unsigned char *b,
                                        uint64_t column, uint64_t width, const unsigned char *at,
                                        char message[512])
{
    const struct dg_problem *p = &test->problem;
    const struct dg_body *body = &test->plan.body;
    size_t size = body->b_bytes / body->group, from = dg_dtypes[p->dtype].b_bytes;
    for (uint64_t j = column; body->flip != NULL && j < column + width; j++, at += 4) {
        int32_t head = head_of(p, b, j);
        if (memcmp(at, &head, 4) != 0) {
            snprintf(message, 512, "head of column %llu", (unsigned long long)j);
            return NULL;
        }
    }
    for (uint64_t step = 0; step < dg_body_steps(body, p->k); step++)
        for (uint64_t j = column; j < column + width; j++)
            for (uint64_t k = step * body->group; k < (step + 1) * body->group; k++, at += size) {
                unsigned char wanted[8] = { 0 };
                if (j < p->n && k < p->k)
                    packed_element(b + (k * p->ldb + j) * from, from, size, wanted);
                if (memcmp(at, wanted, size) != 0) {
                    snprintf(message, 512, "packed element of k %llu, column %llu",
                             (unsigned long long)k, (unsigned long long)j);
                    return NULL;
                }
            }
    return at;
}

/* The columns from `column` on, each a vector of K elements in each step, zeros beyond K. */
static const unsigned char *check_along(const struct random_case *test, const unsigned char *b,
                                        uint64_t column, const unsigned char *at,
                                        char message[512])
{
    const struct dg_problem *p = &test->problem;
    size_t size = dg_dtypes[p->dtype].b_bytes;
    unsigned lanes = test->plan.body.lanes;
    for (uint64_t step = 0; step * lanes < p->k; step++)
        for (uint64_t j = column; j < p->n; j++)
            for (uint64_t k = step * lanes; k < (step + 1) * lanes; k++, at += size) {
                static const unsigned char none[8];
                if (memcmp(at, k < p->k ? b + (k * p->ldb + j) * size : none, size) != 0) {
                    snprintf(message, 512, "packed element of k %llu, column %llu along k",
                             (unsigned long long)k, (unsigned long long)j);
                    return NULL;
                }
            }
    return at;
}

static bool check_pack(const struct random_case *test, const unsigned char *b,
                       const unsigned char *packed, uint64_t size, char message[512])
{
    const struct dg_problem *p = &test->problem;
    const unsigned char *at = packed;
    uint64_t nr = (uint64_t)test->plan.tile.vectors * test->plan.body.lanes;
    for (uint64_t column = 0; p->k > 0 && column < p->n; column += nr) {
        uint64_t width = column + nr <= p->n ? nr
                       : (uint64_t)test->plan.tail_vectors * test->plan.body.lanes;
        at = column + nr > p->n && test->plan.along
                 ? check_along(test, b, column, at, message)
                 : check_panel(test, b, column, width, at, message);
        if (at == NULL)
            return false;
    }
    snprintf(message, 512, "%llu bytes of panels, not %llu", (unsigned long long)(at - packed),
             (unsigned long long)size);
    return at == packed + size;
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
           check_pack(test, data->b, data->packed, lowered->packed_b_size, message);
}

bool random_prepare(const struct random_case *test, const struct dg_lowered *lowered,
                    struct random *random, struct dg_arena *arena, struct random_operands *out,
                    char message[512])
{
    const struct dg_problem *p = &test->problem;
    const struct type *t = type_of(dg_dtype_names[p->dtype]);
    uint64_t a = elements(p->m, p->k, p->lda), b = elements(p->k, p->n, p->ldb);
    uint64_t c = elements(p->m, p->n, p->ldc);
    int64_t seed = (int64_t)(random_next(random) % 1000000);
    size_t size = kind_size(t->c);
    *out = (struct random_operands){
        .a_size = a * kind_size(t->a), .b_size = b * kind_size(t->b), .c_size = c * size,
    };
    out->a = dg_alloc(arena, out->a_size + 1);
    out->b = dg_alloc(arena, out->b_size + 1);
    out->c = dg_alloc(arena, out->c_size + 1);
    out->wanted = dg_alloc(arena, out->c_size + 1);
    fill(t->a, out->a, (int64_t)a, seed);
    fill(t->b, out->b, (int64_t)b, seed + 1);
    fill(t->c, out->c, (int64_t)c, seed + 2);
    for (uint64_t i = 0; p->beta == 0 && i < c; i++)
        if (i % p->ldc < p->n)
            memset(out->c + i * size, 0xff, size);     /* NaN */
    memcpy(out->wanted, out->c, out->c_size);
    multiply(p, seed, t, out->wanted);
    return !lowered->has_pack_b || pack(test, lowered, arena, out, message);
}

static bool same(const struct dg_problem *p, const unsigned char *c, const unsigned char *wanted,
                 uint64_t bytes, char message[512])
{
    size_t size = dg_dtypes[p->dtype].c_bytes;
    for (uint64_t i = 0; i < bytes / size; i++)
        if (memcmp(c + i * size, wanted + i * size, size) != 0) {
            snprintf(message, 512, "C[%llu][%llu] is wrong", (unsigned long long)(i / p->ldc),
                     (unsigned long long)(i % p->ldc));
            return false;
        }
    return true;
}

bool random_run(const struct random_case *test, const struct dg_lowered *lowered,
                const struct random_operands *data, const struct dg_ir_code *kernel,
                struct dg_ir_run *run, struct dg_arena *arena, char message[512])
{
    unsigned char *c = dg_alloc(arena, data->c_size + 1);
    memcpy(c, data->c, data->c_size);
    run->regions = 3;
    run->region[0] = region("A", data->a, data->a_size, false, arena);
    run->region[1] = data->packed == NULL
        ? region("B", data->b, data->b_size, false, arena)
        : region("packed B", data->packed, lowered->packed_b_size, false, arena);
    run->region[2] = region("C", c, data->c_size, true, arena);
    return run_code(kernel, run, arena, "kernel", message) &&
           same(&test->problem, c, data->wanted, data->c_size, message);
}
