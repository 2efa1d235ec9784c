# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts/quickstart, scripts/test and .ci/run, from the top of the tree: packages and
# the build folder. Needs bash. Nothing here changes the machine but the installation of packages
# that are missing.

unavailable=4                     # exit code: a tool or permission is missing

say() { printf '%s\n' "== $*" >&2; }

# Names of a group and those before it, one `a|b` a line.
packages_of() {
    local last=$1 group names
    while read -r group names; do
        case $group in
            '' | '#'*) continue ;;
        esac
        printf '%s\n' "$names"
    done < <(awk -v last="$last" '
        $1 == last { seen = 1 } seen && $1 != last && $1 !~ /^#/ && NF { exit } { print }
    ' scripts/packages)
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Of `a|b` the one that is installed, else nothing.
any_installed() {
    local name
    for name in ${1//|/ }; do
        installed "$name" && return 0
    done
    return 1
}

# Of `a|b` the one that this release of Debian has.
available_name() {
    local name
    for name in ${1//|/ }; do
        if [ -n "$(apt-cache madison "$name" 2>/dev/null)" ]; then
            printf '%s\n' "$name"
            return
        fi
    done
    printf '%s\n' "${1%%|*}"
}

missing_packages() {
    local names
    packages_of "$1" | while read -r names; do
        any_installed "$names" || printf '%s\n' "$names"
    done
}

stop_with_list() {
    {
        printf '%s\n\n' "$1"
        printf 'These packages (names of Debian 12 and 13) are needed:\n\n    '
        printf '%s ' "${@:2}"
        printf '\n\nOn Debian:  apt-get install --no-install-recommends'
        printf ' %s' "${@:2}"
        printf '\n'
    } >&2
    exit $unavailable
}

# Installs what is missing of a group; does not touch apt when nothing is.
ensure_packages() {
    local group=$1 all=() missing=() chosen=() root=() names
    mapfile -t all < <(packages_of "$group")
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        stop_with_list "This is not Debian: apt-get and dpkg are missing." "${all[@]%%|*}"
    fi
    mapfile -t missing < <(missing_packages "$group")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        root=(sudo)
        [ -t 0 ] || root=(sudo -n)
        if ! command -v sudo >/dev/null; then
            stop_with_list "Packages are missing, and neither root nor sudo is there to install them." \
                "${missing[@]%%|*}"
        fi
    fi
    say "installing: ${missing[*]}"
    "${root[@]}" apt-get -q update </dev/null >&2 ||
        stop_with_list "apt-get update failed." "${missing[@]%%|*}"
    for names in "${missing[@]}"; do
        chosen+=("$(available_name "$names")")
    done
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install -y --no-install-recommends "${chosen[@]}" </dev/null >&2 ||
        stop_with_list "apt-get install failed." "${chosen[@]}"
}

# Makes the build folder when it is not there; options are meson's.
configure() {
    local folder=$1
    shift
    [ -f "$folder/build.ninja" ] || meson setup "$folder" "$@" </dev/null >&2
}
