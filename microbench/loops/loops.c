/* SPDX-License-Identifier: Apache-2.0
 * Finding a loop that may be called here. */
#include "microbench/loops/loops.h"

#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

static void fill(unsigned char *to, size_t bytes, const void *value, size_t size)
{
    for (size_t i = 0; i < bytes; i += size)
        memcpy(to + i, value, size);
}

void dg_loop_block_fill(void *block)
{
    const float one = 1.0F, tiny = 0x1p-40F;
    const double one64 = 1.0, tiny64 = 0x1p-40;
    const uint16_t one16 = 0x3c00, tiny16 = 0x0400;
    unsigned char *at = block;
    fill(at, DG_BLOCK_BYTES, &one, sizeof one);
    fill(at + DG_BLOCK_F16, 2048, &one16, sizeof one16);
    fill(at + DG_BLOCK_F64, 4096, &one64, sizeof one64);
    fill(at + DG_BLOCK_ONE_F32, 64, &one, sizeof one);
    fill(at + DG_BLOCK_TINY_F32, 64, &tiny, sizeof tiny);
    fill(at + DG_BLOCK_ONE_F64, 64, &one64, sizeof one64);
    fill(at + DG_BLOCK_TINY_F64, 64, &tiny64, sizeof tiny64);
    fill(at + DG_BLOCK_ONE_F16, 64, &one16, sizeof one16);
    fill(at + DG_BLOCK_TINY_F16, 64, &tiny16, sizeof tiny16);
}

unsigned dg_op_bits(const char *op)
{
    const char *dot = op != NULL ? strrchr(op, '.') : NULL;
    return dot != NULL ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
}

unsigned dg_traffic_arrays(enum dg_traffic kind)
{
    switch (kind) {
    case DG_READ: case DG_WRITE: case DG_NT_WRITE: case DG_READ_FMA:
        return 1;
    case DG_COPY: case DG_SCALE: case DG_NT_COPY:
        return 2;
    case DG_ADD: case DG_TRIAD: case DG_NT_TRIAD:
        return 3;
    }
    return 1;
}

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool fits(const struct dg_loop_entry *entry, const struct dg_loop *want)
{
    if (entry->kind != want->kind || !same(entry->op, want->op))
        return false;
    switch (want->kind) {
    case DG_LOOP_LATENCY:
        return entry->operand == want->operand;
    case DG_LOOP_RATE:
        return entry->chains == want->chains;
    case DG_LOOP_PAIR:
        return same(entry->other, want->other) && entry->count_a == want->count_a &&
               entry->count_b == want->count_b;
    }
    return false;
}

static const struct dg_loop_entry *find(const struct dg_loop *want, const char *const *features,
                                        size_t feature_count)
{
    for (size_t i = 0; i < dg_loop_count; i++)
        if (fits(&dg_loops[i], want) &&
            dg_features_have(features, feature_count, dg_loops[i].features))
            return &dg_loops[i];
    return NULL;
}

const struct dg_loop_entry *dg_loop_find(const struct dg_loop *want, const char *const *features,
                                         size_t feature_count)
{
    const struct dg_loop_entry *entry = find(want, features, feature_count);
    if (entry == NULL && want->kind == DG_LOOP_PAIR && want->other != NULL) {
        struct dg_loop turned = *want;
        turned.op = want->other;
        turned.other = want->op;
        turned.count_a = want->count_b;
        turned.count_b = want->count_a;
        entry = find(&turned, features, feature_count);
    }
    return entry;
}

/* One line a trip is enough when the panel is passed so often that all of it gets its turn. */
static bool prefetch_fits(const struct dg_mix_entry *entry, const struct dg_mix *want)
{
    unsigned lines = DG_MIX_STEPS * want->vectors * (want->bits / 8) / 64;
    if (!want->prefetch)
        return entry->prefetch == 0;
    return entry->prefetch == (want->s_repeat >= lines || lines == 0 ? 1 : lines);
}

const struct dg_mix_entry *dg_mix_find(const struct dg_mix *want, const char *const *features,
                                       size_t feature_count)
{
    for (size_t i = 0; i < dg_mix_count; i++) {
        const struct dg_mix_entry *entry = &dg_mixes[i];
        if (entry->bits == want->bits && entry->vectors == want->vectors &&
            entry->rows == want->rows && same(entry->dtype, want->dtype) &&
            prefetch_fits(entry, want) &&
            dg_features_have(features, feature_count, entry->features))
            return entry;
    }
    return NULL;
}

static bool stream_fits(const struct dg_stream_entry *entry, const struct dg_stream *want)
{
    return entry->kind == want->kind && entry->prefetch == (want->prefetch > 0) &&
           entry->streams == (want->streams > 1 ? want->streams : 1) &&
           (want->step == 0 || entry->step == want->step) &&
           (want->width == 0 || entry->bits == 8 * want->width);
}

static bool same_loop(const struct dg_stream_entry *a, const struct dg_stream_entry *b)
{
    return a->kind == b->kind && a->bits == b->bits && a->step == b->step &&
           a->streams == b->streams && a->prefetch == b->prefetch;
}

/* The widest vectors stand first; of copies of one loop the wanted one. */
const struct dg_stream_entry *dg_stream_find(const struct dg_stream *want,
                                             const char *const *features, size_t feature_count)
{
    const struct dg_stream_entry *first = NULL, *copy = NULL;
    unsigned copies = 0;
    for (size_t i = 0; i < dg_stream_count; i++) {
        const struct dg_stream_entry *entry = &dg_streams[i];
        if (first == NULL && stream_fits(entry, want) &&
            dg_features_have(features, feature_count, entry->features))
            first = entry;
        copies += first != NULL && same_loop(first, entry);
    }
    for (size_t i = 0; first != NULL && copy == NULL; i++)
        if (same_loop(first, &dg_streams[i]) && dg_streams[i].place == want->place % copies)
            copy = &dg_streams[i];
    return copy;
}

const struct dg_chase_entry *dg_chase_find(bool vector, const char *const *features,
                                           size_t feature_count)
{
    for (size_t i = 0; i < dg_chase_count; i++)
        if ((dg_chases[i].bits > 64) == vector &&
            dg_features_have(features, feature_count, dg_chases[i].features))
            return &dg_chases[i];
    return NULL;
}

const struct dg_pick_entry *dg_pick_find(const struct dg_pick *want, const char *const *features,
                                         size_t feature_count)
{
    bool counts = want->count == 2 || want->count == DG_PICKS;
    for (size_t i = 0; counts && i < dg_pick_count; i++)
        if (dg_picks[i].bits == want->bits && dg_picks[i].store == want->store &&
            dg_features_have(features, feature_count, dg_picks[i].features))
            return &dg_picks[i];
    return NULL;
}

const struct dg_code_entry *dg_code_find(unsigned length)
{
    for (size_t i = 0; i < dg_code_count; i++)
        if (dg_codes[i].length == length)
            return &dg_codes[i];
    return NULL;
}
