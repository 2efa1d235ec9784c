/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DG_BASE_SHA256_H
#define DG_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct dg_sha256 {
    uint32_t state[8];
    uint64_t length;                 /* bytes so far */
    unsigned char block[64];
};

enum { DG_SHA256_HEX = 65 };         /* 64 lower-case hex digits and the terminator */

void dg_sha256_init(struct dg_sha256 *s);
void dg_sha256_add(struct dg_sha256 *s, const void *bytes, size_t count);
void dg_sha256_end(struct dg_sha256 *s, unsigned char digest[32]);
void dg_sha256_hex(const void *bytes, size_t count, char hex[DG_SHA256_HEX]);

#endif
