#!/usr/bin/env bash
# Puts a Chromium browser into bin/, for the integration tests that look at the pages, unless bin/ or PATH has one. It is that of the
# package `chromium` of the machine's Debian, with the libraries that the machine lacks, all below bin/chromium.d; bin/chromium starts
# it.
#
# Usage: hack/install-chromium.sh
# Exit status 1, and one line on standard output that says why, if it cannot. BERTH_CHROMIUM_MISSING=REASON forbids it to try.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source hack/debian.sh
bin=${BERTH_BIN:-bin}

[[ ! -x $bin/chromium ]] && ! command -v chromium >/dev/null || exit 0
[[ -z ${BERTH_CHROMIUM_MISSING:-} ]] || give_up "$BERTH_CHROMIUM_MISSING"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unpack_debian "$work" --no-install-recommends --download-only install chromium
[[ -x $work/root/usr/lib/chromium/chromium ]] || give_up "the package chromium has no usr/lib/chromium/chromium"
cat >"$work/chromium" <<'START'
#!/bin/sh
# Starts the Chromium beside this file with the libraries that came with it.
root=$(dirname "$(readlink -f "$0")")/chromium.d
LD_LIBRARY_PATH=$(find "$root/usr/lib" -maxdepth 2 -type d | tr '\n' ':')
export LD_LIBRARY_PATH
exec "$root/usr/lib/chromium/chromium" "$@"
START
chmod +x "$work/chromium"
mkdir -p "$bin"
rm -rf "$bin/.chromium.d.$$"
cp -r "$work/root" "$bin/.chromium.d.$$"
# Whoever looks at the same time sees the whole browser or none.
[[ -d $bin/chromium.d ]] || mv -T "$bin/.chromium.d.$$" "$bin/chromium.d"
rm -rf "$bin/.chromium.d.$$"
cp "$work/chromium" "$bin/.chromium.$$"
"$bin/.chromium.$$" --version >/dev/null 2>&1 || give_up "the package chromium does not run here"
mv "$bin/.chromium.$$" "$bin/chromium"
