/* SPDX-License-Identifier: Apache-2.0 */
#include "microbench/host/identity.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void copy(char *out, size_t size, const char *text)
{
    dg_format(out, size, "%s", text);
}

/* "AuthenticAMD" and "GenuineIntel" by their usual short names, others as they are. */
static void name_vendor(const uint32_t words[4], char out[32])
{
    char text[13] = { 0 };
    memcpy(text, &words[1], 4);
    memcpy(text + 4, &words[3], 4);
    memcpy(text + 8, &words[2], 4);
    copy(out, 32, strcmp(text, "AuthenticAMD") == 0 ? "amd" :
         strcmp(text, "GenuineIntel") == 0 ? "intel" : text);
}

static bool identify_x86(struct dg_host *host, struct dg_identity *out)
{
    uint32_t id[4], signature[4];
    if (host->cpuid == NULL || !host->cpuid(host, 0, 0, id) || !host->cpuid(host, 1, 0, signature))
        return false;
    uint32_t a = signature[0], family = a >> 8 & 15, model = a >> 4 & 15;
    if (family == 6 || family == 15)
        model |= a >> 12 & 0xf0;
    if (family == 15)
        family += a >> 20 & 255;
    name_vendor(id, out->vendor);
    dg_format(out->family, sizeof out->family, "%u", family);
    dg_format(out->model, sizeof out->model, "%u", model);
    out->hypervisor = signature[2] >> 31 & 1;
    return true;
}

/* Of this CPU; kernels that describe only one have the first lines for all. */
static bool cpu_key(struct dg_host *host, unsigned cpu, const char *key, char *out, size_t size)
{
    return dg_host_cpu_key(host, cpu, key, out, size) ||
           dg_host_key(host, "/proc/cpuinfo", key, out, size);
}

static void identify_arm(struct dg_host *host, unsigned cpu, struct dg_identity *out)
{
    char path[128], text[64];
    unsigned long long midr;
    dg_format(path, sizeof path, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
    if (host->read_file(host, path, text, sizeof text) >= 0 && sscanf(text, "%llx", &midr) == 1) {
        dg_format(out->vendor, sizeof out->vendor, "arm%02llx", midr >> 24 & 255);
        dg_format(out->model, sizeof out->model, "%03llx", midr >> 4 & 0xfff);
        return;
    }
    if (cpu_key(host, cpu, "CPU implementer", text, sizeof text))
        dg_format(out->vendor, sizeof out->vendor, "arm%s",
                  strncmp(text, "0x", 2) == 0 ? text + 2 : text);
    if (cpu_key(host, cpu, "CPU part", text, sizeof text))
        dg_format(out->model, sizeof out->model, "%s",
                  strncmp(text, "0x", 2) == 0 ? text + 2 : text);
}

void dg_identify(struct dg_host *host, unsigned cpu, struct dg_identity *out)
{
    memset(out, 0, sizeof *out);
    if (!identify_x86(host, out) && strcmp(host->machine, "x86_64") != 0)
        identify_arm(host, cpu, out);
    if (!dg_host_key(host, "/proc/cpuinfo", "model name", out->text, sizeof out->text))
        out->text[0] = '\0';
    if (out->vendor[0] == '\0')
        copy(out->vendor, sizeof out->vendor, host->machine);
}

void dg_identity_slug(const struct dg_identity *id, const char *kind, char out[DG_IDENTITY_SIZE])
{
    const char *parts[] = { id->vendor, id->family, id->model, kind };
    size_t length = 0;
    for (size_t p = 0; p < 4; p++) {
        if (parts[p][0] != '\0' && length > 0 && length + 1 < DG_IDENTITY_SIZE)
            out[length++] = '-';
        for (const char *c = parts[p]; *c != '\0' && length + 1 < DG_IDENTITY_SIZE; c++) {
            bool upper = *c >= 'A' && *c <= 'Z';
            bool plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
            out[length++] = upper ? (char)(*c - 'A' + 'a') : plain ? *c : '-';
        }
    }
    out[length] = '\0';
}

void dg_identity_chip(const struct dg_identity *id, char out[DG_IDENTITY_SIZE])
{
    const char *family = id->family, *model = id->model;
    dg_format(out, DG_IDENTITY_SIZE, "%s%s%s%s%s", id->vendor, family[0] != '\0' ? " " : "", family,
              model[0] != '\0' ? " " : "", model);
}
