/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/cpus.h"

#include <stdlib.h>
#include <string.h>

#include "microbench/host/host.h"

size_t dg_cpu_list(const char *text, unsigned out[DG_CPU_LIST_MOST])
{
    struct dg_cpus cpus;
    size_t count = 0;
    if (text == NULL || !dg_cpus_parse(text, &cpus))
        return 0;
    for (unsigned cpu = 0; cpu < DG_CPUS_MAX && count < DG_CPU_LIST_MOST; cpu++)
        if (dg_cpus_have(&cpus, cpu))
            out[count++] = cpu;
    return count;
}

const char *dg_cpu_text(struct dg_arena *arena, const unsigned *list, size_t count)
{
    char text[1000];
    struct dg_cpus cpus;
    memset(&cpus, 0, sizeof cpus);
    for (size_t i = 0; i < count; i++)
        dg_cpus_add(&cpus, list[i]);
    dg_cpus_format(&cpus, text, sizeof text);
    return dg_strdup(arena, text);
}

unsigned dg_cpu_least(const char *text)
{
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 0;
}

int dg_cpu_common(const char *text, const unsigned *list, size_t count)
{
    struct dg_cpus cpus;
    if (text == NULL || !dg_cpus_parse(text, &cpus))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (dg_cpus_have(&cpus, list[i]))
            return (int)list[i];
    return -1;
}
