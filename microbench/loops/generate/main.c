/* SPDX-License-Identifier: Apache-2.0
 * generate ARCHITECTURE loops.S table.c: writes the loops of one architecture and their tables.
 * An architecture without rows gets the portable loops. */
#include "microbench/loops/generate/generate.h"

#include <stdlib.h>
#include <string.h>

static const char *const openings[TABLE_COUNT] = {
    "const struct dg_loop_entry dg_loops[] = {\n",
    "const struct dg_mix_entry dg_mixes[] = {\n",
    "const struct dg_stream_entry dg_streams[] = {\n",
    "const struct dg_chase_entry dg_chases[] = {\n",
    "const struct dg_pick_entry dg_picks[] = {\n",
    "const struct dg_code_entry dg_codes[] = {\n",
    "const struct dg_loop_absent dg_loops_absent[] = {\n",
};
/* The last entry of each table keeps it from being empty; it is not counted. */
static const char *const closings[TABLE_COUNT] = {
    "    {0},\n};\nconst size_t dg_loop_count = sizeof dg_loops / sizeof *dg_loops - 1;\n",
    "    {0},\n};\nconst size_t dg_mix_count = sizeof dg_mixes / sizeof *dg_mixes - 1;\n",
    "    {0},\n};\nconst size_t dg_stream_count = sizeof dg_streams / sizeof *dg_streams - 1;\n",
    "    {0},\n};\nconst size_t dg_chase_count = sizeof dg_chases / sizeof *dg_chases - 1;\n",
    "    {0},\n};\nconst size_t dg_pick_count = sizeof dg_picks / sizeof *dg_picks - 1;\n",
    "    {0},\n};\nconst size_t dg_code_count = sizeof dg_codes / sizeof *dg_codes - 1;\n",
    ("    {0},\n};\n"
     "const size_t dg_loops_absent_count =\n"
     "    sizeof dg_loops_absent / sizeof *dg_loops_absent - 1;\n"),
};

/* The portable loops as entries of one table; the other macros stay empty. */
static void portable(struct gen *g)
{
    static const char *const macros[] = {
        "DG_PORTABLE_LOOP(kind, op, operand, chains, per_trip, run)",
        "DG_PORTABLE_STREAM(kind, step, prefetch, run)", "DG_PORTABLE_CHASE(run)",
    };
    static const char *const entries[] = {
        " {kind, op, NULL, operand, chains, 0, 0, \"\", per_trip, run},",
        " {kind, 32, step, 1, 0, prefetch, \"\", run},", " {64, \"\", run},",
    };
    static const enum table tables[] = {TABLE_LOOPS, TABLE_STREAMS, TABLE_CHASES};
    for (int t = 0; t < 3; t++) {
        FILE *out = g->table[tables[t]];
        for (int m = 0; m < 3; m++)
            fprintf(out, "#define %s%s\n", macros[m], m == t ? entries[m] : "");
        fprintf(out, "#include \"microbench/loops/portable.def\"\n#undef DG_PORTABLE_LOOP\n"
                "#undef DG_PORTABLE_STREAM\n#undef DG_PORTABLE_CHASE\n");
    }
}

static bool copy_back(FILE *from, FILE *to)
{
    char buffer[4096];
    size_t n;
    rewind(from);
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return false;
    return ferror(from) == 0;
}

static bool write_tables(struct gen *g, FILE *out)
{
    fprintf(out, "/* Made by microbench/loops/generate. */\n#include <stddef.h>\n"
            "#include \"microbench/loops/portable.h\"\n\n");
    bool ok = copy_back(g->declarations, out);
    for (int i = 0; ok && i < TABLE_COUNT; i++) {
        fprintf(out, "\n%s", openings[i]);
        ok = copy_back(g->table[i], out);
        fprintf(out, "%s", closings[i]);
    }
    return ok;
}

static void generate(struct gen *g)
{
    bool any = false;
    for (size_t i = 0; dg_isas[i] != NULL; i++) {
        if (strcmp(dg_isas[i]->architecture, g->architecture) != 0)
            continue;
        gen_operations(g, dg_isas[i]);
        gen_pairs(g, dg_isas[i]);
        gen_mixes(g, dg_isas[i]);
        any = true;
    }
    if (any) {
        gen_references(g);
        gen_streams(g);
        gen_chases(g);
        gen_picks(g);
        gen_codes(g);
        gen_paces(g);
    } else {
        portable(g);
    }
}

int main(int argc, char **argv)
{
    struct gen g = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: generate ARCHITECTURE loops.S table.c\n");
        return 2;
    }
    g.architecture = argv[1];
    g.x86 = strcmp(g.architecture, "x86_64") == 0;
    g.s = fopen(argv[2], "w");
    g.declarations = tmpfile();
    FILE *out = fopen(argv[3], "w");
    bool ok = g.s != NULL && g.declarations != NULL && out != NULL;
    for (int i = 0; i < TABLE_COUNT; i++)
        ok = (g.table[i] = tmpfile()) != NULL && ok;
    if (!ok) {
        fprintf(stderr, "generate: cannot write %s and %s\n", argv[2], argv[3]);
        return 1;
    }
    fprintf(g.s, "\t.text\n");
    generate(&g);
    fprintf(g.s, "\t.section .note.GNU-stack,\"\",%%progbits\n");
    ok = write_tables(&g, out);
    ok = fclose(out) == 0 && ok;
    ok = fclose(g.s) == 0 && ok;
    return ok ? 0 : 1;
}
