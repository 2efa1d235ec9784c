/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena that grows: chunks from malloc, freed together. */
#include <stdlib.h>

#include "base/arena.h"

struct chunk {
    struct chunk *next;
    _Alignas(16) unsigned char bytes[];
};

enum { CHUNK = 1 << 16 };

static void *more(struct dg_arena *arena, size_t minimum)
{
    size_t size = minimum > CHUNK ? minimum : CHUNK;
    if (size > (size_t)-1 - sizeof(struct chunk))
        return NULL;
    struct chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk == NULL)
        return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = chunk->bytes;
    arena->end = chunk->bytes + size;
    return arena->at;
}

void dg_arena_init(struct dg_arena *arena)
{
    *arena = (struct dg_arena){ .more = more };
}

void dg_arena_free(struct dg_arena *arena)
{
    for (struct chunk *c = arena->chunks, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    *arena = (struct dg_arena){ .more = more };
}
