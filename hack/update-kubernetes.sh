#!/usr/bin/env bash
# Moves Berth to another Kubernetes patch or minor in one go: k8s.io/kubernetes itself, every staging module that it
# replaces (they must all be the same release, and `replace` directives are not inherited), and the require lines of the
# staging modules Berth imports.
#
# Usage: hack/update-kubernetes.sh v1.35.8
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=hack/pins.sh
source hack/pins.sh

version=${1:?usage: hack/update-kubernetes.sh v1.MINOR.PATCH}
[[ $version =~ ^v1\.[0-9]+\.[0-9]+$ ]] || { echo "not a Kubernetes release: $version" >&2; exit 2; }

echo "Reading the staging modules of k8s.io/kubernetes@$version"
pins=$(kubernetes_pins "$version")
mapfile -t edits <<<"$pins"
go mod edit "${edits[@]}"

echo "Pinned $(grep -c -- ^-replace <<<"$pins") staging modules to v0.${version#v1.}; now run: go mod tidy && make generate verify test"
