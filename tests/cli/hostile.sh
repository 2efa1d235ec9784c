#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The probe on hosts that hide, refuse and limit: it ends with 0 and a profile that validates, and
# says what was missing. Arguments: ROOT PROBE.
set -u
root=$1 probe=$2
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME PATTERN COMMAND...: the command writes $work/h.json; the pattern (! PATTERN: not) must
# be in that file or in what is printed.
check() {
    local name=$1 pattern=$2 code=0 found=0
    shift 2
    rm -f "$work"/h.*
    "$@" --budget 20 -o "$work/h.json" >"$work/shown" 2>&1 </dev/null || code=$?
    tr -d '\n' <"$work/h.json" 2>/dev/null | cat "$work/shown" - | grep -q -- "${pattern#! }" &&
        found=1
    [ "$pattern" = "${pattern#! }" ] || found=$((1 - found))
    if [ $code -eq 0 ] && [ $found -eq 1 ] && "$probe" validate "$work/h.json" >/dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: exit code %d, or not "%s" in:\n' "$name" $code "$pattern"
        cat "$work/shown" "$work/h.json"
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1: $2"
}

check "nothing in /sys and /proc" '"governor_before": null' "$probe" run --only clock,topology \
    --sysroot "$root/tests/machines/masked-sys"
check "another machine's tree" '"hypervisor_name": "KVMKVMKVM"' "$probe" run --only clock \
    --sysroot "$root/tests/machines/zen4-guest"
record=0
"$probe" record "$work/tree" >/dev/null && ! "$probe" record "$work/tree" 2>/dev/null && record=1
[ $record -eq 1 ] || echo "record: no tree, or one over another"
passed=$((passed + record)) failed=$((failed + 1 - record))
check "a recorded tree" '"kernel": "' "$probe" run --only clock,topology --sysroot "$work/tree"

# A sanitizer takes terabytes of addresses, and neither runs under strace nor under qemu.
sanitized() { grep -q __asan_init "$probe"; }
if ! sanitized; then
    short() { (ulimit -v 150000 && exec "$@"); }
    check "little address space" '"memory_short": true' short "$probe" run --only clock
else
    skip "hostile-limits" "a sanitized build"
fi
first=$("$probe" run --only clock --json --budget 20 | sed -n 's/.*"cpu": \([0-9]*\).*/\1/p')
check "one CPU of the mask" '"allowed_cpus": 1,' taskset -c "${first:-0}" "$probe" run --only cores

# A system call that fails, for the kernel and for us.
if ! sanitized && strace -o /dev/null -e inject=perf_event_open:error=EPERM true 2>/dev/null; then
    refuse() { local e=$1; shift; strace -f -o /dev/null -e trace=perf_event_open \
        -e "inject=perf_event_open:error=$e" "$@"; }
    check "counters forbidden" "warning: cycles: EACCES.*perf_event_paranoid" refuse EACCES \
        "$probe" run --only clock
    check "counters forbidden by a filter" "warning: cycles: EPERM" refuse EPERM "$probe" run \
        --only clock
    check "a kernel without counters" '"perf": "cycles: ENOSYS"' refuse ENOSYS "$probe" run \
        --only clock
    check "no counters, no advice" "! warning" refuse ENOENT "$probe" run --only clock
else
    skip "hostile-refused-calls" "strace is not installed or may not trace, or a sanitized build"
fi

# Processors with less than this one.
if ! sanitized && [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64-static >/dev/null; then
    check "a processor without AVX" '"isa": \["sse2"[^]]*"popcnt"\]' \
        qemu-x86_64-static -cpu Nehalem "$probe" run --only isa
    check "a processor without AVX-512" '"isa": \[[^]]*"avx2"[^]]*"bmi2"\]' \
        qemu-x86_64-static -cpu Haswell "$probe" run --only isa
    check "an emulator" '"emulated": true' qemu-x86_64-static "$probe" run --only isa
else
    skip "hostile-processors" "no qemu-user-static, not on x86-64, or a sanitized build"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
