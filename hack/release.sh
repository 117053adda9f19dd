#!/usr/bin/env bash
# Writes what users install into dist/.
#
# Usage: hack/release.sh
#   VERSION=v0.1.0                        what the release calls itself, and the tag of the images (default: from git)
#   REGISTRY=registry.example.com/berth   where the images are (default: nowhere; whoever installs says where)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${VERSION:-$(git describe --tags --always --dirty --match 'v*' 2>/dev/null || echo unknown)}
registry=${REGISTRY:-}

# wrote FILE says what a file is for and how large it is.
wrote() {
  printf 'dist/%-40s %8d KiB  %s\n' "$1" $((($(wc -c <"dist/$1") + 1023) / 1024)) "$2"
}

# fresh FILE runs what writes to standard output, and puts the file in its place when it is whole.
fresh() {
  local file=dist/$1
  shift
  "$@" >"$file.new"
  mv -f "$file.new" "$file"
}

# chart_version prints a version as SemVer, which a chart must have.
chart_version() {
  if [[ ${version#v} =~ ^[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$ ]]; then
    echo "${version#v}"
  else
    echo "0.0.0-$(tr -c '0-9A-Za-z.\n' - <<<"$version")"
  fi
}

mkdir -p dist
hack/build.sh helm
fresh berth.yaml go run ./hack/onefile -registry "$registry" -tag "$version"
wrote berth.yaml 'kubectl apply --server-side -f berth.yaml'
rm -f dist/berth-*.tgz
bin/helm package manifests/charts/berth --version "$(chart_version)" --app-version "$version" --destination dist >/dev/null
wrote "berth-$(chart_version).tgz" 'helm install berth ... --namespace berth-system --create-namespace'
[[ -n $registry ]] || echo 'REGISTRY is not set: the images in berth.yaml have no registry before their names'
