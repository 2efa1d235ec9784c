/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests to a bench as texts: equal texts are equal requests. Orders of chases are given by their
 * length and a hash. */
#ifndef DG_PROBES_REQUEST_H
#define DG_PROBES_REQUEST_H

#include "microbench/bench.h"

enum { DG_REQUEST_SIZE = 320 };

#define REQUEST(name) \
    void dg_request_##name(char text[DG_REQUEST_SIZE], const struct dg_##name *q);
#include "microbench/requests.def"
#undef REQUEST
void dg_request_mix(char text[DG_REQUEST_SIZE], const struct dg_mix *q);

const char *dg_traffic_name(enum dg_traffic kind);

#endif
