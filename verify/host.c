/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/host.h"

#include <string.h>

#include "microbench/host/host.h"
#include "microbench/host/identity.h"

static enum dg_host_fit foreign(const struct dg_manifest *m, struct dg_error *e)
{
    dg_fail(e, DG_EXIT_UNAVAILABLE, m->name,
            "is a kernel for another architecture than this host's", m->architecture,
            "run it under an emulator: deepgemm-verify --qemu PATH");
    return DG_HOST_FOREIGN;
}

static bool listed(const char *name, const char *const *had, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(had[i], name) == 0)
            return true;
    return false;
}

/* The first of the comma-separated features that the list lacks, in `out`; false: none. */
static bool first_missing(const char *needed, const char *const *had, size_t count, char out[64])
{
    for (const char *rest = needed; *rest != '\0';) {
        size_t length = strcspn(rest, ",");
        dg_format(out, 64, "%s", rest);
        if (length < 64)
            out[length] = '\0';
        if (!listed(out, had, count))
            return true;
        rest += length + (rest[length] == ',');
    }
    return false;
}

enum dg_host_fit dg_host_fit(const struct dg_manifest *manifest, struct dg_error *e)
{
    struct dg_host host;
    struct dg_feature_words words;
    const char *features[DG_FEATURES_MAX];
    char missing[64];
    dg_host_system(&host, NULL);
    if (strcmp(manifest->architecture, host.machine) != 0)
        return foreign(manifest, e);
    dg_features_read(&host, &words);
    size_t count = dg_features_decode(host.machine, &words, features);
    if (!first_missing(manifest->features, features, count, missing))
        return DG_HOST_FITS;
    dg_fail(e, DG_EXIT_UNAVAILABLE, manifest->name, "needs a feature that this host cannot run",
            missing, "verify it on a machine that has it, or with --qemu");
    return DG_HOST_LACKS;
}

const char *dg_host_chip(struct dg_arena *arena)
{
    struct dg_host host;
    struct dg_identity identity;
    char chip[DG_IDENTITY_SIZE];
    dg_host_system(&host, NULL);
    int cpu = host.current_cpu(&host);
    dg_identify(&host, cpu < 0 ? 0 : (unsigned)cpu, &identity);
    dg_identity_chip(&identity, chip);
    return dg_strdup(arena, chip);
}
