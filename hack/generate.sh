#!/usr/bin/env bash
# Writes everything in this repository that a program writes: deep copies, defaults and conversions beside the API types,
# the CRDs in manifests/crds, the clientset, listers and informers in pkg/generated, and what the Helm chart has of the CRDs and of
# manifests/base. RBAC is written by hand.
#
# The generators are built from hack/tools into bin/tools, so nothing needs the network once the modules are downloaded.
# Usage: hack/generate.sh [ROOT]    ROOT is another copy of this repository to generate into (hack/verify.sh uses that).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$(cd "${1:-$here}" && pwd)
tools=$here/bin/tools
module=berth.dev/berth
api=$module/apis/berth/v1alpha1
generated=pkg/generated
header=$root/hack/boilerplate.go.txt

# A developer's own Go settings and locale must not change what is written.
export GOFLAGS=-mod=readonly GOWORK=off LC_ALL=C

echo "Building the code generators"
go build -C "$here/hack/tools" -o "$tools/" \
  k8s.io/code-generator/cmd/{deepcopy,defaulter,conversion,client,lister,informer}-gen \
  sigs.k8s.io/controller-tools/cmd/controller-gen

# with_tag TAG prints the API packages (as ./path) one of whose files carries the generator tag TAG.
with_tag() {
  find ./apis -name '*.go' ! -name 'zz_generated.*' ! -name '*_test.go' -exec grep -lE "^// \+$1" {} + \
    | xargs -r -n1 dirname | sort -u
}

# run_gen NAME TAG GENERATOR writes zz_generated.NAME.go in the packages that ask for it with TAG, and nowhere else.
run_gen() {
  local name=$1 tag=$2 generator=$3 packages old
  mapfile -t packages < <(with_tag "$tag")
  while read -r old; do
    [[ " ${packages[*]} " == *" $(dirname "$old") "* ]] || rm "$old"
  done < <(find ./apis -name "zz_generated.$name.go")
  if [[ ${#packages[@]} -gt 0 ]]; then
    echo "Writing zz_generated.$name.go in ${packages[*]}"
    "$generator" --output-file "zz_generated.$name.go" --go-header-file "$header" "${packages[@]}"
  fi
}

cd "$root"
run_gen deepcopy 'k8s:deepcopy-gen=' "$tools/deepcopy-gen"
run_gen defaults 'k8s:defaulter-gen=' "$tools/defaulter-gen"
run_gen conversion 'k8s:conversion-gen=' "$tools/conversion-gen"

# Floats are called dangerous because not every language reads them alike; prices and measured values are floats all the same.
echo "Writing manifests/crds"
rm -f manifests/crds/berth.dev_*.yaml
"$tools/controller-gen" "crd:allowDangerousTypes=true,headerFile=$root/hack/boilerplate.yaml.txt" \
  paths=./apis/berth/... output:crd:dir=manifests/crds

# The chart has the definitions, and what the base has in every installation.
echo "Writing manifests/charts/berth and docs/reference/chart.md"
go run -C "$here" ./hack/chart -root "$root"

# The clientset is written beside the one in use and takes its place when it is whole.
echo "Writing $generated"
mkdir -p pkg
fresh=$(mktemp -d "pkg/.generated.XXXXXX")
trap 'rm -rf "$root/$fresh"' EXIT
"$tools/client-gen" --go-header-file "$header" --clientset-name versioned \
  --input-base '' --input "$api" \
  --output-dir "$fresh/clientset" --output-pkg "$module/$generated/clientset"
"$tools/lister-gen" --go-header-file "$header" \
  --output-dir "$fresh/listers" --output-pkg "$module/$generated/listers" "$api"
"$tools/informer-gen" --go-header-file "$header" \
  --versioned-clientset-package "$module/$generated/clientset/versioned" \
  --listers-package "$module/$generated/listers" \
  --output-dir "$fresh/informers" --output-pkg "$module/$generated/informers" "$api"
chmod 755 "$fresh"
rm -rf "$generated"
mv "$fresh" "$generated"
