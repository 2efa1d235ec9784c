/* SPDX-License-Identifier: Apache-2.0
 *
 * hardware.json: what one kind of core of one chip can do. Nothing here asks the machine that it
 * runs on. Functions may be called from several threads on different objects. */
#ifndef DEEPGEMM_PROFILE_H
#define DEEPGEMM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "deepgemm/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dg_hardware;                     /* a checked profile */

/* Reads and checks a file; NULL with *e filled (DG_EXIT_INPUT). Free it with dg_profile_free. */
struct dg_hardware *dg_profile_read(const char *path, struct dg_error *e);
void dg_profile_free(struct dg_hardware *hardware);

/* Writes it in the normal form: every scalar, null where unknown. The file is replaced in one
 * step; on failure the old one is whole. */
bool dg_profile_write(const struct dg_hardware *hardware, const char *path, struct dg_error *e);

/* Reads, checks and forgets. *warnings (may be NULL) gets the number of contradictions with values
 * that were typed by hand. */
bool dg_profile_validate(const char *path, size_t *warnings, struct dg_error *e);

/* The warnings of a profile, 0 .. count - 1; NULL behind the last. */
const char *dg_profile_warning(const struct dg_hardware *hardware, size_t index);

/* One value by its key ("l1_size", "op.fma.f32.256.per_cycle"); false when absent, null or of
 * another type. Units: bytes, cycles, bytes per cycle (L1, L2), ns and GB/s (L3, DRAM), Hz. */
bool dg_profile_value(const struct dg_hardware *hardware, const char *key, double *out);
const char *dg_profile_name(const struct dg_hardware *hardware);    /* NULL: it has none */

#ifdef __cplusplus
}
#endif

#endif
