/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/request.h"

/* FNV-1a over the offsets */
static unsigned long long hash_of(const uint32_t *order, size_t count)
{
    unsigned long long h = 14695981039346656037ull;
    for (size_t i = 0; i < count; i++)
        for (int shift = 0; shift < 32; shift += 8)
            h = (h ^ (order[i] >> shift & 255)) * 1099511628211ull;
    return h;
}

/* From the first to the last byte's offset. */
static uint32_t span_of(const uint32_t *order, size_t count)
{
    uint32_t low = count > 0 ? order[0] : 0, high = low;
    for (size_t i = 1; i < count; i++) {
        low = order[i] < low ? order[i] : low;
        high = order[i] > high ? order[i] : high;
    }
    return high - low;
}

const char *dg_traffic_name(enum dg_traffic kind)
{
    static const char *const names[DG_TRAFFIC_COUNT] = {
        [DG_READ] = "read", [DG_WRITE] = "write", [DG_COPY] = "copy", [DG_SCALE] = "scale",
        [DG_ADD] = "add", [DG_TRIAD] = "triad", [DG_NT_COPY] = "nt_copy",
        [DG_NT_WRITE] = "nt_write", [DG_NT_TRIAD] = "nt_triad", [DG_READ_FMA] = "read_fma",
    };
    return names[kind];
}

void dg_request_chase(char text[DG_REQUEST_SIZE], const struct dg_chase *q)
{
    uint32_t span = span_of(q->order, q->count);
    dg_format(text, DG_REQUEST_SIZE, "chase%s %zu offsets %llx every %u span %u steps %llu warm %u",
              q->vector ? " vector" : "", q->count, hash_of(q->order, q->count),
              q->count > 1 ? span / (uint32_t)(q->count - 1) : 0, span,
              (unsigned long long)q->steps, q->warm);
}

void dg_request_evict(char text[DG_REQUEST_SIZE], const struct dg_evict *q)
{
    dg_format(text, DG_REQUEST_SIZE, "evict %u by %zu offsets %llx passes %u repeats %u",
              q->target, q->count, hash_of(q->order, q->count), q->passes, q->repeats);
}

void dg_request_resample(char text[DG_REQUEST_SIZE], const struct dg_resample *q)
{
    dg_format(text, DG_REQUEST_SIZE, "resample window %llu %zu offsets %llx",
              (unsigned long long)q->window, q->count, hash_of(q->order, q->count));
}

void dg_request_hold(char text[DG_REQUEST_SIZE], const struct dg_hold *q)
{
    typedef unsigned long long u;
    dg_format(text, DG_REQUEST_SIZE,
              "hold %zu offsets %llx panel %llu+%llu beside %llu push %llu+%llu walks %u", q->count,
              hash_of(q->order, q->count), (u)q->from, (u)q->bytes, (u)q->beside, (u)q->push_from,
              (u)q->push, q->walks);
}

void dg_request_stream(char text[DG_REQUEST_SIZE], const struct dg_stream *q)
{
    dg_format(text, DG_REQUEST_SIZE,
              "stream %s bytes %llu passes %u threads %u step %u prefetch %u streams %u width %u "
              "place %u", dg_traffic_name(q->kind), (unsigned long long)q->bytes, q->passes,
              q->threads, q->step, q->prefetch, q->streams, q->width, q->place);
}

void dg_request_loop(char text[DG_REQUEST_SIZE], const struct dg_loop *q)
{
    if (q->kind == DG_LOOP_PAIR)
        dg_format(text, DG_REQUEST_SIZE, "loop pair %u %s + %u %s", q->count_a, q->op, q->count_b,
                  q->other);
    else if (q->kind == DG_LOOP_RATE)
        dg_format(text, DG_REQUEST_SIZE, "loop rate %s chains %u", q->op, q->chains);
    else
        dg_format(text, DG_REQUEST_SIZE, "loop latency %s operand %u", q->op, q->operand);
}

void dg_request_pace(char text[DG_REQUEST_SIZE], const struct dg_pace *q)
{
    dg_format(text, DG_REQUEST_SIZE, "pace %u bits threads %u idle %llu warm %llu slice %llu",
              q->bits, q->threads, (unsigned long long)q->idle_ns, (unsigned long long)q->warm_ns,
              (unsigned long long)q->slice_ns);
}

void dg_request_fetch(char text[DG_REQUEST_SIZE], const struct dg_fetch *q)
{
    dg_format(text, DG_REQUEST_SIZE,
              "fetch %u to %u step %u by %zu offsets %llx gap %u rest %u repeats %u timed %zu "
              "%llx", q->from, q->to, q->step, q->count, hash_of(q->order, q->count), q->gap,
              q->rest, q->repeats, q->timed_count, hash_of(q->timed, q->timed_count));
}

void dg_request_pick(char text[DG_REQUEST_SIZE], const struct dg_pick *q)
{
    dg_format(text, DG_REQUEST_SIZE, "pick %u of %u bits%s at %u %u %u %u", q->count, q->bits,
              q->store ? " behind a store" : "", q->offset[0], q->offset[1], q->offset[2],
              q->offset[3]);
}

void dg_request_code(char text[DG_REQUEST_SIZE], const struct dg_code *q)
{
    dg_format(text, DG_REQUEST_SIZE, "code %llu bytes length %u", (unsigned long long)q->bytes,
              q->length);
}

void dg_request_fresh(char text[DG_REQUEST_SIZE], const struct dg_fresh *q)
{
    dg_format(text, DG_REQUEST_SIZE, "fresh %llu bytes%s", (unsigned long long)q->bytes,
              q->huge ? " huge" : "");
}

void dg_request_handoff(char text[DG_REQUEST_SIZE], const struct dg_handoff *q)
{
    dg_format(text, DG_REQUEST_SIZE, "handoff %u to %u", q->a, q->b);
}

void dg_request_visit(char text[DG_REQUEST_SIZE], const struct dg_visit *q)
{
    dg_format(text, DG_REQUEST_SIZE, "visit %u latency %s operand %u", q->cpu, q->loop.op,
              q->loop.operand);
}

void dg_request_remote(char text[DG_REQUEST_SIZE], const struct dg_remote *q)
{
    dg_format(text, DG_REQUEST_SIZE, "remote home %u %llu bytes", q->home,
              (unsigned long long)q->bytes);
}

void dg_request_mix(char text[DG_REQUEST_SIZE], const struct dg_mix *q)
{
    typedef unsigned long long u;
    dg_format(text, DG_REQUEST_SIZE,
              "mix %s.%u v%u b%u stores %u steps %llu turns %llu s %llu/%llu x%llu rows %llu %llu/"
              "%llu c %llu/%llu %llu%s%s%s%s",
              q->dtype, q->bits, q->vectors, q->rows, q->stores, (u)q->steps, (u)q->turns,
              (u)q->s_turn, (u)q->s_region, (u)q->s_repeat, (u)q->row_stride, (u)q->r_turn,
              (u)q->r_region, (u)q->c_turn, (u)q->c_region, (u)q->c_row_stride,
              q->c_read ? " c_read" : "", q->prefetch ? " prefetch" : "", q->call ? " call" : "",
              q->anew ? " anew" : "");
}
