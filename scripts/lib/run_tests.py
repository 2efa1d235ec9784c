# SPDX-License-Identifier: Apache-2.0
"""Runs `meson test` in a build folder and adds up what every test program really reported.

Counted are, for each program, the results of its single tests: Criterion's (through a TAP file per
program), TAP on stdout, or a last line `N passed, N failed, N skipped`; any other program counts as
one test by its exit code (77: skipped). A skip that is not listed in tests/skips.txt is a failure.
The last line printed is `N passed, N failed, N skipped`.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAP = re.compile(r"^(not )?ok\b(?:\s+\d+)?\s*(?:-\s*)?(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)")
OWN_LINE = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
OWN_SKIP = re.compile(r"^SKIP (\S+?):? ")


class Counts:
    def __init__(self):
        self.passed = self.failed = 0
        self.skipped = []        # names
        self.failures = []       # names

    def fail(self, name, count=1):
        self.failed += count
        self.failures.append(name)


def read_skips(path):
    """NAME REASON a line; a name may end in * and a reason is required."""
    skips = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, _, reason = line.partition(" ")
            if not reason.strip():
                sys.exit(f"{path}:{number}: a skip needs its reason: {name}")
            skips[name] = reason.strip()
    return skips


def listed(name, skips):
    return any(name == s or (s.endswith("*") and name.startswith(s[:-1])) for s in skips)


def count_tap(text, counts):
    """Adds the single tests of a TAP text; returns how many there were, or None without a plan."""
    plan, seen = None, 0
    for line in text.splitlines():
        match = PLAN.match(line)
        if match:
            plan = int(match.group(1))
        match = TAP.match(line)
        if not match:
            continue
        seen += 1
        name, _, remark = match.group(2).partition("# ")
        name = re.sub(r"\s*\(\d+\.\d+s\)$", "", name.strip())
        if remark.upper().startswith("SKIP"):
            counts.skipped.append(name)
        elif match.group(1):
            counts.fail(name)
        else:
            counts.passed += 1
    if plan is not None and plan > seen:
        counts.fail(f"{plan - seen} planned tests did not report", plan - seen)
    return plan


def count_one(test, counts):
    """One entry of meson's test log."""
    name, stdout = test["name"].split(" / ")[-1], test.get("stdout", "")
    before = counts.failed
    good = test["result"] in ("OK", "EXPECTEDFAIL", "SKIP")
    found = re.search(r"^dg-results: (.*)$", test.get("stderr", ""), re.M)
    tap = ""
    if found:
        with open(found.group(1), encoding="utf-8", errors="replace") as results:
            tap = results.read()
    lines = stdout.strip().splitlines()
    own = OWN_LINE.match(lines[-1]) if lines else None
    if count_tap(tap, counts) is not None or count_tap(stdout, counts) is not None:
        pass
    elif own:
        counts.passed += int(own.group(1))
        if int(own.group(2)):
            counts.fail(name, int(own.group(2)))
        names = [m.group(1) for m in map(OWN_SKIP.match, lines) if m]
        names += [name] * (int(own.group(3)) - len(names))
        counts.skipped += names
    elif test["result"] == "SKIP":
        counts.skipped.append(name)
    elif good:
        counts.passed += 1
    if not good and counts.failed == before:
        counts.fail(f"{name} ({test['result']})")


def run(build, arguments, results):
    command = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs",
               "--wrapper", os.path.join(HERE, "test_wrap")] + arguments
    log = os.path.join(build, "meson-logs", "testlog-test_wrap.json")
    if os.path.exists(log):
        os.unlink(log)
    environment = dict(os.environ, DG_TEST_RESULTS=results)
    code = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode
    if not os.path.exists(log):
        sys.exit(f"meson test wrote no results (exit code {code})")
    with open(log, encoding="utf-8", errors="replace") as lines:
        return code, [json.loads(line) for line in lines if line.strip()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--full", action="store_true", help="also the suite `full`, no time limit")
    parser.add_argument("--skips", default=os.path.join(HERE, "../../tests/skips.txt"))
    parser.add_argument("meson", nargs="*", help="further arguments of meson test")
    options = parser.parse_args()
    arguments = list(options.meson)
    if options.full:
        os.environ["DG_TEST_FULL"] = "1"
        arguments += ["--timeout-multiplier", "0"]
    else:
        arguments += ["--no-suite", "full"]
    skips, counts = read_skips(options.skips), Counts()
    with tempfile.TemporaryDirectory(prefix="dg-tests-") as results:
        code, tests = run(options.build, arguments, results)
        for test in tests:
            count_one(test, counts)
    print()
    for name in counts.skipped:
        if listed(name, skips):
            print(f"skipped: {name}")
        else:
            print(f"skipped without a listed reason (tests/skips.txt): {name}")
    unlisted = [name for name in counts.skipped if not listed(name, skips)]
    for name in counts.failures:
        print(f"failed: {name}")
    if code != 0 and counts.failed == 0:
        counts.fail("meson test")
        print(f"failed: meson test ended with exit code {code}")
    if not tests:
        counts.fail("no tests")
        print("failed: no test was run")
    print(f"{counts.passed} passed, {counts.failed} failed, {len(counts.skipped)} skipped")
    return 1 if counts.failed or unlisted or code else 0


if __name__ == "__main__":
    sys.exit(main())
