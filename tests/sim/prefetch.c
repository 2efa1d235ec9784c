/* SPDX-License-Identifier: Apache-2.0
 *
 * Prefetchers: one follows strides of any length that it is allowed, one follows lines in a row
 * within pages. Both see two steps before they believe in a third. */
#include "tests/sim/sim.h"

enum { PAGE = 4096, BELIEVE = 2 };

/* Of `lines` further on, the first that was not brought before. */
static uint32_t first_new(unsigned seen, uint32_t lines)
{
    return seen < BELIEVE ? lines + 1 : seen == BELIEVE ? 1 : lines;
}

static void follow_stride(struct sim_prefetch *p, uint64_t line_number, uint32_t line,
                          struct sim_brought *out)
{
    int64_t delta = (int64_t)(line_number - p->last);
    uint64_t bytes = (uint64_t)(delta < 0 ? -delta : delta) * line;
    if (delta == 0)
        return;
    p->last = line_number;
    p->seen = delta == p->delta ? p->seen + 1 : 1;
    p->delta = delta;
    uint32_t first = first_new(p->seen, p->spec.stride_lines);
    for (uint32_t i = first; bytes <= p->spec.stride && i <= p->spec.stride_lines; i++)
        out->to_l1[out->l1++] = line_number + (uint64_t)delta * i;
}

static void follow_stream(struct sim_prefetch *p, uint64_t line_number, uint32_t line,
                          struct sim_brought *out)
{
    uint64_t page = line_number * line / PAGE, oldest = 0;
    p->time++;
    for (uint64_t i = 0; i < p->spec.streams; i++) {
        if (p->stream[i].used > 0 && p->stream[i].page == page) {
            oldest = i;
            break;
        }
        if (p->stream[i].used < p->stream[oldest].used)
            oldest = i;
    }
    bool known = p->stream[oldest].used > 0 && p->stream[oldest].page == page;
    unsigned seen = !known ? 0 : line_number == p->stream[oldest].line + 1 ?
                    p->stream[oldest].seen + 1 : line_number == p->stream[oldest].line ?
                    p->stream[oldest].seen : 0;
    p->stream[oldest].page = page;
    p->stream[oldest].line = line_number;
    p->stream[oldest].used = p->time;
    p->stream[oldest].seen = seen;
    for (uint32_t i = first_new(seen, p->spec.stream_lines); i <= p->spec.stream_lines; i++)
        if (p->spec.crosses_page || (line_number + i) * line / PAGE == page)
            out->to_l2[out->l2++] = line_number + i;
}

void sim_prefetch(struct sim_prefetch *p, uint64_t offset, uint32_t line, struct sim_brought *out)
{
    out->l1 = out->l2 = 0;
    if (p->spec.stride > 0)
        follow_stride(p, offset / line, line, out);
    if (p->spec.streams > 0)
        follow_stream(p, offset / line, line, out);
}
