#!/usr/bin/env bash
# Writes what users install into dist/. The same commit makes the same files, whatever the machine.
#
# Usage: hack/release.sh [PART...]      without arguments all of them, in this order:
#   images      OCI layouts of the images, for each of ARCHITECTURES; those of the programs with a scheduler in them for each of MINORS too
#   manifests   the one file, for each of MINORS too, and the chart, with the images' digests if they have been built
#   berthctl    archives of berthctl with its completions, and a manifest for krew
#   playground  an archive of the playground and its control plane for this machine's platform
#   sbom        which Go modules the programs in the images were built from
#   checksums   of everything in dist/ that is downloaded
#
#   VERSION=v0.1.0                        what the release calls itself, and the tag of the images (default: from git)
#   REGISTRY=registry.example.com/berth   where the images are (default: nowhere; whoever installs says where)
#   PUSH=1                                sends the images there
#   DOWNLOADS=https://example.com/v0.1.0  where the archives will be, without which there is no manifest for krew
#   ARCHITECTURES="amd64 arm64"           what the images are for
#   PLATFORMS="linux-amd64 ..."           what berthctl is for
#   MINORS="1.36 1.37"                    with which Kubernetes scheduler and controller manager are compiled beside that of go.mod
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ -z ${KUBERNETES:-} ]] || { echo "a release is for several minors of Kubernetes: leave KUBERNETES out, or choose with MINORS" >&2; exit 2; }

version=${VERSION:-$(git describe --tags --always --dirty --match 'v*' 2>/dev/null || echo unknown)}
registry=${REGISTRY:-}
read -ra architectures <<<"${ARCHITECTURES:-amd64 arm64}"
read -ra platforms <<<"${PLATFORMS:-linux-amd64 linux-arm64 darwin-amd64 darwin-arm64}"
read -ra minors <<<"${MINORS-$(printf '%s ' build/kubernetes-* | sed 's,build/kubernetes-,,g')}"
programs=(berth-scheduler berth-controller-manager berth-gateway)
# In these a scheduler works, or is asked: they are compiled with each minor.
compiled=(berth-scheduler berth-controller-manager)
built=dist/.build/images
digests=dist/images/digests.txt
# Everything in a release is of the time of its commit.
commit_time=$(git log -1 --format=%ct 2>/dev/null || echo 0)

# wrote FILE says what a file is for and how large it is.
wrote() {
  printf 'dist/%-48s %8d KiB  %s\n' "$1" $((($(wc -c <"dist/$1") + 1023) / 1024)) "$2"
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

# cross DIRECTORY PLATFORM PROGRAM... builds programs for a platform into DIRECTORY/PLATFORM. They are the same wherever the tree lies.
cross() {
  local directory=$1 platform=$2
  shift 2
  CGO_ENABLED=0 GOOS=${platform%-*} GOARCH=${platform#*-} GOFLAGS="${GOFLAGS:-} -trimpath" \
    VERSION=$version OUT=$directory/$platform hack/build.sh "$@"
}

# all_digests prints a line "NAME DIGEST [MINOR]" for each image that has been built.
all_digests() {
  local minor
  cat "$digests"
  for minor in "${minors[@]}"; do
    sed "s/\$/ $minor/" "dist/images/kubernetes-$minor/digests.txt"
  done
}

# with_digests prints the values of the chart with the digests of the images that have been built.
with_digests() {
  awk 'NR == FNR && NF == 2 { digest[$1] = $2; next }
    NR == FNR { others[$1] = others[$1] (others[$1] == "" ? "" : ", ") "\"" $3 "\": \"" $2 "\""; next }
    /^ *repository: / { name = $2 }
    /^ *digest: ""$/ && name in digest { sub(/""/, digest[name]) }
    /^ *digests: {}$/ && name in others { sub(/{}/, "{" others[name] "}") }
    { print }' dist/.build/all-digests.txt manifests/charts/berth/values.yaml
}

# one_file [MINOR] writes the one file, of the images that are compiled with a minor.
one_file() {
  local minor=${1:-} name=berth args=(-registry "$registry" -tag "$version")
  if [[ -n $minor ]]; then
    name=berth-kubernetes-$minor
    args+=(-kubernetes "$minor")
  fi
  if [[ -f $digests ]]; then
    awk -v minor="$minor" 'NF == 2 || $3 == minor { print $1, $2 }' dist/.build/all-digests.txt >dist/.build/digests.txt
    args+=(-digests dist/.build/digests.txt)
  fi
  fresh "$name.yaml" go run ./hack/onefile "${args[@]}"
  wrote "$name.yaml" "kubectl apply --server-side -f $name.yaml"
}

# images_tool ARG... runs the program that makes images, which is a module of its own.
images_tool() {
  mkdir -p bin/tools
  (cd hack/tools/images && go build -o ../../../bin/tools/images .)
  bin/tools/images "$@"
}

# archive NAME DIRECTORY packs what is in a directory of dist/.build under the name of the archive.
archive() {
  tar --create --sort=name --mtime="@$commit_time" --owner=0 --group=0 --numeric-owner --mode=u+w,go-w \
    --directory "dist/.build/$2" --transform "s,^\.,$1," --show-transformed-names . | gzip --no-name
}

# images_of FOLDER TAG PROGRAM... makes images, for each architecture, in a folder of dist/images, and sends them away if wanted.
images_of() {
  local folder=$1 tag=$2 architecture
  shift 2
  for architecture in "${architectures[@]}"; do
    cross "$built/$folder" "linux-$architecture" "$@"
  done
  mkdir -p "dist/images/$folder"
  fresh "images/$folder/digests.txt" images_tool build -programs "$built/$folder" -out "dist/images/$folder" -tag "$tag" -time "$commit_time" "$@"
  sed "s,^,dist/images/$folder/,; s,/\./,/," "dist/images/$folder/digests.txt"
  if [[ -n ${PUSH:-} ]]; then
    images_tool push -from "dist/images/$folder" -registry "$registry" -tag "$tag" "$@"
  fi
}

release_images() {
  local minor
  rm -rf "$built" dist/images
  images_of . "$version" "${programs[@]}"
  for minor in "${minors[@]}"; do
    KUBERNETES=$minor images_of "kubernetes-$minor" "$version-kubernetes-$minor" "${compiled[@]}"
  done
}

release_manifests() {
  local chart=dist/.build/chart minor
  hack/build.sh helm
  rm -f dist/berth-kubernetes-*.yaml
  mkdir -p dist/.build
  [[ ! -f $digests ]] || all_digests >dist/.build/all-digests.txt
  one_file
  for minor in "${minors[@]}"; do
    one_file "$minor"
  done
  rm -rf "$chart" dist/berth-*.tgz
  mkdir -p "$chart"
  cp -R manifests/charts/berth "$chart/"
  [[ ! -f $digests ]] || with_digests >"$chart/berth/values.yaml"
  bin/helm package "$chart/berth" --version "$(chart_version)" --app-version "$version" --destination dist >/dev/null
  wrote "berth-$(chart_version).tgz" 'helm install berth ... --namespace berth-system --create-namespace'
  [[ -n $registry ]] || echo 'REGISTRY is not set: the images in berth.yaml have no registry before their names'
}

release_berthctl() {
  local platform name shell
  hack/build.sh berthctl
  rm -f dist/berthctl-*
  for platform in "${platforms[@]}"; do
    cross dist/.build/berthctl "$platform" berthctl
    name=berthctl-$version-$platform
    rm -rf "dist/.build/$name"
    mkdir -p "dist/.build/$name/completions"
    cp "dist/.build/berthctl/$platform/berthctl" LICENSE "dist/.build/$name/"
    for shell in bash fish zsh; do
      bin/berthctl completion "$shell" >"dist/.build/$name/completions/berthctl.$shell"
    done
    fresh "$name.tar.gz" archive "$name" "$name"
    wrote "$name.tar.gz" 'berthctl and its completions'
  done
  if [[ -z ${DOWNLOADS:-} ]]; then
    echo 'DOWNLOADS is not set: no manifest for krew'
    return
  fi
  mkdir -p dist/krew
  fresh krew/berth.yaml go run ./hack/krew -version "$version" -downloads "$DOWNLOADS" dist/berthctl-*.tar.gz
  wrote krew/berth.yaml 'kubectl krew install --manifest=berth.yaml'
}

release_playground() {
  local platform name
  platform=$(go env GOOS)-$(go env GOARCH)
  name=berth-playground-$version-$platform
  hack/build.sh all
  rm -rf "dist/.build/$name" dist/berth-playground-*
  mkdir -p "dist/.build/$name/bin"
  cp LICENSE "dist/.build/$name/"
  cp bin/{berth-playground,berth-scheduler,berth-controller-manager,berth-gateway,berthctl} "dist/.build/$name/bin/"
  cp bin/{etcd,kube-apiserver,kube-controller-manager,kwok} "dist/.build/$name/bin/"
  cp -R manifests examples "dist/.build/$name/"
  # The checks of berthctl name pages of the documentation.
  find README.md docs -name '*.md' -print0 | tar --create --null --files-from=- | tar --extract --directory "dist/.build/$name"
  fresh "$name.tar.gz" archive "$name" "$name"
  wrote "$name.tar.gz" 'unpack it and run bin/berth-playground demo'
}

# sbom_of FOLDER VERSION PROGRAM... lists what is in the images of a folder.
sbom_of() {
  local name=berth-$2.cdx.json files=("${@:3}")
  fresh "$name" images_tool sbom -version "$2" "${files[@]/#/$built/$1/linux-${architectures[0]}/}"
  wrote "$name" 'the Go modules in the images, as CycloneDX'
}

release_sbom() {
  local minor
  rm -f dist/berth-*.cdx.json
  sbom_of . "$version" "${programs[@]}"
  for minor in "${minors[@]}"; do
    sbom_of "kubernetes-$minor" "$version-kubernetes-$minor" "${compiled[@]}"
  done
}

release_checksums() {
  (cd dist && rm -f checksums.txt && find . -maxdepth 1 -type f ! -name '.*' -printf '%P\n' | sort | xargs sha256sum >.checksums && mv .checksums checksums.txt)
  wrote checksums.txt 'sha256sum --check checksums.txt'
}

mkdir -p dist
parts=("$@")
((${#parts[@]})) || parts=(images manifests berthctl playground sbom checksums)
for part in "${parts[@]}"; do
  [[ $(type -t "release_$part") == function ]] || { echo "there is no part $part" >&2; exit 2; }
  echo "release: $part"
  "release_$part"
done
