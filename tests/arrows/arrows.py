# SPDX-License-Identifier: Apache-2.0
"""Checks includes, links and freedom from libc against arrows.txt, the names that leave a file, the
width of lines and who asks the machine; checks itself on planted faults.

Its last line is `N passed, N failed, N skipped`.
"""
import argparse
import fnmatch
import glob
import os
import re
import subprocess
import sys
import tempfile

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)', re.M)
# the machine asked without a function of its own: files of the kernel, instructions
PLACES = re.compile(r'\b\w*(?:open|read|access|stat)\w*\(\s*(?:AT_FDCWD,\s*)?"/(?:proc|sys)/')
INSTRUCTIONS = re.compile(r'\b(?:__)?asm(?:__)?\b[^;]*(?:rdtscp?|cpuid|xgetbv|mrs)\b')
SOURCES = (".c", ".h", ".def", ".S", ".inc")
WRITTEN = (".c", ".h", ".def", ".py")
FREESTANDING = {"float.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h", "stdbool.h",
                "stddef.h", "stdint.h", "stdnoreturn.h"}
GIVEN_BY_COMPILERS = {"memcpy", "memmove", "memset", "memcmp"}
COLUMNS = 100
FOLDERS = ("base", "cli", "emit", "examples", "include", "isa", "microbench", "probes", "profile",
           "runtime", "tests", "verify")


class Table:
    def __init__(self, path):
        self.allowed, self.extern, self.free, self.ask = {}, [], [], []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                kind, _, rest = line.split("#")[0].strip().partition(" ")
                left, _, right = rest.partition(" : ") if " : " in rest else rest.partition(" :")
                if kind == "folder":
                    self.allowed[left.strip()] = right.split()
                elif kind == "extern":
                    self.extern.append((left.strip(), right.split()))
                elif kind == "ask":
                    self.ask.append((left.split(), right.split()))
                elif kind == "free":
                    self.free += rest.split()

    def folder_of(self, path):
        """The longest folder of the table that the path lies in."""
        inside = [f for f in self.allowed if path == f or path.startswith(f + "/")]
        return max(inside, key=len, default=None)

    def may(self, folder, path):
        target = self.folder_of(path)
        if target in (folder, "base"):
            return True
        for entry in self.allowed[folder]:
            if entry == target or entry == path or ("*" in entry and fnmatch.fnmatch(path, entry)):
                return True
        return False


def sources_of(root, table):
    for folder in sorted(table.allowed):
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), root)
                if name.endswith(SOURCES) and table.folder_of(path) == folder:
                    yield folder, path


def resolve(root, path, quoted):
    """Where a quoted include leads, relative to the root; generated headers stay as written."""
    for base in (os.path.dirname(path), "", "include"):
        full = os.path.normpath(os.path.join(base, quoted))
        if os.path.exists(os.path.join(root, full)):
            return full
    return os.path.normpath(quoted)


def wrong_includes(root, table):
    wrong = []
    for folder, path in sources_of(root, table):
        with open(os.path.join(root, path), encoding="utf-8") as text:
            found = INCLUDE.findall(text.read())
        for quoted, angled in found:
            if quoted:
                target = resolve(root, path, quoted)
                if table.folder_of(target) is None and target.split("/")[0] in ("cli", "tests"):
                    wrong.append(f"{path} includes {target}: nothing may include cli or tests")
                elif table.folder_of(target) and not table.may(folder, target):
                    wrong.append(f"{path} includes {target}: {folder} may include "
                                 f"{' '.join(table.allowed[folder]) or 'base only'}")
                angled = quoted
            for pattern, folders in table.extern:
                if fnmatch.fnmatch(angled, pattern) and folder not in folders:
                    wrong.append(f"{path} includes <{angled}>: only {' '.join(folders)} may")
    return wrong


def symbols(nm, library):
    """Defined and undefined global symbols of an archive, those it satisfies itself left out."""
    text = subprocess.run([nm, "-g", "-P", library], capture_output=True, text=True,
                          check=True).stdout
    defined, undefined = set(), set()
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 2 and len(parts[1]) == 1:
            (undefined if parts[1] in "Uwv" else defined).add(parts[0])
    return defined, undefined - defined


def wrong_links(nm, table, libraries):
    wrong, found = [], {f: symbols(nm, path) for f, path in libraries.items()}
    for user, (_, undefined) in sorted(found.items()):
        for owner, (defined, _) in sorted(found.items()):
            used = undefined & defined
            home = table.folder_of(user)
            fine = owner in (user, home, "base") or table.folder_of(owner) == home or any(
                fnmatch.fnmatch(owner, entry) for entry in table.allowed[home])
            if used and not fine and table.folder_of(owner) not in table.allowed[home]:
                wrong.append(f"{user} links {owner} ({', '.join(sorted(used)[:3])})")
    return wrong


def wrong_names(nm, libraries):
    """Names that leave a file begin with dg_; those of the compiler (a sanitizer) with __."""
    return [f"{folder} defines {name}" for folder, path in sorted(libraries.items())
            for name in sorted(symbols(nm, path)[0]) if not name.startswith(("dg_", "__"))]


def texts_of(root, endings):
    """Paths, relative to the root, and texts of the files with such names."""
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(root, folder)):
            for path in sorted(os.path.join(place, n) for n in names if n.endswith(endings)):
                with open(path, encoding="utf-8") as text:
                    yield os.path.relpath(path, root), text.read()


def wide_lines(root):
    """What is generated is not counted."""
    return [f"{path}:{i} has {len(line)} columns" for path, text in texts_of(root, WRITTEN)
            if "golden" not in path.split(os.sep)
            for i, line in enumerate(text.split("\n"), 1) if len(line) > COLUMNS]


def wrong_questions(root, table):
    """What is asked of the machine goes through the replaceable readers."""
    rows = [(re.compile(r'(?<![\w.>])(?:' + "|".join(map(re.escape, names)) + r')\('), places)
            for names, places in table.ask]
    rows += [(PLACES, table.ask[0][1]), (INSTRUCTIONS, table.ask[0][1])]
    wrong = []
    for path, text in texts_of(root, SOURCES):
        for pattern, places in rows:
            match = None if path.startswith("tests/") else pattern.search(text)
            if match and not any(path == p or path.startswith(p + "/") for p in places):
                wrong.append(f"{path} asks {match.group()}: only {' '.join(places)} may")
    return wrong


def free_files(root, table):
    found = []
    for pattern in table.free:
        found += sorted(glob.glob(os.path.join(root, pattern)))
    return [os.path.relpath(f, root) for f in found]


def wrong_freedom(root, table, compiler, nm, build):
    """Compiles what needs no libc without one, together, and looks at what is left undefined."""
    wrong, objects, files = [], [], free_files(root, table)
    with tempfile.TemporaryDirectory() as out:
        for path in files:
            with open(os.path.join(root, path), encoding="utf-8") as text:
                for _, angled in INCLUDE.findall(text.read()):
                    if angled and angled not in FREESTANDING:
                        wrong.append(f"{path} includes <{angled}>, which needs a libc")
            if not path.endswith(".c"):
                continue
            objects.append(os.path.join(out, path.replace("/", "_") + ".o"))
            command = compiler + ["-std=gnu17", "-O2", "-ffreestanding", "-nostdlib",
                                  "-fno-stack-protector", "-ffp-contract=off", "-I", root, "-I",
                                  os.path.join(root, "include")]
            command += ["-I", build] if build else []
            command += ["-c", os.path.join(root, path), "-o", objects[-1]]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                return wrong + [f"{path} does not compile freestanding: {done.stderr[:500]}"]
        whole = os.path.join(out, "whole.o")
        subprocess.run(compiler + ["-nostdlib", "-r", "-o", whole] + objects, check=True)
        _, undefined = symbols(nm, whole)
    for name in sorted(undefined - GIVEN_BY_COMPILERS - {"_GLOBAL_OFFSET_TABLE_"}):
        wrong.append(f"files that need no libc refer to {name}")
    return wrong


PLANTED = {
    "isa/bad.c": '#include "profile/profile.h"\n',
    "emit/problem/bad.c": '#include <cjson/cJSON.h>\n',
    "emit/plan/bad.h": '  #  include "../write/source.h"\n',
    "microbench/bad.c": '#include "cli/options.h"\n',
    "verify/bad.c": '#include "emit/write/source.h"\n',
    "emit/body/bad.c": '#include <stdio.h>\nvoid f(void) { puts("x"); }\n',
    "profile/view.c": 'int g(void); int h(void) { return g(); }\n',
    "isa/wide.h": "/* " + "x" * 95 + " */\n",
    "base/now.c": "#include <time.h>\nlong f(void) { return time(NULL); }\n",
    "probes/load.c": 'int f(void) { return open("/proc/loadavg", 0); }\n',
    "verify/ticks.c": 'void f(void) { __asm__ volatile("lfence\\n\\trdtsc" ::: "memory"); }\n',
    "verify/runner/guard.c": "long f(void) { return sysconf(30) + getauxval(6); }\n",
}
FINE = {
    "verify/good.c": '#include "emit/write/manifest.h"\n#include <stdio.h>\n',
    "emit/plan/good.c": '#include "profile/profile.h"\n#include "good.h"\n#include <stdint.h>\n',
    "probes/good.c": '#include <hwloc.h>\n#include "microbench/bench.h"\n',
    "isa/good.h": "/* " + "\u00e9" * 94 + " */\n",
    "profile/profile.h": "", "emit/write/manifest.h": "", "emit/write/source.h": "",
    "microbench/host/good.c": "#include <time.h>\nlong f(void) { return time(NULL); }\n",
    "emit/write/good.c": 'const char *f = "rdtsc"; int runtime(int);\n',
    "probes/claims/good.c": 'int f(struct h *h) { return h->get(h, "/proc/x") + h->sysconf(h); }\n',
    "emit/plan/good.h": "", "microbench/bench.h": "", "cli/options.h": "",
}


def planted_faults(table, compiler, nm):
    """Each planted file must be found, and no other."""
    wrong = []
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**PLANTED, **FINE}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
        found = wrong_includes(root, table) + wrong_freedom(root, table, compiler, nm, None)
        found += wide_lines(root) + wrong_questions(root, table)
        archive = os.path.join(root, "view.o")
        subprocess.run(compiler + ["-c", os.path.join(root, "profile/view.c"), "-o", archive],
                       check=True)
        found += wrong_names(nm, {"profile": archive})
    for path in ("isa/bad.c", "emit/problem/bad.c", "emit/plan/bad.h", "microbench/bad.c",
                 "verify/bad.c", "emit/body/bad.c", "isa/wide.h:1", "profile defines h",
                 "base/now.c", "probes/load.c", "verify/ticks.c",
                 "verify/runner/guard.c asks getauxval"):
        if not any(line.startswith(path) for line in found):
            wrong.append(f"the planted fault in {path} was not found")
    for name in ("g", "puts"):
        if not any(line.endswith(f" refer to {name}") for line in found):
            wrong.append(f"the planted reference to {name} was not found")
    wrong += [f"found where nothing is wrong: {line}" for line in found if "good" in line]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--library", action="append", default=[],
                        help="FOLDER=PATH or FOLDER/PART=PATH")
    parser.add_argument("--compiler", nargs="+", required=True)
    options = parser.parse_args()
    table = Table(os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrows.txt"))
    libraries = dict(pair.split("=", 1) for pair in options.library)
    checks = {
        "planted faults": planted_faults(table, options.compiler, options.nm),
        "includes": wrong_includes(options.root, table),
        "links": wrong_links(options.nm, table, libraries),
        "names": wrong_names(options.nm, libraries),
        "columns": wide_lines(options.root),
        "questions": wrong_questions(options.root, table),
        "no libc": wrong_freedom(options.root, table, options.compiler, options.nm, options.build),
    }
    for name, wrong in checks.items():
        print(f"{name}: {'ok' if not wrong else 'FAILED'}")
        for line in wrong:
            print(f"  {line}")
    failed = sum(1 for wrong in checks.values() if wrong)
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
