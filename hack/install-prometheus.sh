#!/usr/bin/env bash
# Puts a Prometheus server and promtool into bin/, for the integration tests that use real ones, unless bin/ or PATH has them. They are
# those of the package `prometheus` of the machine's Debian or Ubuntu. The package is unpacked and not installed: that takes no
# rights, and nothing else on the machine changes. Installed, it would start a service that listens on all addresses.
#
# Usage: hack/install-prometheus.sh
# Exit status 1, and one line on standard output that says why, if it cannot. BERTH_PROMETHEUS_MISSING=REASON forbids it to try.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${BERTH_BIN:-bin}

# A mirror that does not answer must not hold the tests up.
readonly patience=(-o Acquire::Retries=1 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)

give_up() {
  echo "$1"
  exit 1
}

# present NAME tells whether the tests find a program.
present() { [[ -x $bin/$1 ]] || command -v "$1" >/dev/null; }

! present prometheus || ! present promtool || exit 0
[[ -z ${BERTH_PROMETHEUS_MISSING:-} ]] || give_up "$BERTH_PROMETHEUS_MISSING"
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || give_up "this machine has no $tool to get the package prometheus with"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# download ARG... gets the package into the work directory.
download() {
  (cd "$work" && timeout 300 apt-get "${patience[@]}" "$@" download prometheus >"$work/log" 2>&1) &&
    compgen -G "$work/prometheus_*.deb" >/dev/null
}

# download_afresh does the same with package lists of its own, for machines whose lists are missing or old.
download_afresh() {
  local own=(-o Dir::State="$work/state" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$work/cache")
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  timeout 300 apt-get "${patience[@]}" "${own[@]}" -o APT::Update::Error-Mode=any update >"$work/log" 2>&1 &&
    download "${own[@]}"
}

echo "Getting the Debian package prometheus for the integration tests" >&2
download || download_afresh || give_up "the package prometheus cannot be downloaded: $(tail -n 1 "$work/log" | cut -c 1-200)"
dpkg-deb -x "$work"/prometheus_*.deb "$work/root" || give_up "the package prometheus cannot be unpacked"
mkdir -p "$bin"
for program in prometheus promtool; do
  "$work/root/usr/bin/$program" --version >/dev/null 2>&1 || give_up "$program of the package prometheus does not run here"
  # Whoever looks at the same time sees the whole program or none.
  cp "$work/root/usr/bin/$program" "$bin/.$program.$$"
  mv "$bin/.$program.$$" "$bin/$program"
done
