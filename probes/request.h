/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests to a bench as texts: equal texts are equal requests. Orders of chases are given by their
 * length and a hash. */
#ifndef DG_PROBES_REQUEST_H
#define DG_PROBES_REQUEST_H

#include "microbench/bench.h"

enum { DG_REQUEST_SIZE = 320 };

void dg_request_chase(char text[DG_REQUEST_SIZE], const struct dg_chase *q);
void dg_request_evict(char text[DG_REQUEST_SIZE], const struct dg_evict *q);
void dg_request_resample(char text[DG_REQUEST_SIZE], const struct dg_resample *q);
void dg_request_stream(char text[DG_REQUEST_SIZE], const struct dg_stream *q);
void dg_request_loop(char text[DG_REQUEST_SIZE], const struct dg_loop *q);
void dg_request_mix(char text[DG_REQUEST_SIZE], const struct dg_mix *q);

const char *dg_traffic_name(enum dg_traffic kind);

#endif
