/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on a simulated chip: units of resources by meaning and width. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "tests/sim/sim.h"

static const struct dg_op *row_of(const struct sim_chip *chip, const char *name)
{
    char copy[64];
    char *dtype, *bits;
    if (strlen(name) >= sizeof copy)
        return NULL;
    strcpy(copy, name);
    if ((dtype = strchr(copy, '.')) == NULL)
        return NULL;
    *dtype++ = '\0';
    if ((bits = strchr(dtype, '.')) == NULL)
        return NULL;
    *bits++ = '\0';
    for (size_t i = 0; dg_isas[i] != NULL; i++) {
        const struct dg_op *op = dg_isa_op_named(dg_isas[i], copy, dtype,
                                                 (unsigned)strtoul(bits, NULL, 10));
        if (op != NULL && strcmp(dg_isas[i]->architecture, chip->architecture) == 0 &&
            dg_features_have(chip->features, chip->feature_count, op->feature))
            return op;
    }
    return NULL;
}

static void take(const struct sim_chip *chip, enum sim_resource resource, unsigned bits,
                 double units[SIM_RESOURCES])
{
    const struct sim_unit *unit = &chip->unit[resource];
    units[resource] = unit->bits == 0 || bits <= unit->bits ? 1 : (double)bits / unit->bits;
}

/* Which resources a meaning takes besides issue slots. */
static void take_by_meaning(const struct sim_chip *chip, const struct dg_op *op,
                            double units[SIM_RESOURCES])
{
    bool scalar = op->bits == 64 && strcmp(op->dtype, "i64") == 0;
    switch (op->sem) {
    case DG_SEM_LOAD: case DG_SEM_LOAD_PART: case DG_SEM_BROADCAST: case DG_SEM_LOAD_ELEMENT:
    case DG_SEM_SLOT_LOAD: case DG_SEM_PREFETCH_L1: case DG_SEM_PREFETCH_L2:
    case DG_SEM_PREFETCH_WRITE:
        take(chip, SIM_LOAD, op->bits, units);
        break;
    case DG_SEM_STORE: case DG_SEM_STORE_PART: case DG_SEM_SLOT_STORE:
        take(chip, SIM_STORE, op->bits, units);
        break;
    case DG_SEM_FMA_LOAD: case DG_SEM_FMA_BROADCAST:
        take(chip, SIM_LOAD, op->bits, units);
        take(chip, SIM_MULTIPLY, op->bits, units);
        break;
    default:
        if (strcmp(op->name, "load") == 0)
            take(chip, SIM_LOAD, op->bits, units);
        else if (strcmp(op->name, "store") == 0)
            take(chip, SIM_STORE, op->bits, units);
        else
            take(chip, scalar ? SIM_INTEGER : SIM_MULTIPLY, op->bits, units);
    }
}

bool sim_units(const struct sim_chip *chip, const char *name, double units[SIM_RESOURCES],
               double *latency, double *acc_latency)
{
    const struct dg_op *op = row_of(chip, name);
    memset(units, 0, SIM_RESOURCES * sizeof *units);
    if (op == NULL)
        return false;
    take_by_meaning(chip, op, units);
    units[SIM_ISSUE] = fmax(fmax(units[SIM_MULTIPLY], units[SIM_LOAD]),
                            fmax(units[SIM_STORE], units[SIM_INTEGER]));
    bool fma = op->sem == DG_SEM_FMA || op->sem == DG_SEM_FMA_LOAD ||
               op->sem == DG_SEM_FMA_BROADCAST || op->sem == DG_SEM_FMA_ELEMENT;
    bool scalar = strcmp(op->dtype, "i64") == 0;
    *latency = fma ? chip->fma_latency : scalar ? 1 : chip->add_latency;
    *acc_latency = fma ? chip->fma_acc_latency : *latency;
    return true;
}

double sim_group_cycles(const struct sim_chip *chip, const char *a, unsigned count_a,
                        const char *b, unsigned count_b)
{
    double units_a[SIM_RESOURCES], units_b[SIM_RESOURCES] = { 0 }, latency, acc, cycles = 0;
    if (!sim_units(chip, a, units_a, &latency, &acc) ||
        (b != NULL && !sim_units(chip, b, units_b, &latency, &acc)))
        return 0;
    for (int r = 0; r < SIM_RESOURCES; r++)
        cycles = fmax(cycles, (count_a * units_a[r] + count_b * units_b[r]) /
                      chip->unit[r].capacity);
    return cycles;
}
