/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of probes (probes.def). */
#ifndef DG_PROBES_PROBE_H
#define DG_PROBES_PROBE_H

#include "probes/context.h"

enum dg_probe_id {
#define PROBE(id, title, fields, needs, seconds, once) DG_PROBE_##id,
#include "probes/probes.def"
#undef PROBE
    DG_PROBE_COUNT
};

struct dg_probe {
    const char *id, *title, *fields, *needs;
    double seconds;
    bool once;
    void (*function)(struct dg_context *);
};
extern const struct dg_probe dg_probes[DG_PROBE_COUNT];
/* NULL: no such id. */
const struct dg_probe *dg_probe_by_id(const char *id);

#define PROBE(id, title, fields, needs, seconds, once) void dg_probe_##id(struct dg_context *ctx);
#include "probes/probes.def"
#undef PROBE

#endif
