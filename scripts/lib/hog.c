/* SPDX-License-Identifier: Apache-2.0
 *
 * A neighbour for scripts/bench-probe: until it is killed, half of the time it copies 64 MiB to and
 * fro and half of the time it keeps the multipliers busy, on the CPUs that it may run on. */
#include <string.h>
#include <time.h>

enum { BYTES = 64 << 20, LANES = 64 };

extern volatile float hog_seen;
volatile float hog_seen;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void multiply(float *x)
{
    for (int i = 0; i < 1000000; i++)
        for (int j = 0; j < LANES; j++)
            x[j] = x[j] * 0.999f + 0.001f;
}

int main(void)
{
    static char a[BYTES], b[BYTES];
    float x[LANES] = { 1 };
    memset(a, 1, BYTES);
    for (;;) {
        for (double end = now() + 0.5; now() < end;) {
            memcpy(b, a, BYTES);
            memcpy(a, b, BYTES);
        }
        for (double end = now() + 0.5; now() < end;)
            multiply(x);
        hog_seen = x[0];
    }
}
