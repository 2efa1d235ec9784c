/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

struct code { uintptr_t inside, low, high; };

static int find(struct dl_phdr_info *info, size_t size, void *context)
{
    struct code *code = context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t low = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || code->inside < low ||
            code->inside - low >= segment->p_memsz)
            continue;
        code->low = low;
        code->high = low + segment->p_memsz;
        return 1;
    }
    return 0;
}

bool dg_confine(const void *function)
{
    enum { LOW = offsetof(struct seccomp_data, instruction_pointer), HIGH = LOW + 4 };
    struct code code = {.inside = (uintptr_t)function};
    if (dl_iterate_phdr(find, &code) == 0) {
        errno = ENOENT;
        return false;
    }
    uint32_t low[2] = {(uint32_t)code.low, (uint32_t)((uint64_t)code.low >> 32)};
    uint32_t high[2] = {(uint32_t)code.high, (uint32_t)((uint64_t)code.high >> 32)};
    /* the address is that of the instruction behind, so that the end counts too; halves of 32 bits
     * are all that a filter compares */
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, high[1], 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low[1], 0, 8),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low[1], 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low[0], 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high[1], 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, high[0], 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
