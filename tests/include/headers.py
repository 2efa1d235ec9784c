# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, in C and, where there is a compiler, in C++; the shared
library exports the functions of the headers and nothing else; struct dg_error is one on both
sides."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

OFFSETS = """
#include <stddef.h>
#include <stdio.h>
#include HEADER
int main(void)
{
    printf("%zu %zu %zu %zu %zu %zu\\n", sizeof(struct dg_error), offsetof(struct dg_error, where),
           offsetof(struct dg_error, rule), offsetof(struct dg_error, value),
           offsetof(struct dg_error, todo), (size_t)DG_EXIT_INTERRUPTED);
    return 0;
}
"""


def compiles(command, header, include):
    text = f'#include "{header}"\n#include "{header}"\n'
    done = subprocess.run(command + ["-I", include, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                     "-fsyntax-only", "-"],
                          input=text, capture_output=True, text=True)
    return done.stderr


def functions_of(include):
    names = set()
    for path in glob.glob(os.path.join(include, "deepgemm", "*.h")):
        with open(path, encoding="utf-8") as text:
            body = re.sub(r"/\*.*?\*/", "", text.read(), flags=re.S)
        names |= set(re.findall(r"^[a-z][^;{}#()]*?\b(dg_\w+)\(", body, re.M))
    return names


def exported(nm, library):
    text = subprocess.run([nm, "-D", "--defined-only", "-P", library], capture_output=True,
                          text=True, check=True).stdout
    names = {line.split()[0].split("@")[0] for line in text.splitlines()}
    return {n for n in names if not n.startswith("DEEPGEMM_")}


def offsets(compiler, root, header):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run(compiler + ["-I", root, "-I", os.path.join(root, "include"), "-x", "c", "-",
                                   f'-DHEADER="{header}"', "-o", program],
                       input=OFFSETS, text=True, check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--compiler", nargs="+", required=True)
    options = parser.parse_args()
    include = os.path.join(options.root, "include")
    languages = {"C": options.compiler + ["-x", "c", "-std=c11"]}
    cxx = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if cxx:
        languages["C++"] = [cxx, "-x", "c++", "-std=c++11"]
    failed = passed = 0
    results = {}
    for path in sorted(glob.glob(os.path.join(include, "deepgemm", "*.h"))):
        header = os.path.relpath(path, include)
        for language, command in languages.items():
            results[f"{header} in {language}"] = compiles(command, header, include)
    want, have = functions_of(include), exported(options.nm, options.library)
    results["exports"] = "" if want == have else f"{sorted(want ^ have)} differ\n"
    same = (offsets(options.compiler, options.root, "deepgemm/error.h") ==
            offsets(options.compiler, options.root, "base/error.h"))
    results["struct dg_error"] = "" if same else "differs from base/error.h\n"
    for name, problem in results.items():
        passed, failed = passed + (not problem), failed + bool(problem)
        print(f"{name}: {problem or 'ok'}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
