/* SPDX-License-Identifier: Apache-2.0
 *
 * Lowered kernels and packers in the interpreter: random problems with random plans on every
 * target, schedules of many kinds, random legal orders, planted faults. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#include "random_plan.h"

static const char *const targets[] = { "x86_64-avx2", "x86_64-avx512", "aarch64-neon" };

struct lowered_case {
    struct random_case test;
    struct dg_lowered lowered;
    struct random_operands data;
    struct dg_arena arena;
};

/* Every third case keeps the recipe's order; the others are scheduled by default latencies. */
static void make_case(struct random *random, unsigned i, uint64_t limit, struct lowered_case *out)
{
    struct dg_error e = { 0 };
    char message[512] = "";
    static const struct dg_entry chip[2][1] = {
        { { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } } },
        { { "architecture", { .kind = DG_VALUE_TEXT, .text = "aarch64" } } } };
    struct dg_profile profile = { .entries = chip[i % 3 == 2], .entry_count = 1 };
    struct dg_view view;
    dg_arena_init(&out->arena);
    dg_view_init(&view, &profile, &out->arena, false);
    random_case(random, dg_isa_by_name(targets[i % 3]), limit, &out->test);
    cr_assert(dg_lower(&out->test.problem, &out->test.plan, i / 3 % 3 == 0 ? NULL : &view,
                       &out->arena, &out->lowered, &e),
              "case %u, %s: %s: %s: %s", i, out->test.text, e.where, e.rule, e.value);
    cr_assert(random_prepare(&out->test, &out->lowered, random, &out->arena, &out->data, message),
              "case %u, %s: %s", i, out->test.text, message);
}

static void check_kernel(struct lowered_case *c, unsigned i)
{
    struct dg_ir_run run = { 0 };
    char message[512] = "";
    cr_assert(random_run(&c->test, &c->lowered, &c->data, &c->lowered.kernel, &run, &c->arena,
                         message), "case %u, %s: %s", i, c->test.text, message);
}

static void check_many(uint64_t seed, unsigned cases, uint64_t limit)
{
    struct random random = { seed };
    for (unsigned i = 0; i < cases; i++) {
        struct lowered_case c;
        make_case(&random, i, limit, &c);
        check_kernel(&c, i);
        dg_arena_free(&c.arena);
    }
}

Test(lower, random_problems)
{
    check_many(1, 4000, 40);
    check_many(2, 150, 160);
}

/* A tile that takes all registers is lowered; one more is refused with the numbers. */
Test(lower, registers_are_counted)
{
    static const struct { unsigned target, rows, vectors; const char *refusal; } tiles[] = {
        { 0, 6, 2, NULL },                 /* 12 + 2 + 1 of 16 */
        { 0, 7, 2, "17 needed (14 pinned, 3 for temporaries), 16 there" },
        { 1, 14, 2, NULL }, { 1, 31, 1, NULL },   /* one vector of B, A from memory */
        { 1, 5, 5, NULL }, { 1, 9, 3, NULL },
        { 1, 7, 4, "33 needed (28 pinned, 5 for temporaries), 32 there" },
        { 2, 8, 3, NULL }, { 2, 16, 2, "16 x 2 accumulators, 32 registers" },
    };
    for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        struct random random = { 9 };
        struct random_case test;
        struct dg_lowered lowered;
        struct dg_arena arena;
        struct dg_error e = { 0 };
        dg_arena_init(&arena);
        do
            random_case(&random, dg_isa_by_name(targets[tiles[i].target]), 160, &test);
        while (test.problem.dtype != DG_F32 ||
               test.plan.tile.vectors != tiles[i].vectors || test.plan.m_blocks != 1 ||
               test.problem.k == 0 || test.problem.m < 1 || test.plan.panels_last == 0 ||
               test.plan.along);
        test.plan.rows = test.plan.rows_last =
            (struct dg_split){ { tiles[i].rows, 1 }, { 1, 0 } };
        test.plan.tile.rows = tiles[i].rows;
        bool ok = dg_lower(&test.problem, &test.plan, NULL, &arena, &lowered, &e);
        cr_expect_eq(ok, tiles[i].refusal == NULL, "%u x %u: %s: %s", tiles[i].rows,
                     tiles[i].vectors, e.rule, e.value);
        if (tiles[i].refusal != NULL)
            cr_expect(strncmp(e.value, tiles[i].refusal, strlen(tiles[i].refusal)) == 0,
                      "%u x %u: %s",
                      tiles[i].rows, tiles[i].vectors, e.value);
        dg_arena_free(&arena);
    }
}

/* ---- rows a gigabyte apart: offsets beyond 31 bits, in sparse memory ---- */

enum { FAR_ROWS = 3, FAR_COLUMNS = 21, FAR_K = 5 };
static const uint64_t far_ld = UINT64_C(1) << 28;

static void far_case(struct random *random, const struct dg_isa *isa, struct random_case *test)
{
    do
        random_case(random, isa, FAR_COLUMNS, test);
    while (test->problem.dtype != DG_F32 ||
           test->problem.m != FAR_ROWS || test->problem.k != FAR_K ||
           test->problem.n != FAR_COLUMNS || test->problem.layout_b != DG_ROW_MAJOR);
    test->problem.lda = test->problem.ldc = far_ld;
    test->problem.ldb = FAR_COLUMNS;
}

static void check_far(const struct random_case *test, float *a, float *c)
{
    static float b[FAR_K * FAR_COLUMNS];
    struct dg_arena arena;
    struct dg_lowered lowered;
    struct dg_error e = { 0 };
    dg_arena_init(&arena);
    for (unsigned i = 0; i < FAR_ROWS; i++) {
        for (unsigned k = 0; k < FAR_K; k++)
            a[i * far_ld + k] = (float)(i * FAR_K + k + 1);
        for (unsigned j = 0; j < FAR_COLUMNS; j++)
            c[i * far_ld + j] = 0.5f;
    }
    for (unsigned j = 0; j < FAR_K * FAR_COLUMNS; j++)
        b[j] = (float)(j % 7);
    cr_assert(dg_lower(&test->problem, &test->plan, NULL, &arena, &lowered, &e), "%s: %s: %s",
              test->text, e.rule, e.value);
    struct dg_ir_run run = { .limit = 1000000, .regions = 3, .region = {
        { .name = "A", .data = (void *)a, .size = ((FAR_ROWS - 1) * far_ld + FAR_K) * 4 },
        { .name = "B", .data = (void *)b, .size = sizeof b },
        { .name = "C", .data = (void *)c, .writable = true,
          .size = ((FAR_ROWS - 1) * far_ld + FAR_COLUMNS) * 4 } } };
    cr_assert(dg_ir_interpret(&lowered.kernel, &run, &arena, &e), "%s: %s: %s: %s", test->text,
              e.where, e.rule, e.value);
    for (unsigned i = 0; i < FAR_ROWS; i++)
        for (unsigned j = 0; j < FAR_COLUMNS; j++) {
            float wanted = test->problem.beta ? 0.5f : 0.0f;
            for (unsigned k = 0; k < FAR_K; k++)
                wanted += a[i * far_ld + k] * b[k * FAR_COLUMNS + j];
            cr_assert_eq(c[i * far_ld + j], wanted, "%s: C[%u][%u]", test->text, i, j);
        }
    dg_arena_free(&arena);
}

Test(lower, rows_a_gigabyte_apart)
{
    struct random random = { 8 };
    size_t bytes = (FAR_ROWS * far_ld + FAR_COLUMNS) * sizeof(float);
    float *a = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    float *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert(a != MAP_FAILED && c != MAP_FAILED);
    for (unsigned i = 0; i < 30; i++) {
        struct random_case test;
        far_case(&random, dg_isa_by_name(targets[i % 3]), &test);
        check_far(&test, a, c);
    }
    munmap(a, bytes);
    munmap(c, bytes);
}

/* ---- prefetches ---- */

static unsigned prefetches_of(const struct random_case *test, double line, struct dg_arena *arena)
{
    struct dg_entry chip[] = {
        { "architecture", { .kind = DG_VALUE_TEXT,
                            .text = test->plan.body.isa->architecture } },
        { "l1_line_size", { .kind = DG_VALUE_NUMBER, .number = line } } };
    struct dg_profile profile = { .entries = chip, .entry_count = 2 };
    struct dg_view view;
    struct dg_lowered lowered;
    struct dg_error e = { 0 };
    unsigned count = 0;
    dg_view_init(&view, &profile, arena, false);
    cr_assert(dg_lower(&test->problem, &test->plan, &view, arena, &lowered, &e), "%s: %s",
              test->text, e.rule);
    for (size_t i = 0; i < lowered.kernel.count; i++)
        count += lowered.kernel.item[i].kind == DG_IR_OPERATION &&
                 lowered.kernel.item[i].op.op->sem == DG_SEM_PREFETCH_L2;
    return count;
}

/* One prefetch a line of the chip, whatever its length. */
Test(lower, prefetches_lines_of_the_chip)
{
    struct random random = { 12 };
    unsigned fewer = 0;
    for (unsigned i = 0; i < 300; i++) {
        struct random_case test;
        struct dg_arena arena;
        dg_arena_init(&arena);
        random_case(&random, dg_isa_by_name(targets[i % 3]), 60, &test);
        unsigned of32 = prefetches_of(&test, 32, &arena);
        unsigned of128 = prefetches_of(&test, 128, &arena);
        cr_expect((of32 == 0) == (of128 == 0) && of128 <= of32 && of32 <= 4 * of128,
                  "%s: %u, %u", test.text, of32, of128);
        fewer += of128 < of32;
        dg_arena_free(&arena);
    }
    cr_assert(fewer > 5, "only %u", fewer);
}

/* ---- schedules ---- */

/* The lines of 24 x 24 x 24 on a chip that issues `width` operations a cycle. */
static const char *issued(double width, struct dg_arena *arena, size_t *items)
{
    static const char *const users[] = { "fma.f32.256:1.05", "load.f32.256:1.05",
                                         "broadcast.f32.256:1.15" };
    static const char *const isa[] = { "avx2", "fma" };
    const struct dg_entry chip[] = {
        { "architecture", { .kind = DG_VALUE_TEXT, .text = "x86_64" } },
        { "isa", { .kind = DG_VALUE_LIST, .list = isa, .list_count = 2 } },
        { "res.f32_256_issue.capacity", { .kind = DG_VALUE_NUMBER, .number = 1.05 * width } },
        { "res.f32_256_issue.users", { .kind = DG_VALUE_LIST, .list = users, .list_count = 3 } } };
    struct dg_profile profile = { .entries = chip, .entry_count = 4 };
    struct dg_problem problem = {
        .m = 24, .n = 24, .k = 24, .lda = 24, .ldb = 24, .ldc = 24, .dtype = DG_F32, .isa = "auto",
        .layout_b = DG_PACKED, .name = "k", .tile_m = 4, .tile_n = 16 };
    struct dg_plan_result plan;
    struct dg_lowered lowered;
    struct dg_error e = { 0 };
    char *text = dg_alloc(arena, 1 << 16), line[160];
    size_t length = 0;
    cr_assert(dg_plan_make(&problem, &profile, false, arena, &plan, &e), "%s: %s", e.where, e.rule);
    cr_assert_eq(plan.best.issue, (unsigned)width);
    cr_assert(dg_lower(&problem, &plan.best, &plan.view, arena, &lowered, &e), "%s: %s", e.where,
              e.rule);
    *items = lowered.kernel.count;
    for (size_t i = 0; i < lowered.kernel.count; i++)
        if (lowered.kernel.item[i].kind == DG_IR_OPERATION) {
            dg_ir_print(&lowered.kernel, &lowered.kernel.item[i], line, sizeof line);
            length += dg_format(text + length, (1 << 16) - length, "%s\n", line);
        }
    cr_assert_lt(length, (size_t)1 << 16);
    return text;
}

/* The profile's resource of all operations says how many slots a latency is. */
Test(lower, schedules_fill_the_issue_width)
{
    struct dg_arena arena;
    dg_arena_init(&arena);
    size_t items[2];
    const char *one = issued(1, &arena, &items[0]), *four = issued(4, &arena, &items[1]);
    cr_expect(strcmp(one, four) != 0, "the same order for one and for four operations a cycle");
    cr_expect_eq(items[0], items[1]);
    dg_arena_free(&arena);
}

/* ---- what a run touches, and time stamps ---- */

static uint64_t lines_of(uint64_t rows, uint64_t columns, uint64_t ld, unsigned bytes)
{
    uint64_t count = 0, next = 0;
    for (uint64_t i = 0; i < rows && columns > 0; i++) {
        uint64_t first = i * ld * bytes / DG_IR_LINE, last = (i * ld + columns) * bytes - 1;
        first = first < next ? next : first;
        next = last / DG_IR_LINE + 1;
        count += next > first ? next - first : 0;
    }
    return count;
}

/* Every line of the operands is touched, no other; each element of C is written once per block of
 * K, and read only where it is added to. */
Test(lower, touches_each_line)
{
    struct random random = { 6 };
    for (unsigned i = 0; i < 300; i++) {
        struct lowered_case c;
        struct dg_ir_run run = { 0 };
        char message[512] = "";
        make_case(&random, i, 40, &c);
        const struct dg_problem *p = &c.test.problem;
        const struct dg_plan *plan = &c.test.plan;
        const struct dg_dtype_row *is = &dg_dtypes[p->dtype];
        cr_assert(random_run(&c.test, &c.lowered, &c.data, &c.lowered.kernel, &run, &c.arena,
                             message));
        bool works = p->k > 0 || p->beta == 0;
        cr_expect_eq(run.region[0].lines, lines_of(p->m, p->k, p->lda, is->a_bytes), "%s",
                     c.test.text);
        cr_expect_eq(run.region[2].lines,
                     works ? lines_of(p->m, p->n, p->ldc, is->c_bytes) : 0, "%s", c.test.text);
        uint64_t vectors = (plan->n_blocks - 1) * plan->panels + plan->panels_last;
        vectors *= plan->tile.vectors;
        uint64_t writes = p->m * (vectors + (plan->along ? 1 : plan->tail_vectors));
        uint64_t reads = p->m * (vectors + plan->tail_vectors);    /* along K one by one */
        cr_expect_eq(run.region[2].writes, works ? writes * plan->k_blocks : 0, "%s", c.test.text);
        cr_expect_eq(run.region[2].reads, works ? reads * (plan->k_blocks - !p->beta) : 0, "%s",
                     c.test.text);
        dg_arena_free(&c.arena);
    }
}

/* Stamps stand where a pass is predicted to last 10 thousand cycles or more. */
Test(lower, stamps_cut_the_call_in_slices)
{
    struct random random = { 7 };
    for (unsigned i = 0; i < 300; i++) {
        struct lowered_case c;
        struct dg_ir_run run = { 0 };
        char message[512] = "";
        make_case(&random, i, 40, &c);
        uint64_t cycles = (uint64_t)c.test.plan.cycles / DG_COST_ONE;
        cr_assert(random_run(&c.test, &c.lowered, &c.data, &c.lowered.kernel, &run, &c.arena,
                             message));
        cr_expect_eq(run.stamps, c.lowered.stamps, "%s: %llu stamps, %llu foretold", c.test.text,
                     (unsigned long long)run.stamps, (unsigned long long)c.lowered.stamps);
        if (cycles < 10000)
            cr_expect_eq(run.stamps, 2, "%s", c.test.text);
        dg_arena_free(&c.arena);
    }
}

/* ---- random legal orders of allocated code ---- */

static bool moves(const struct dg_ir_item *item)
{
    if (item->kind != DG_IR_OPERATION || item->op.op->sem == DG_SEM_SET_MASK)
        return false;
    return strpbrk(item->op.op->operands, "sl") == NULL;
}

static void shuffle(struct random *random, struct dg_arena *arena, struct dg_ir_item *item,
                    size_t count)
{
    struct dg_ir_block block = { dg_alloc_array(arena, count, sizeof *block.op), count, count };
    for (size_t i = 0; i < count; i++)
        block.op[i] = item[i].op;
    bool *before = dg_ir_order(arena, &block), *placed = dg_alloc(arena, count);
    for (size_t done = 0; done < count; done++) {
        size_t ready[4096], n = 0;
        for (size_t j = 0; j < count; j++) {
            bool waits = placed[j];
            for (size_t i = 0; i < j && !waits; i++)
                waits = !placed[i] && before[i * count + j];
            if (!waits && n < 4096)
                ready[n++] = j;
        }
        size_t next = ready[random_in(random, 0, n - 1)];
        placed[next] = true;
        item[done].op = block.op[next];
    }
}

static struct dg_ir_code copy_of(const struct dg_ir_code *code, struct dg_arena *arena)
{
    struct dg_ir_code copy = *code;
    struct dg_ir_item *item = dg_alloc_array(arena, code->count, sizeof *item);
    memcpy(item, code->item, code->count * sizeof *item);
    copy.item = item;
    return copy;
}

static void shuffle_runs(struct random *random, struct dg_arena *arena, struct dg_ir_code *code)
{
    struct dg_ir_item *item = (struct dg_ir_item *)code->item;
    for (size_t i = 0, end; i < code->count; i = end + 1) {
        for (end = i; end < code->count && moves(&item[end]); end++)
            continue;
        if (end - i > 1)
            shuffle(random, arena, item + i, end - i);
    }
}

Test(lower, random_legal_orders)
{
    struct random random = { 3 };
    for (unsigned i = 0; i < 240; i++) {
        struct lowered_case c;
        struct dg_ir_run run = { 0 };
        char message[512] = "";
        make_case(&random, i, 24, &c);
        struct dg_ir_code code = copy_of(&c.lowered.kernel, &c.arena);
        shuffle_runs(&random, &c.arena, &code);
        cr_assert(random_run(&c.test, &c.lowered, &c.data, &code, &run, &c.arena, message),
                  "case %u, %s: %s", i, c.test.text, message);
        dg_arena_free(&c.arena);
    }
}

/* ---- planted faults ---- */

static bool is_work(const struct dg_op *op)
{
    switch (op->sem) {
    case DG_SEM_LOAD: case DG_SEM_LOAD_PART: case DG_SEM_BROADCAST: case DG_SEM_STORE:
    case DG_SEM_STORE_PART: case DG_SEM_FMA: case DG_SEM_ZERO: case DG_SEM_LOAD_ELEMENT:
    case DG_SEM_FMA_ELEMENT:
        return true;
    default:
        return false;
    }
}

enum fault { DROP, OFFSET, REGISTER, FAULTS };
static const char *const fault_names[] = { "dropped", "offset moved", "register changed" };

/* A vector register that the code uses, other than `now`. */
static uint32_t another_register(struct random *random, const struct dg_ir_code *code,
                                 uint32_t now)
{
    uint32_t other;
    do
        other = (uint32_t)random_in(random, 0, code->isa->vector_registers - 1);
    while (other == now);
    return other;
}

/* False: this operation cannot have this fault. */
static bool plant(struct random *random, const struct dg_ir_code *code, struct dg_ir_item *item,
                  enum fault fault)
{
    const char *letters = item->op.op->operands, *m = strchr(letters, 'm');
    switch (fault) {
    case DROP:
        if (letters[0] == 'd' && m != NULL)
            return false;                  /* the register may hold that very value already */
        *item = (struct dg_ir_item){ .kind = DG_IR_COMMENT, .text = "dropped" };
        return true;
    case OFFSET:
        if (m != NULL)
            item->op.operand[m - letters].value += random_next(random) % 2 ? 4 : -4;
        return m != NULL;
    default:
        for (unsigned j = 0; letters[j] != '\0'; j++)
            if (letters[j] == 'd' || letters[j] == 'a' || letters[j] == 'v') {
                uint32_t *index = &item->op.operand[j].index;
                *index = another_register(random, code, *index);
                return true;
            }
        return false;
    }
}

Test(lower, planted_faults_are_caught)
{
    struct random random = { 4 };
    unsigned planted = 0;
    for (unsigned i = 0; i < 1500; i++) {
        struct lowered_case c;
        struct dg_ir_run run = { 0 };
        char message[512] = "";
        make_case(&random, i, 20, &c);
        struct dg_ir_code code = copy_of(&c.lowered.kernel, &c.arena);
        run.times = dg_alloc_array(&c.arena, code.count + 1, sizeof *run.times);
        cr_assert(random_run(&c.test, &c.lowered, &c.data, &code, &run, &c.arena, message));
        size_t at = (size_t)random_in(&random, 0, code.count - 1);
        struct dg_ir_item *item = (struct dg_ir_item *)&code.item[at];
        if (item->kind == DG_IR_OPERATION && run.times[at] > 0 && is_work(item->op.op) &&
            c.test.problem.k > 0 &&
            plant(&random, &code, item, (enum fault)(i % FAULTS))) {
            char line[160];
            struct dg_ir_run again = { .limit = run.operations + 1000000 };
            dg_ir_print(&code, &c.lowered.kernel.item[at], line, sizeof line);
            planted++;
            cr_expect(!random_run(&c.test, &c.lowered, &c.data, &code, &again, &c.arena, message),
                      "case %u, %s: item %zu, %s, %s, is not caught", i, c.test.text, at, line,
                      fault_names[i % FAULTS]);
        }
        dg_arena_free(&c.arena);
    }
    cr_assert(planted > 400, "only %u faults planted", planted);
}
