/* SPDX-License-Identifier: Apache-2.0
 *
 * Can this machine run a kernel itself? */
#ifndef DG_VERIFY_HOST_H
#define DG_VERIFY_HOST_H

#include "emit/write/manifest.h"

enum dg_host_fit {
    DG_HOST_FITS,
    DG_HOST_LACKS,               /* same architecture, a feature is missing: *e names it */
    DG_HOST_FOREIGN,             /* another architecture: *e hints at --qemu */
};
enum dg_host_fit dg_host_fit(const struct dg_manifest *manifest, struct dg_error *e);
/* What this host calls its chip, in the words of a manifest's profile.chip; NULL: no memory. */
const char *dg_host_chip(struct dg_arena *arena);

#endif
