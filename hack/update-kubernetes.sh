#!/usr/bin/env bash
# Moves Berth to another Kubernetes patch or minor in one go: k8s.io/kubernetes itself, every staging module that it
# replaces (they must all be the same release, and `replace` directives are not inherited), and the require lines of the
# staging modules Berth imports.
#
# Usage: hack/update-kubernetes.sh v1.35.8
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1:?usage: hack/update-kubernetes.sh v1.MINOR.PATCH}
[[ $version =~ ^v1\.[0-9]+\.[0-9]+$ ]] || { echo "not a Kubernetes release: $version" >&2; exit 2; }
staging="v0.${version#v1.}"

echo "Reading the staging modules of k8s.io/kubernetes@$version"
answer=$(go mod download -json "k8s.io/kubernetes@$version") || {
  echo "k8s.io/kubernetes@$version cannot be had:$(sed -n 's/^[[:space:]]*"Error":\(.*\)$/\1/p' <<<"$answer")" >&2
  exit 1
}
gomod=$(sed -n 's/^[[:space:]]*"GoMod": "\(.*\)",$/\1/p' <<<"$answer")
mapfile -t modules < <(sed -n 's#^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => ./staging/.*#\1#p' "$gomod" | sort -u)
[[ ${#modules[@]} -gt 0 ]] || { echo "found no staging modules in $gomod" >&2; exit 1; }

edits=(-require="k8s.io/kubernetes@$version")
for module in "${modules[@]}"; do
  edits+=(-replace="$module=$module@$staging")
done
while read -r module; do
  edits+=(-require="$module@$staging")
done < <(awk '$1 ~ /^k8s.io\// && $2 ~ /^v0\.[0-9]+\.[0-9]+$/ {print $1}' go.mod | grep -Fx "$(printf '%s\n' "${modules[@]}")" || true)
go mod edit "${edits[@]}"

echo "Pinned ${#modules[@]} staging modules to $staging; now run: go mod tidy && make generate verify test"
