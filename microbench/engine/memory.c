/* SPDX-License-Identifier: Apache-2.0
 * The arena: mapped once, written once, aligned to 2 MiB, never more than limits allow. Its first
 * three quarters ask for huge pages, by which capacities are read without the TLB; the rest has
 * small ones, as the operands of a product usually have, and is where mixes run: streams that
 * cross small pages cost more. */
#include "microbench/engine/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
static const uint64_t ALIGNMENT = 2 * MIB, USUAL = 256 * MIB, LEAST = 4 * MIB;

/* 1.0 as f32; as f64 a normal number too. A pattern of zeros could share one zero page, and
 * denormal numbers would slow arithmetic down. */
void dg_arena_fill(const struct engine *e, uint64_t offset, uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x3f8000003f800000);
    if (offset >= e->arena_bytes)
        return;
    if (bytes > e->arena_bytes - offset)
        bytes = e->arena_bytes - offset;
    uint64_t *at = (uint64_t *)(void *)(e->arena + (offset & ~UINT64_C(7)));
    for (uint64_t i = 0; i < bytes / sizeof *at; i++)
        at[i] = ones;
}

uint64_t dg_arena_place(uint64_t n, uint64_t spare)
{
    const uint64_t page = 4096, golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t pages = spare / page + 1, part = n * golden >> 32;
    return (pages * part >> 32) * page;
}

/* Half of what is left, so that others and the rest of this program keep room. */
static uint64_t wanted(struct engine *e, const struct dg_engine_options *options)
{
    const char *source;
    uint64_t most = options->memory != 0 ? options->memory : USUAL;
    uint64_t left = dg_host_memory(&e->host, &source) / 2;
    e->state.memory_source = options->memory != 0 ? "option" : "default";
    if (left < most) {
        most = left;
        e->state.memory_source = source;
    }
    return most / ALIGNMENT * ALIGNMENT;
}

bool dg_arena_open(struct engine *e, const struct dg_engine_options *options,
                   struct dg_error *error)
{
    char value[64];
    uint64_t bytes = wanted(e, options);
    long page = e->host.sysconf(&e->host, _SC_PAGESIZE);
    for (; bytes >= LEAST; bytes = bytes / 2 / ALIGNMENT * ALIGNMENT) {
        e->mapping_bytes = bytes + ALIGNMENT;
        e->mapping = mmap(NULL, e->mapping_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (e->mapping != MAP_FAILED)
            break;
        e->mapping = NULL;
    }
    if (e->mapping == NULL) {
        snprintf(value, sizeof value, "%s", e->state.memory_source);
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "memory", "at least 4 MiB for measuring", value,
                       "raise the memory limit (ulimit -v, control group), or free memory");
    }
    uintptr_t start = ((uintptr_t)e->mapping + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    e->arena = (unsigned char *)e->mapping + (start - (uintptr_t)e->mapping);
    e->arena_bytes = bytes;
    e->small_at = bytes / 4 * 3 / ALIGNMENT * ALIGNMENT;
    madvise(e->arena, e->small_at, options->no_huge_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    madvise(e->arena + e->small_at, bytes - e->small_at, MADV_NOHUGEPAGE);
    dg_arena_fill(e, 0, bytes);
    e->info.page_bytes = page > 0 ? (unsigned)page : 4096;
    e->info.huge_pages = e->host.huge_bytes(&e->host, e->arena, e->small_at) >=
                         e->small_at / 10 * 9;
    e->info.memory_limit = bytes;
    e->info.small_from = e->small_at;
    uint64_t last = dg_host_last_level(&e->host, e->info.cpu);
    e->info.memory_short = bytes < (last > 0 ? 4 * last : USUAL);
    e->block = aligned_alloc(4096, DG_BLOCK_BYTES);
    if (e->block == NULL)
        return dg_fail(error, DG_EXIT_UNAVAILABLE, "memory", "16 KiB for loops", "none left",
                       "free memory");
    dg_loop_block_fill(e->block);
    return true;
}

void dg_arena_close(struct engine *e)
{
    if (e->mapping != NULL)
        munmap(e->mapping, e->mapping_bytes);
    free(e->block);
    e->mapping = e->block = NULL;
}
