#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deepgemm-probe as people use it. Arguments: ROOT PROBE.
set -u
root=$1 probe=$2
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME WANTED-EXIT-CODE PATTERN COMMAND...: the pattern must be in what it prints.
check() {
    local name=$1 want=$2 pattern=$3 code=0 text
    shift 3
    text=$("$@" 2>&1 </dev/null) || code=$?
    if [ $code -eq "$want" ] && grep -q -- "$pattern" <<<"$text"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: exit code %d, not %d, or no "%s" in:\n%s\n' "$name" $code "$want" "$pattern" \
            "$text"
    fi
}

# ---- compare and merge ----

avx2=$root/tests/profiles/test-avx2.json
sed 's/"l1_latency": *[0-9.]*/"l1_latency": 9/' "$avx2" >"$work/slow.json"
check "compare a file with itself" 0 "^0 improved, 0 worse, 0 changed, 0 differs" \
    "$probe" compare "$avx2" "$avx2" --fail-on-regression
check "compare" 0 "^worse *l1_latency" "$probe" compare "$avx2" "$work/slow.json"
check "compare in the other direction" 0 "^improved *l1_latency" \
    "$probe" compare "$work/slow.json" "$avx2" --fail-on-regression
check "compare: a regression" 1 "1 worse" "$probe" compare "$avx2" "$work/slow.json" \
    --fail-on-regression
check "compare: noise" 0 "^0 improved, 0 worse" "$probe" compare "$avx2" "$work/slow.json" \
    --noise 900 --fail-on-regression
check "compare: JSON" 0 '"schema": "deepgemm-compare/1"' "$probe" compare "$avx2" \
    "$work/slow.json" --json
check "compare different chips" 3 "architecture: x86_64 and aarch64.*" "$probe" compare "$avx2" \
    "$root/tests/profiles/test-neon.json"
check "compare different chips when told" 0 "^differs *architecture" "$probe" compare "$avx2" \
    "$root/tests/profiles/test-neon.json" --other-chip
cp "$avx2" "$work/same.json"
check "merge" 0 "outlier: l1_latency slow.json 9" "$probe" merge "$avx2" "$work/same.json" \
    "$work/slow.json" --name fleet -o "$work/fleet.json"
check "merge writes a profile" 0 "valid" "$probe" validate "$work/fleet.json"
check "merge over one of its files" 2 "must not be a file that is read" "$probe" merge "$avx2" \
    "$work/same.json" -o "$work/same.json"
check "merge different chips" 3 "must be of the same chip" "$probe" merge "$avx2" \
    "$root/tests/profiles/test-neon.json"
check "merge one file" 2 "" "$probe" merge "$avx2"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
