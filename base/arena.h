/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_ARENA_H
#define DG_BASE_ARENA_H

#include <stddef.h>

/* A bump allocator. Over a caller's buffer (dg_arena_over) it needs no libc and never grows;
 * dg_arena_new (base/heap.c) takes more chunks from malloc. Memory comes zeroed. */
struct dg_arena {
    unsigned char *at, *end;
    size_t used;                                       /* bytes handed out so far */
    /* NULL: fixed; returns the new `at` or NULL */
    void *(*more)(struct dg_arena *, size_t minimum);
    void *chunks;                                      /* owned by base/heap.c */
};

void dg_arena_over(struct dg_arena *arena, void *buffer, size_t size);
/* Aligned to 16 bytes, zeroed; NULL when the memory is used up or size overflows. */
void *dg_alloc(struct dg_arena *arena, size_t size);
void *dg_alloc_array(struct dg_arena *arena, size_t count, size_t size);
char *dg_strdup(struct dg_arena *arena, const char *text);

/* base/heap.c, needs libc */
void dg_arena_init(struct dg_arena *arena);
void dg_arena_free(struct dg_arena *arena);

#endif
