#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report in a browser without window, light and dark, wide and narrow, as drawing and with
# uPlot: each gives a picture with more than one colour. Arguments: ROOT PROBE. 77: no chromium.
set -u
root=$1 probe=$2
browser=$(command -v chromium || command -v chromium-browser) || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
"$probe" report "$root/tests/profiles/test-avx2.json" -o "$work/page.html" 2>"$work/log" || exit 1
for view in "1200 light " "1200 dark #zoom" "500 light " "500 dark "; do
    read -r width colours hash <<<"$view"
    more=()
    [ "$colours" = light ] || more=(--force-dark-mode --blink-settings=preferredColorScheme=0)
    rm -f "$work/page.png"
    HOME=$work timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        "${more[@]}" --window-size="$width,1600" --virtual-time-budget=2000 \
        --screenshot="$work/page.png" "file://$work/page.html$hash" >"$work/log" 2>&1
    # a page of one colour is a few KB
    if [ "$(stat -c %s "$work/page.png" 2>/dev/null || echo 0)" -lt 20000 ]; then
        echo "$view: no picture"
        cat "$work/log"
        status=1
    fi
done
exit $status
