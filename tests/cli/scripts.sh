#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The scripts' own behaviour: arguments, missing packages, the runner that adds up results, the
# summary. Arguments: ROOT GEN VERIFY SUMMARY PROBE.
set -u
root=$1 gen=$2 verify=$3 summary=$4 probe=$5
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

# A machine without apt, and one with dpkg that knows no package and neither root nor sudo.
mkdir -p "$work/bare" "$work/debian"
for tool in bash cat awk dirname mkdir printf env grep; do
    ln -s "$(command -v $tool)" "$work/bare/$tool"
    ln -s "$(command -v $tool)" "$work/debian/$tool"
done
printf '#!/bin/bash\nexit 1\n' >"$work/debian/dpkg-query"
cp "$work/debian/dpkg-query" "$work/debian/apt-get"
printf '#!/bin/bash\necho 1000\n' >"$work/debian/id"
chmod +x "$work"/debian/{dpkg-query,apt-get,id}

check "quickstart: unknown argument" 2 "--bogus" "$root/scripts/quickstart" --bogus
check "quickstart: --out without folder" 2 "--out" "$root/scripts/quickstart" --out
check "quickstart: --help" 0 "Usage" "$root/scripts/quickstart" --help
check "test: unknown argument" 2 "--fast" "$root/scripts/test" --fast
check "test: --help" 0 "Usage" "$root/scripts/test" --help
check "not Debian" 4 "libcjson-dev" env PATH="$work/bare" \
    bash "$root/scripts/quickstart" --out "$work/out"
check "neither root nor sudo" 4 "apt-get install.*meson" env PATH="$work/debian" \
    bash "$root/scripts/quickstart" --out "$work/out"

# The runner against hand-made results of meson.
cat >"$work/meson" <<'EOF'
#!/bin/bash
mkdir -p "$BUILD/meson-logs"
printf 'TAP version 13\n1..4\nok - s::a  (0.00s)\nok - s::b  # SKIP why\nnot ok - s::c  (0.00s)\n' \
    >"$DG_TEST_RESULTS/one"
cat >"$BUILD/meson-logs/testlog-test_wrap.json" <<JSON
{"name": "tap", "result": "FAIL", "stdout": "", "stderr": "dg-results: $DG_TEST_RESULTS/one\n"}
{"name": "own", "result": "OK", "stdout": "text\n7 passed, 0 failed, 1 skipped\n", "stderr": ""}
{"name": "plain", "result": "OK", "stdout": "", "stderr": ""}
{"name": "late", "result": "TIMEOUT", "stdout": "", "stderr": ""}
JSON
exit 1
EOF
chmod +x "$work/meson"
export BUILD=$work/build
printf 's::b  a reason\n' >"$work/skips"
check "runner: sum" 1 "^9 passed, 3 failed, 2 skipped$" env PATH="$work:$PATH" \
    python3 "$root/scripts/lib/run_tests.py" "$BUILD" --skips "$work/skips"
check "runner: unlisted skip" 1 "without a listed reason.*own" env PATH="$work:$PATH" \
    python3 "$root/scripts/lib/run_tests.py" "$BUILD" --skips "$work/skips"
check "runner: a test that never reported" 1 "1 planned tests did not report" \
    env PATH="$work:$PATH" \
    python3 "$root/scripts/lib/run_tests.py" "$BUILD" --skips "$work/skips"
printf 's::b\n' >"$work/skips"
check "runner: skip without reason" 1 "needs its reason" env PATH="$work:$PATH" \
    python3 "$root/scripts/lib/run_tests.py" "$BUILD" --skips "$work/skips"

# The summary of a folder as quickstart leaves it.
mkdir -p "$work/out"
cp "$root/tests/profiles/test-avx2.json" "$work/out/hardware.json"
check "generate" 0 "gemm_f32_16x24x8" "$gen" --hardware "$work/out/hardware.json" --m 16 --n 24 \
    --k 8 --dtype f32 -o "$work/out/kernels"
check "a plan names cells by family" 0 'mix.turn.f32.256.v\*: [0-9]* cells' "$gen" plan \
    --hardware "$work/out/hardware.json" --m 16 --n 24 --k 8 --dtype f32
check "generate as README says" 0 "gemm_f32_1024x768x512" "$gen" \
    --hardware "$work/out/hardware.json" --config "$root/examples/gemm_f32.yaml" -o "$work/readme"
if [ "$(uname -m)" = x86_64 ] && grep -q avx2 /proc/cpuinfo; then
    check "verify" 0 "pass" "$verify" "$work/out/kernels" --no-timing --json "$work/out/verify.json"
    # C alone is larger than any address space
    check "generate a huge product" 0 "gemm_f32_2147483647x100000x1" "$gen" --dtype f32 \
        --hardware "$work/out/hardware.json" --m 2147483647 --n 100000 --k 1 -o "$work/huge"
    check "a report on stdout" 0 '"schema": "deepgemm-verify/1"' timeout 60 "$verify" \
        "$work/out/kernels" --no-timing --json /dev/stdout
    mkfifo "$work/idle"
    check "a report into an idle pipe" 4 "start what reads" timeout 60 "$verify" \
        "$work/out/kernels" --no-timing --json "$work/idle"
    check "verify a huge product" 4 "more memory" "$verify" "$work/huge" --no-timing
    check "summary" 0 "verified    pass" "$summary" "$work/out"
fi
printf '"\\e[31mm": 8\n' >"$work/escape.yaml"
check "an escape character" 3 'found \\x1b\[31mm' "$gen" --hardware "$work/out/hardware.json" \
    --config "$work/escape.yaml"
# A run and its samples give the same profile; samples that are none give no file.
check "a short run" 0 "fma latency" "$probe" run --only ops,clock --budget 20 -o "$work/run.json"
check "infer" 0 "fma latency" "$probe" infer "$work/run.samples.json" -o "$work/inferred.json"
check "infer gives the same" 0 "" cmp "$work/run.json" "$work/inferred.json"
check "infer from a profile" 3 "run.json: .*schema" "$probe" infer "$work/run.json" \
    -o "$work/no.json"
sed 's/"architecture": *"[a-z0-9_]*"/"architecture": "vax"/' "$work/run.samples.json" \
    >"$work/vax.samples.json"
check "infer for a machine that is none" 3 "vax.samples.json: architecture.*found vax" "$probe" \
    infer "$work/vax.samples.json"
check "no file from a profile" 1 "" test -e "$work/no.json"
printf '{"name":"x","architecture":"x86_64","core_kind":"\\u001b[31m\\u009b"}' >"$work/escape.json"
check "an escape character shown" 0 '\\x1b\[31m\\xc2\\x9b' "$probe" show --all "$work/escape.json"
printf '{"name":"x","architecture":"x86_64","environment":{"model_name":"\\u001b[31m"}}' \
    >"$work/escape2.json"
check "an escape character on one screen" 0 '\\x1b\[31m' "$probe" show "$work/escape2.json"
check "kinds of values" 0 "valid: 0 values measured.*0 claimed.*[1-9][0-9]* asserted.*missing" "$probe" \
    validate "$work/escape.json"
check "a tree of trees" 2 "neither proc nor sys" "$probe" --sysroot "$root/tests/machines"
printf '{"name":"x","architecture":"x86_64","isa":["sse2","avx","avx2","fma"],"vector_bits":512,\n' \
    >"$work/typed.json"
printf '"res.fma.capacity":2,"l3_ways":16,"fma_latency":4}\n' >>"$work/typed.json"
typed=("$gen" plan --hardware "$work/typed.json" --dtype f32 --k 64 --m 64)
check "typed and not read" 0 "of no effect here:.*l3_ways.*and 1 cell" "${typed[@]}" --n 64
check "mostly padding" 0 "hint .*7 of 8 computed columns are padding" "${typed[@]}" --n 1
check "capacity without users" 0 "res.fma.capacity has no effect without res.fma.users" \
    "${typed[@]}" --n 64
check "vectors that isa lacks" 0 "512, while the widest vectors of isa have 256" "${typed[@]}" --n 8
check "progress without a terminal" 0 "s left" "$probe" run --only clock --budget 20 --progress \
    --json
check "an empty path" 2 "found an empty text" "$probe" show ""
check "a missing argument" 2 "needs FILE, found nothing" "$probe" validate
check "a system root that is none" 2 "sysroot: must be a folder" "$probe" --sysroot "$work/none"
mkfifo "$work/pipe"
check "a pipe without writer" 3 "pipe that nothing writes to" timeout 20 "$probe" show "$work/pipe"
check "a CPU that is none" 2 "must be an allowed CPU, found 1023" "$verify" "$work/out/kernels" \
    --cpu 1023
mkdir -p "$work/kept"
cp "$work/out/kernels/gemm_f32_16x24x8".* "$work/kept"
check "a report without folder" 4 "make its folder first" "$verify" "$work/out/kernels" \
    --no-timing --json "$work/none/verify.json"
check "a report over a manifest" 2 "manifest of a kernel" "$verify" "$work/kept" --no-timing \
    --json "$work/kept/gemm_f32_16x24x8.json"
check "the manifest is kept" 0 "" cmp "$work"/{kept,out/kernels}/gemm_f32_16x24x8.json
check "a compiler that is none" 4 "cc: must name a program" "$verify" "$work/out/kernels" \
    --no-timing --cc no-such-compiler
check "a profile without folder" 4 "make its folder first" "$probe" -o "$work/none/hardware.json"
check "a profile on a device" 2 "use --json" "$probe" -o /dev/null
check "samples as output" 2 "must not be the file that is read" "$probe" infer "$work/escape.yaml" \
    -o "$work/escape.yaml"
limited() { (ulimit -f 1; exec "$@" >"$work/shown"); }
check "output beyond the limit of file sizes" 4 "stdout: cannot be written" limited "$probe" show \
    "$work/out/hardware.json"
# Errors by class: 2 - 1 + 5 within 8 MB, 6 with K < 32, one beyond 8 MB, one without a value.
row() { printf '%s x %s %s %s 1 1 - 1 1 1 %s 90\n' "$@"; }
{
    row p01_named_f32_64x64x64 64 64 64 2
    row p02_named_u8s8_64x64x64 64 64 64 -1
    row p03_random_f32_1024x1024x500 1024 1024 500 5
    row p04_random_f32_64x64x16 64 64 16 -6
    row p05_random_f32_2048x2048x64 2048 2048 64 -20
    row p06_random_u8s8_1024x1024x1024 1024 1024 1024 -
} >"$work/errors"
model=("$root/scripts/bench-model" --summarise "$work/errors")
check "model: a class" 0 '^K>=32, to 8 MB  *3  *2.00  *2.00  *5.00  *67  *100  *100$' "${model[@]}"
check "model: short sums" 0 '^K<32 or M<=5  *1  *6.00  *-6.00  *6.00  *0  *0  *100$' "${model[@]}"
check "model: large" 0 '^over 8 MB  *1  *20.00  *-20.00 ' "${model[@]}"
check "model: a dtype" 0 '^f32  *4  *5.50  *-4.75  *20.00 ' "${model[@]}"
check "model: without a value" 0 '5 pairs timed, 1 not determined' "${model[@]}"
check "summary without a folder" 3 "hardware.json" "$summary" "$work/none"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
