/* SPDX-License-Identifier: Apache-2.0
 *
 * Which chip this says it is: for the profile's name and its `environment`. Nothing is measured or
 * planned by it. */
#ifndef DG_MICROBENCH_HOST_IDENTITY_H
#define DG_MICROBENCH_HOST_IDENTITY_H

#include "microbench/host/host.h"

enum { DG_IDENTITY_SIZE = 96 };
struct dg_identity {
    char vendor[32], family[16], model[16];      /* "amd" "23" "1"; Arm: "arm41" "" "d0b" */
    char text[DG_IDENTITY_SIZE];                 /* what the system calls it; "" unknown */
    bool hypervisor;
};
void dg_identify(struct dg_host *host, unsigned cpu, struct dg_identity *out);
/* "<vendor>-<family>-<model>-<kind>", lower case letters, digits and '-'. */
void dg_identity_slug(const struct dg_identity *identity, const char *kind,
                      char out[DG_IDENTITY_SIZE]);

/* "intel 6 167", "arm41 d0b": vendor, family and model as far as they are known, as a manifest
 * names the chip that its kernel was planned for. */
void dg_identity_chip(const struct dg_identity *identity, char out[DG_IDENTITY_SIZE]);

#endif
