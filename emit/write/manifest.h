/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME.json: what was generated, from what, and what to expect of it. Plain data, so that the
 * verifier needs nothing else of emit/. Same inputs give the same bytes. */
#ifndef DG_EMIT_WRITE_MANIFEST_H
#define DG_EMIT_WRITE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

#define DG_MANIFEST_SCHEMA "deepgemm-manifest/1"

/* A profile key that the planner read. */
struct dg_manifest_key {
    const char *key;
    const char *value;           /* canonical JSON text: 65536, 0.5, "x", ["avx2","fma"], null */
    bool assumed;                /* the profile had none: `used` is the named default */
    double used;                 /* the number the planner went on with; 0 where none */
};

struct dg_manifest_term { const char *id, *title; double cycles; };
struct dg_manifest_file { const char *name, *sha256; };   /* name: within the manifest's folder */

struct dg_manifest {
    const char *tool_version;    /* "0.1.0" */
    const char *name;            /* symbol prefix */
    const char *isa;             /* "x86_64-avx2" */
    const char *architecture;    /* "x86_64" */
    const char *features;        /* needed to run it: "avx2,fma" */

    struct {
        uint64_t m, n, k;
        const char *dtype;                       /* canonical: "f32" */
        const char *layout_a, *layout_b, *layout_c;  /* "row_major", "col_major", "packed" */
        uint64_t lda, ldb, ldc;                  /* elements; ldb: of the source when B is packed */
        int beta;                                /* 0 or 1 */
        uint64_t packed_b_size;                  /* bytes; 0: B is not packed */
        uint64_t packed_b_alignment;             /* 64, or 0 */
        unsigned a_bytes, b_bytes, c_bytes;      /* of one element; B's before packing */
        uint64_t workspace_size;                 /* bytes; 0: none */
    } problem;

    struct {
        unsigned mr, nr;                         /* rows and columns of the register tile */
        unsigned vectors;                        /* vectors per row of it */
        uint64_t kc, mc, nc;
        const char *inner;                       /* "panels_outer", "tiles_outer" */
        bool prefetch;
        bool along;                  /* the tail panel is packed by vectors of K elements */
        unsigned unroll;
        const char *binding;
    } plan;

    struct {
        double cycles;                           /* core cycles of one call */
        double bound;                            /* the port bound */
        const struct dg_manifest_term *terms;
        size_t term_count;
    } predicted;

    struct { uint64_t l2_bytes, l3_bytes, dram_bytes, operations; } traffic;  /* of one call */

    /* Roofs as the profile had them at clock_hz; 0: unknown (null in the file). */
    struct {
        double peak;                             /* operations (2 per multiply-add) a cycle */
        const char *peak_op;                     /* "fma.f32.256": measures `peak` again */
        unsigned lanes;                          /* multiply-adds of one peak_op */
        double l1, l2, l3, dram;                 /* bytes per core cycle */
        double clock_hz;
    } roofs;

    struct {
        const char *name;
        const char *chip;                        /* "intel 6 167": measured there; "": typed */
        const char *hash;                        /* SHA-256 of the keys read and their values */
        const struct dg_manifest_key *keys;      /* sorted by key */
        size_t key_count;
    } profile;

    /* The DG_TIMING build: one stamp when the call starts (after the argument checks), one after
     * each pass of the loop named, one at the end; `count` stamps in all, so count - 1 slices. */
    struct {
        const char *loop;                        /* "n_blocks", "k_blocks", "m_blocks", "tiles";
                                                    "call": there are no inner stamps */
        uint64_t count;
        const char *clock;                       /* "rdtsc", "cntvct_el0" */
    } stamps;

    const struct dg_manifest_file *files;
    size_t file_count;
};

/* The text of NAME.json in the arena, NULL when memory is short. */
const char *dg_manifest_text(const struct dg_manifest *manifest, struct dg_arena *arena);

/* Strings and arrays go to the arena. False: *e names the file and the place in it. The texts of
 * `files` are not checked here; see dg_manifest_check_files. */
bool dg_manifest_read(const char *path, struct dg_arena *arena, struct dg_manifest *out,
                      struct dg_error *e);
/* The same from memory; `where` names it in errors. */
bool dg_manifest_parse(const char *text, size_t size, const char *where, struct dg_arena *arena,
                       struct dg_manifest *out, struct dg_error *e);
/* True when every file listed is beside the manifest at `path` with the hash listed. */
bool dg_manifest_check_files(const char *path, const struct dg_manifest *manifest,
                             struct dg_error *e);

#endif
