#!/usr/bin/env bash
# Puts a Prometheus server and promtool into bin/, for the integration tests that use real ones, unless bin/ or PATH has them. They are
# those of the package `prometheus` of the machine's Debian or Ubuntu. Installed, it would start a service that listens on all
# addresses; so it is only unpacked.
#
# Usage: hack/install-prometheus.sh
# Exit status 1, and one line on standard output that says why, if it cannot. BERTH_PROMETHEUS_MISSING=REASON forbids it to try.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source hack/debian.sh
bin=${BERTH_BIN:-bin}

# present NAME tells whether the tests find a program.
present() { [[ -x $bin/$1 ]] || command -v "$1" >/dev/null; }

! present prometheus || ! present promtool || exit 0
[[ -z ${BERTH_PROMETHEUS_MISSING:-} ]] || give_up "$BERTH_PROMETHEUS_MISSING"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unpack_debian "$work" download prometheus
mkdir -p "$bin"
for program in prometheus promtool; do
  "$work/root/usr/bin/$program" --version >/dev/null 2>&1 || give_up "$program of the package prometheus does not run here"
  # Whoever looks at the same time sees the whole program or none.
  cp "$work/root/usr/bin/$program" "$bin/.$program.$$"
  mv "$bin/.$program.$$" "$bin/$program"
done
