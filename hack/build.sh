#!/usr/bin/env bash
# Builds programs into bin/ and says how far it is. What is up to date costs next to nothing: Go knows that for Berth's own
# programs, and a stamp with the hash of everything that goes into them for the Kubernetes ones.
#
# Usage: hack/build.sh berth|control-plane|all|PROGRAM...
#   berth          Berth's own programs
#   control-plane  what the playground and the tests run them against
#   all            both; kube-scheduler, which only the benchmarks need, helm, which only the tests of the chart and the release
#                  need, and kubectl, with which the commands of the documentation are tested, are built when they are named
# DBG=1 keeps the symbols a debugger needs. OUT=DIR builds into another directory, from scratch, for instance with GOOS and GOARCH for
# another platform. KUBERNETES=1.37 builds with another minor of Kubernetes, into bin/kubernetes-1.37.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=hack/progress.sh
source hack/progress.sh
# shellcheck source=hack/kubernetes.sh
source hack/kubernetes.sh

readonly own=(berth-scheduler berth-controller-manager berth-gateway berthctl berth-playground)
readonly control_plane=(etcd kube-apiserver kube-controller-manager kwok)
readonly foreign=("${control_plane[@]}" kube-scheduler helm kubectl)

kubernetes=$(kubernetes_of "$gomod")
[[ $kubernetes == v* ]] || { echo "$gomod does not name a version of k8s.io/kubernetes" >&2; exit 1; }

# package_of PROGRAM prints the module directory and the package that the program is built from.
package_of() {
  case $1 in
    berth-scheduler) echo . ./cmd/scheduler ;;
    berth-controller-manager) echo . ./cmd/controller-manager ;;
    berth-gateway) echo . ./cmd/gateway ;;
    berthctl) echo . ./cmd/berthctl ;;
    berth-playground) echo . ./cmd/playground ;;
    etcd) echo . go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kube-scheduler) echo . "k8s.io/kubernetes/cmd/$1" ;;
    kwok) echo hack/tools/kwok sigs.k8s.io/kwok/cmd/kwok ;;
    helm) echo hack/tools/helm helm.sh/helm/v3/cmd/helm ;;
    kubectl) echo hack/tools/kubectl . ;;
    *) echo "unknown program $1" >&2; return 1 ;;
  esac
}

# ldflags VERSION COMMIT STATE prints linker flags that give a program its version. VERSION has to begin with the Kubernetes
# release: every Kubernetes component, Berth's scheduler too, takes the defaults of its feature gates from it.
ldflags() {
  local version=$1 commit=$2 state=$3 minor=${kubernetes#v1.} flags=() package
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=(-X "$package.gitVersion=$version" -X "$package.gitMajor=1" -X "$package.gitMinor=${minor%%.*}")
    flags+=(-X "$package.gitCommit=$commit" -X "$package.gitTreeState=$state")
  done
  # What charts are rendered for without a cluster.
  for package in helm.sh/helm/v3/pkg/chartutil helm.sh/helm/v3/pkg/lint/rules; do
    flags+=(-X "$package.k8sVersionMajor=1" -X "$package.k8sVersionMinor=${minor%%.*}")
  done
  [[ -n ${DBG:-} ]] || flags+=(-s -w)
  echo "${flags[*]}"
}

# berth_version prints the Kubernetes release followed by Berth's own version as SemVer build metadata.
berth_version() {
  local version
  version=${VERSION:-$(git describe --tags --always --dirty --match 'v*' 2>/dev/null || echo unknown)}
  echo "$kubernetes+berth.$(tr -c '0-9A-Za-z.\n' - <<<"${version#v}")"
}

# fingerprint PROGRAM prints a hash of what decides about a Kubernetes program: its version, the toolchain and this script.
fingerprint() {
  local module package file
  read -r module package < <(package_of "$1")
  file=$module/go.mod
  [[ $module != . ]] || file=$gomod
  {
    go env GOVERSION GOOS GOARCH CGO_ENABLED GOFLAGS
    echo "$package ${DBG:-}"
    cat "$file" "${file%mod}sum" hack/build.sh
  } | git hash-object --stdin
}

# group_of PROGRAM prints what is the same for the programs that one call of go can build: their module and their version.
group_of() {
  local module
  read -r module _ < <(package_of "$1")
  if [[ " ${own[*]} " == *" $1 "* ]]; then
    echo own
  elif [[ $module == . ]]; then
    echo kubernetes
  else
    echo "$1"
  fi
}

# build TARGET PROGRAM... builds a program into a file, or programs of one group into a folder, whose name ends with a slash. Go links them
# at the same time, where one at a time would leave processors idle, and calls them as their packages.
build() {
  local target=$1 program module package packages=() version=$kubernetes commit=unknown state=clean
  [[ $target == /* ]] || target=$PWD/$target
  shift
  for program in "$@"; do
    read -r module package < <(package_of "$program")
    packages+=("$package")
  done
  if [[ $(group_of "$program") == own ]]; then
    version=$(berth_version)
    commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
    [[ $version != *-dirty ]] || state=dirty
  fi
  # The tools are modules of their own, whatever minor is chosen.
  [[ $module == . ]] || local -x GOFLAGS=
  (cd "$module" && compile -buildvcs=false -ldflags "$(ldflags "$version" "$commit" "$state")" -o "$target" "${packages[@]}")
}

# build_group GROUP PROGRAM... builds programs beside their places and moves them there, so that a test which is running one meanwhile
# keeps the file it has. Go finds what it has built of Berth there the next time; of others the stamp tells.
build_group() {
  local folder=$bin/.build/$1 program package name
  [[ $1 == own ]] || folder+=.$$
  shift
  mkdir -p "$folder"
  build "$folder/" "$@"
  for program in "$@"; do
    read -r _ package < <(package_of "$program")
    name=$(basename "${package%/v[0-9]}")
    [[ $name != . ]] || name=$program
    # Go leaves a file that need not be built as it is.
    if [[ ! $folder/$name -ef $bin/$program ]]; then
      ln -f "$folder/$name" "$folder/.$program.$$"
      mv -f "$folder/.$program.$$" "$bin/$program"
    fi
    [[ $folder == */own ]] || fingerprint "$program" >"$bin/.build/$program.stamp"
  done
  [[ $folder == */own ]] || rm -r "$folder"
}

# is_fresh PROGRAM succeeds if a Kubernetes program need not be built.
is_fresh() {
  [[ -x $bin/$1 ]] && [[ $(fingerprint "$1") == "$(cat "$bin/.build/$1.stamp" 2>/dev/null)" ]]
}

main() {
  local programs=() todo=() groups=() program group hint number=0 out=${OUT:-$bin}
  local -A of=()
  case ${1:?usage: hack/build.sh berth|control-plane|all|PROGRAM...} in
    berth) programs=("${own[@]}") ;;
    control-plane) programs=("${control_plane[@]}") ;;
    all) programs=("${control_plane[@]}" "${own[@]}") ;;
    *) programs=("$@") ;;
  esac
  for program in "${programs[@]}"; do
    package_of "$program" >/dev/null
  done
  mkdir -p "$out" "$bin/.build"
  if [[ $out != "$bin" ]]; then
    for program in "${programs[@]}"; do
      echo "building $program"
      build "$out/$program" "$program"
    done
    return
  fi
  for program in "${programs[@]}"; do
    if [[ " ${foreign[*]} " != *" $program "* ]] || ! is_fresh "$program"; then
      todo+=("$program")
      group=$(group_of "$program")
      [[ -n ${of[$group]:-} ]] || groups+=("$group")
      of[$group]+=" $program"
    fi
  done
  for group in "${groups[@]}"; do
    read -ra programs <<<"${of[$group]}"
    hint=
    [[ -e $bin/${programs[0]} ]] || hint="; the first time takes minutes"
    number=$((number + ${#programs[@]}))
    echo "building ${programs[*]} ($number of ${#todo[@]}$hint)"
    build_group "$group" "${programs[@]}"
    if [[ " ${programs[*]} " == *" berthctl "* ]]; then
      ln -sf berthctl "$bin/kubectl-berth"
    fi
  done
}

main "$@"
