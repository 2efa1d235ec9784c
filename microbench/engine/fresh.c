/* SPDX-License-Identifier: Apache-2.0
 * Fresh pages: what the first write to each costs, which is the system's work, not the core's. */
#include "microbench/engine/internal.h"

#include <stdio.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20 };

static bool no_pages(struct dg_error *error, const char *rule, const char *todo)
{
    return dg_fail(error, DG_EXIT_UNAVAILABLE, "fresh pages", rule, "", todo);
}

/* Nanoseconds of the first writes; *huge: bytes that have huge pages behind them then. */
static double touch_all(struct engine *e, unsigned char *at, uint64_t bytes, uint64_t page,
                        uint64_t *huge)
{
    uint64_t from = dg_clock_now(&e->clock);
    for (uint64_t offset = 0; offset < bytes; offset += page)
        *(volatile unsigned char *)(at + offset) = 1;
    uint64_t to = dg_clock_now(&e->clock);
    *huge = e->host.huge_bytes(&e->host, at, bytes);
    return dg_clock_elapsed(&e->clock, from, to) * e->clock.ns_per_tick;
}

/* One sample; 0: no memory, negative: no huge pages. */
static double once(struct engine *e, const struct dg_fresh *fresh, uint64_t page)
{
    uint64_t span = fresh->bytes + HUGE_BYTES, huge = 0;
    unsigned char *map = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                              0);
    if (map == MAP_FAILED)
        return 0;
    uintptr_t start = ((uintptr_t)map + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    unsigned char *at = map + (start - (uintptr_t)map);
    madvise(at, fresh->bytes, fresh->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    double ns = touch_all(e, at, fresh->bytes, page, &huge);
    munmap(map, span);
    return fresh->huge && huge < fresh->bytes / 10 * 9 ? -1 : ns;
}

bool dg_engine_fresh(void *self, const struct dg_fresh *fresh, struct dg_samples *out,
                     struct dg_error *error)
{
    struct engine *e = self;
    uint64_t page = fresh->huge ? HUGE_BYTES : e->info.page_bytes;
    dg_request_begin(e, out, 1);
    while (out->count < out->capacity) {
        double ticks_per_cycle = dg_chain_now(e), ns = once(e, fresh, page);
        if (dg_request_next(e, 0, 0, out->capacity, error) == GO_FAIL)
            return false;
        if (ns == 0)
            return no_pages(error, "memory for fresh pages", "free memory");
        if (ns < 0)
            return no_pages(error, "huge pages are not given to memory that asks for them",
                            "allow them: /sys/kernel/mm/transparent_hugepage/enabled");
        uint64_t pages = fresh->bytes / page;
        double each = ns / (double)pages;
        out->sample[out->count++] = (struct dg_sample){
            .cycles = each / e->clock.ns_per_tick / ticks_per_cycle, .ns = each };
    }
    dg_samples_summary(out);
    return true;
}
