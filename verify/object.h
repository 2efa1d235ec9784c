/* SPDX-License-Identifier: Apache-2.0
 *
 * What an object promises before it runs: no writable data, nothing undefined, no global name
 * outside its own, no system call where the bytes tell. */
#ifndef DG_VERIFY_OBJECT_H
#define DG_VERIFY_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* `bytes`: an ELF object for 64 bits, little endian. False: `fault` says what is wrong. */
bool dg_object_fits(const void *bytes, size_t size, const char *name, char *fault,
                    size_t fault_size);

#endif
