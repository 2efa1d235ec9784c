/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory between unmapped pages, and the handler that says which operand a fault belongs to. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "verify/runner/internal.h"

enum {
    SLACK = 192,            /* room for an odd start and an aligned one */
    MOST_CODE = 1 << 24,    /* a program counter further from the kernel is none of its */
};

/* How far beside an operand nothing is mapped, where addresses are plenty: all that a displacement
 * of x86-64 reaches; elsewhere an emulator may keep a record of each page. */
#if defined(__x86_64__)
static const size_t most_reach = (size_t)1 << 31;
#else
static const size_t most_reach = (size_t)1 << 26;
#endif

bool dg_guarded_open(struct dg_guarded *g, const char *label, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *g = (struct dg_guarded){.label = label, .page = page, .size = size};
    if (size > SIZE_MAX / 2)
        return false;
    g->bytes = (size + SLACK + page - 1) / page * page;
    void *map = MAP_FAILED;
    for (g->reach = most_reach; map == MAP_FAILED && g->reach >= page; g->reach /= 4)
        map = mmap(NULL, g->bytes + 2 * g->reach, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    g->reach *= 4;
    g->map = map;
    g->base = g->start = g->map + g->reach;
    return mprotect(g->start, g->bytes, PROT_READ | PROT_WRITE) == 0;
}

void dg_guarded_close(struct dg_guarded *g)
{
    if (g->map != NULL)
        munmap(g->map, g->bytes + 2 * g->reach);
    g->map = NULL;
}

void dg_guarded_place(struct dg_guarded *g, enum dg_place place, size_t element, size_t alignment)
{
    unsigned char *start = g->start;
    size_t end = g->bytes - g->size;
    switch (place) {
    case DG_PLACE_END: g->base = start + end / alignment * alignment; break;
    case DG_PLACE_ODD: g->base = start + (alignment > element ? alignment : element); break;
    default: g->base = start; break;
    }
}

void dg_guarded_mark(struct dg_guarded *g)
{
    unsigned char *start = g->start, *end = start + g->bytes;
    memset(start, DG_CANARY, (size_t)(g->base - start));
    memset(g->base + g->size, DG_CANARY, (size_t)(end - g->base) - g->size);
}

bool dg_guarded_marked(const struct dg_guarded *g, ptrdiff_t *where)
{
    const unsigned char *start = g->start, *end = start + g->bytes;
    for (const unsigned char *p = start; p < end; p++) {
        if (p == g->base)
            p += g->size;
        if (p < end && *p != DG_CANARY) {
            *where = p - g->base;
            return false;
        }
    }
    return true;
}

void dg_guarded_lock(struct dg_guarded *g, bool locked)
{
    mprotect(g->start, g->bytes, locked ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* A signal handler has no argument to carry these: the one place where the runner keeps state
 * outside its structs. One runner a process. */
static struct {
    int out;
    const struct dg_guarded *const *places;
    size_t count;
    const void *kernel;
    const char *check;
} faults;

static uintptr_t fault_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    return context == NULL;
#endif
}

uintptr_t dg_context_stack(const void *context)
{
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.sp;
#else
    return (uintptr_t)at->uc_stack.ss_sp + 8192;
#endif
}

static const char *signal_text(int number)
{
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    case SIGTRAP: return "SIGTRAP";
    case SIGSYS: return "SIGSYS";
    default: return "SIGABRT";
    }
}

/* "4 bytes behind the end of A": the operand within reach of the address, if there is one. */
static void name_place(char *text, size_t size, uintptr_t address)
{
    for (size_t i = 0; i < faults.count; i++) {
        const struct dg_guarded *g = faults.places[i];
        uintptr_t low = (uintptr_t)g->map, base = (uintptr_t)g->base;
        if (g->map == NULL || address < low || address >= low + g->bytes + 2 * g->reach)
            continue;
        if (address < base)
            snprintf(text, size, "%zu bytes before %s", (size_t)(base - address), g->label);
        else if (address >= base + g->size)
            snprintf(text, size, "%zu bytes behind the end of %s",
                     (size_t)(address - base - g->size), g->label);
        else
            snprintf(text, size, "a write into %s at byte %zu", g->label, (size_t)(address - base));
        return;
    }
    snprintf(text, size, "address %#zx", (size_t)address);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    char place[96], line[320], at[64];
    size_t distance = (size_t)(fault_pc(context) - (uintptr_t)faults.kernel);
    bool memory = number == SIGSEGV || number == SIGBUS;
    if (memory)
        name_place(place, sizeof place, (uintptr_t)info->si_addr);
    else if (number == SIGSYS)
        snprintf(place, sizeof place, "a system call (number %d)", info->si_syscall);
    else
        snprintf(place, sizeof place, "an instruction that this CPU refuses or traps on");
    if (distance < MOST_CODE)
        snprintf(at, sizeof at, "0x%zx bytes into the kernel", distance);
    else
        snprintf(at, sizeof at, "a place outside the kernel");
    int length = snprintf(line, sizeof line, "fail\t%s\t%s, %s, at %s\nend\t1\n", faults.check,
                          signal_text(number), place, at);
    if (length > 0 && write(faults.out, line, (size_t)length) < 0)
        _exit(71);
    _exit(1);
}

void dg_faults_at(const char *check)
{
    faults.check = check;
}

void dg_faults_install(int out, const struct dg_guarded *const *places, size_t count,
                       const void *kernel)
{
    static unsigned char stack[64 * 1024];
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    faults.out = out;
    faults.places = places;
    faults.count = count;
    faults.kernel = kernel;
    faults.check = "start";
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}
