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

# One screen for people, everything when asked.
whole=$root/results/amd-25-17-core/hardware.json
screen() { "$probe" "$@" | awk 'END { print NR <= 45 ? "fits" : "too long: " NR }'; }
check "show is one screen" 0 "^fits" screen show "$whole"
check "show draws and advises" 0 "not known: .*" "$probe" show "$whole"
check "show --all" 0 "^too long" screen show "$whole" --all
check "compare is one screen" 0 "^fits" screen compare "$whole" "$avx2" --other-chip
check "compare says how many more" 0 "and [0-9]* more; --all" "$probe" compare "$whole" "$avx2" \
    --other-chip
check "compare --all" 0 "^too long" screen compare "$whole" "$avx2" --other-chip --all

# A CPU that there is not, and one that this process may not use.
check "a CPU beyond all" 2 "must be from 0 to 4095, found 9999" "$probe" run --cpu 9999
check "a CPU that is not allowed" 2 "must be an allowed CPU, found 4095" "$probe" run --cpu 4095

# The map: 32 CPUs, two to a core, L2 for each core, L3 for sixteen.
sed 's/"cores": *[0-9]*,/"cores": 32, "l1_shared_by": 2, "l2_shared_by": 2, "l3_shared_by": 16,/' \
    "$avx2" >"$work/map.json"
cp "$work/map.json" "$work/map2.json"
check "map of cores" 0 "\[ *2 CPUs *\] \[ *2 CPUs *\]" "$probe" merge "$work"/map{,2}.json
check "map of a shared level" 0 "^  L3 .*for 16 CPUs *\]" "$probe" merge "$work"/map{,2}.json
check "map of many cores" 0 "16 cores of this kind" "$probe" merge "$work"/map{,2}.json
check "advice for what is missing" 0 "^    -> " "$probe" merge "$work"/map{,2}.json

# ---- run: what is to be measured, interrupts ----

check "dry run" 0 "^all .* s  of quiet time" "$probe" run --dry-run --thorough --budget 100
check "dry run of some" 0 "^levels" "$probe" --dry-run --only levels --skip clock
check "nothing left" 2 "must leave a probe" "$probe" --dry-run --only clock --skip clock
check "quick and thorough" 2 "does not go with" "$probe" --quick --thorough --dry-run
check "resume without output" 2 "needs another option, found --output" "$probe" --resume
check "nothing to resume" 3 "no interrupted run to go on from" "$probe" --resume \
    -o "$work/none.json"
check "interrupt" 130 "incomplete.json; --resume goes on" timeout --preserve-status -s INT 2 \
    "$probe" --only levels,touch,bandwidth --budget 30 -o "$work/part.json"
check "an interrupt leaves no whole file" 1 "" test -e "$work/part.json"
check "the part is a profile" 0 '"incomplete": true' cat "$work/part.incomplete.json"
check "resume" 0 "memory latency" "$probe" --resume --budget 30 -o "$work/part.json"
check "a resumed run replays too" 0 "memory latency" "$probe" infer "$work/part.samples.json" \
    -o "$work/again.json"
check "and gives the same" 0 "" cmp "$work/part.json" "$work/again.json"
check "the part is gone" 1 "" test -e "$work/part.incomplete.samples.json"
cp "$work/part.json" "$work/good.json"
check "a budget that ends first keeps the file" 4 "does not replace a file" "$probe" --budget 0.2 \
    -o "$work/good.json"
check "and it is the old one" 0 "" cmp "$work/part.json" "$work/good.json"
check "every kind of core" 0 "fma latency" "$probe" --all-kinds --only ops --budget 20 \
    -o "$work/kinds.json"
check "a file for each" 0 "kinds\..*\.json" ls "$work"

# ---- report: a page that is well-formed XML, with every picture or the reason why not ----

cat >"$work/page.py" <<'EOF'
import sys, xml.etree.ElementTree as tree
page = tree.parse(sys.argv[1]).getroot()
h = '{http://www.w3.org/1999/xhtml}'
ids = [s.get('id') for s in page.iter(h + 'section')]
print('sections:', ' '.join(ids))
empty = 0
for section in page.iter(h + 'section'):
    for svg in section.iter('{http://www.w3.org/2000/svg}svg'):
        texts = [''.join(t.itertext()) for t in svg.iter('{http://www.w3.org/2000/svg}text')]
        assert texts, section.get('id') + ' draws nothing and gives no reason'
        empty += 'nothing to see:' in texts
print('empty:', empty)
print('title:', page.find(h + 'head').find(h + 'title').text)
EOF
check "report" 0 "" "$probe" report "$work/part.json" -o "$work/page.html"
check "the page is XML in order" 0 \
    "values staircase conflicts bandwidth.*conditions unknown cells" python3 "$work/page.py" "$work/page.html"
check "no address outside the page" 1 "" grep -qE '(src|href)="(http|//)' "$work/page.html"
check "report without samples" 0 "most pictures stay empty" "$probe" report "$avx2" \
    -o "$work/bare.html"
check "reasons for empty pictures" 0 "empty: [5-9]" python3 "$work/page.py" "$work/bare.html"
python3 - "$avx2" "$work/hostile.json" <<'EOF'
import json, sys
profile = json.load(open(sys.argv[1]))
profile['name'] = '</title><script>alert(1)</script>&amp;]]>"\''
profile['environment'] = {'model_name': '<img src=x onerror=alert(2)>', 'kernel': ']]><!--'}
json.dump(profile, open(sys.argv[2], 'w'))
EOF
check "report of hostile names" 0 "" "$probe" report "$work/hostile.json" -o "$work/hostile.html"
check "hostile names are text" 0 'title: </title><script>alert(1)</script>&amp;]]>' \
    python3 "$work/page.py" "$work/hostile.html"
check "no hostile tag" 1 "" grep -qE '<script>alert|<img' "$work/hostile.html"
check "report over its profile" 2 "must not be the file that is read" "$probe" report \
    "$work/same.json" -o "$work/same.json"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
