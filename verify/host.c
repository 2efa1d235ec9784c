/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/host.h"

#include <string.h>

#if defined(__x86_64__)
static const char own_architecture[] = "x86_64";
#elif defined(__aarch64__)
static const char own_architecture[] = "aarch64";
#else
static const char own_architecture[] = "portable";
#endif

static bool has_feature(const char *name)
{
#if defined(__x86_64__)
    if (strcmp(name, "avx") == 0) return __builtin_cpu_supports("avx");
    if (strcmp(name, "avx2") == 0) return __builtin_cpu_supports("avx2");
    if (strcmp(name, "fma") == 0) return __builtin_cpu_supports("fma");
    if (strcmp(name, "avx512f") == 0) return __builtin_cpu_supports("avx512f");
    if (strcmp(name, "avx512vl") == 0) return __builtin_cpu_supports("avx512vl");
    if (strcmp(name, "avx512bw") == 0) return __builtin_cpu_supports("avx512bw");
    if (strcmp(name, "avx512dq") == 0) return __builtin_cpu_supports("avx512dq");
    return strcmp(name, "sse2") == 0;
#else
    return strcmp(name, "asimd") == 0 || strcmp(name, "fp") == 0;
#endif
}

static enum dg_host_fit foreign(const struct dg_manifest *m, struct dg_error *e)
{
    dg_fail(e, DG_EXIT_UNAVAILABLE, m->name, "is a kernel for another architecture than this host's",
            m->architecture, "run it under an emulator: deepgemm-verify --qemu PATH");
    return DG_HOST_FOREIGN;
}

enum dg_host_fit dg_host_fit(const struct dg_manifest *manifest, struct dg_error *e)
{
    if (strcmp(manifest->architecture, own_architecture) != 0)
        return foreign(manifest, e);
    for (const char *rest = manifest->features; *rest != '\0';) {
        char name[64];
        size_t length = strcspn(rest, ",");
        dg_format(name, sizeof name, "%s", rest);
        if (length < sizeof name)
            name[length] = '\0';
        if (!has_feature(name)) {
            dg_fail(e, DG_EXIT_UNAVAILABLE, manifest->name,
                    "needs a feature that this host cannot run", name,
                    "verify it on a machine that has it, or with --qemu");
            return DG_HOST_LACKS;
        }
        rest += length + (rest[length] == ',');
    }
    return DG_HOST_FITS;
}
