#!/usr/bin/env bash
# Writes build/kubernetes-1.MINOR/go.mod and go.sum, with which programs and tests are compiled for another minor of Kubernetes
# than that of go.mod (KUBERNETES=1.MINOR make build). They follow from go.mod: only the modules of Kubernetes are others, and
# what these need at least. They are not tidied: go mod tidy does not know build tags, and would keep what a minor leaves out.
#
# Usage: hack/kubernetes-minor.sh v1.MINOR.PATCH   writes the files
#        hack/kubernetes-minor.sh --check          fails if the files there are do not follow from go.mod
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=hack/pins.sh
source hack/pins.sh

# with MINOR prints what else a minor needs another version of, because the one in go.mod does not compile with it.
with() {
  case $1 in
    1.36) echo sigs.k8s.io/controller-runtime@v0.24.1 ;;
    1.37) echo sigs.k8s.io/controller-runtime@v0.25.2 ;;
  esac
}

# minor VERSION prints 1.37 of v1.37.1.
minor() { sed -n 's/^v\(1\.[0-9]*\)\..*/\1/p' <<<"$1"; }

# write VERSION FOLDER
write() {
  local version=$1 folder=$2 pins edits module
  pins=$(kubernetes_pins "$version")
  mapfile -t edits <<<"$pins"
  edits+=(-droprequire=sigs.k8s.io/scheduler-plugins)
  for module in $(with "$(minor "$version")"); do
    edits+=(-require="$module")
  done
  mkdir -p "$folder"
  cp go.mod go.sum "$folder"
  go mod edit "${edits[@]}" "$folder/go.mod"
  # What is missing is found while the packages are loaded, and written into the copies.
  go list -mod=mod -modfile="$folder/go.mod" -tags="kubernetes_$(minor "$version" | tr . _)" -test -deps \
    ./cmd/... ./pkg/... ./test/integration/... ./test/perf go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager >/dev/null
}

main() {
  local version folder fresh
  if [[ ${1:?usage: hack/kubernetes-minor.sh v1.MINOR.PATCH|--check} != --check ]]; then
    [[ $1 =~ ^v1\.[0-9]+\.[0-9]+$ ]] || { echo "not a Kubernetes release: $1" >&2; exit 2; }
    write "$1" "build/kubernetes-$(minor "$1")"
    return
  fi
  fresh=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder is that of now
  trap "rm -rf '$fresh'" EXIT
  for folder in build/kubernetes-*/; do
    version=$(kubernetes_of "$folder/go.mod")
    write "$version" "$fresh/${folder%/}"
    { diff -u "$folder/go.mod" "$fresh/$folder/go.mod" && diff -u "$folder/go.sum" "$fresh/$folder/go.sum"; } || {
      echo "$folder does not follow from go.mod: run hack/kubernetes-minor.sh $version" >&2
      exit 1
    }
  done
}

main "$@"
