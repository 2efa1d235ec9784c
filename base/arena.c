/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdint.h>

enum { ALIGNMENT = 16 };

void dg_arena_over(struct dg_arena *arena, void *buffer, size_t size)
{
    uintptr_t start = ((uintptr_t)buffer + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    size_t skip = (size_t)(start - (uintptr_t)buffer);
    *arena = (struct dg_arena){ 0 };
    if (size > skip) {
        arena->at = (unsigned char *)start;
        arena->end = (unsigned char *)buffer + size;
    }
}

void *dg_alloc(struct dg_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if ((size_t)(arena->end - arena->at) < size || arena->at == NULL) {
        if (arena->more == NULL || arena->more(arena, size) == NULL)
            return NULL;
    }
    unsigned char *out = arena->at;
    arena->at += size;
    arena->used += size;
    for (size_t i = 0; i < size; i++)
        out[i] = 0;
    return out;
}

void *dg_alloc_array(struct dg_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return dg_alloc(arena, count * size);
}

char *dg_strdup(struct dg_arena *arena, const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    char *out = dg_alloc(arena, length + 1);
    for (size_t i = 0; out != NULL && i < length; i++)
        out[i] = text[i];
    return out;
}
