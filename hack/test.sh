#!/usr/bin/env bash
# Runs the tests. All output after "Compiling" is go test's own, but for a line each minute that names what is running.
#
# Usage: hack/test.sh unit|simulation|integration|race|fuzz|bench
#   unit         every package but those below test/integration, with the race detector, and those of hack/tools; then, without it, those
#                with files for "!race": long tests of one goroutine, in which it finds nothing and costs ten times
#   integration  the suites in test/integration, against a real control plane on loopback (its programs must be in bin/)
#   simulation   simulated worlds full of faults, for SIMULATE (default 60s) from seed 1 on
#   race         unit and integration, both with the race detector
#   fuzz         every fuzz target for FUZZTIME (default 20s)
#   bench        every benchmark that matches BENCH (default all), COUNT times (default once)
# KUBERNETES=1.37 compiles them with another minor of Kubernetes, and runs the programs in bin/kubernetes-1.37.
# RUN=REGEXP limits unit, integration and race to the tests that match, SUITES="scheduler playground" integration to these suites.
# BERTH_TEST_FULL=1 runs the largest specs with as many pods as they promise.
# When all integration tests have run, the rights of Berth's programs are compared with what they have used (hack/rights).
# Some suites read from a real Prometheus server. If there is none and none can be got, they are skipped, and this says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=hack/progress.sh
source hack/progress.sh
# shellcheck source=hack/kubernetes.sh
source hack/kubernetes.sh

# A result from the cache is as good as a new one on a developer's machine; a CI run is there to run. `make lint` runs govet with more
# analyzers than go test would, and once: for go test it goes through all dependencies, and with the race detector through all again.
unit_flags=(-vet=off -timeout 20m)
[[ -z ${CI:-} ]] || unit_flags+=(-count=1)
integration_flags=(-vet=off -count=1 -timeout 30m)
[[ -z ${BERTH_TEST_FULL:-} ]] || integration_flags+=(-timeout 90m)
if [[ -n ${RUN:-} ]]; then
  unit_flags+=(-run "$RUN")
  integration_flags+=(-run "$RUN")
fi

# A machine that runs tests has memory to spare, and of the processor time of an API server garbage collection takes a sixth otherwise.
# Those of the playground keep what manifests/base gives them, and benchmarks measure what users have.
if [[ ${1:-} != bench ]]; then
  export GOGC=${GOGC:-400} GOMEMLIMIT=${GOMEMLIMIT:-3GiB}
fi

# at_once is how many packages are tested at the same time: many of them wait half of the time for what has to come to rest.
at_once=$((2 * $(nproc)))

# Without this Go leaves the link of a program with the race detector to the C compiler's linker, which takes a fifth longer.
race_flags=(-race)
[[ $(go env GOOS GOARCH CGO_ENABLED | xargs) != "linux amd64 1" ]] || race_flags+=(-ldflags=-linkmode=internal)

# longest are the packages with the longest unit tests. They begin first: the last one of them would keep one processor busy alone.
longest='/test/simulation$|/pkg/controllers/(policy|application)$|/pkg/simulator$'

# packages KIND prints the packages of a kind that have tests. A package without tests is compiled by build and lint.
packages() {
  local all
  if [[ $1 == integration && -n ${SUITES:-} ]]; then
    # Nothing else is looked at: with another minor of Kubernetes not all there is can be listed.
    tr -s ' ' '\n' <<<"$SUITES" | sed 's,^,berth.dev/berth/test/integration/,'
    return
  fi
  all=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
  case $1 in
    unit)
      all=$(grep -v '^berth.dev/berth/test/integration\(/\|$\)' <<<"$all")
      grep -E "$longest" <<<"$all"
      grep -vE "$longest" <<<"$all"
      ;;
    norace) norace_files | xargs -n 1 dirname | sort -u ;;
    integration)
      # Go begins in this order. The three with bursts of pods would be neighbours, and each keeps the processors busy alone.
      grep '/test/integration/sharding$' <<<"$all"
      grep '^berth.dev/berth/test/integration\(/\|$\)' <<<"$all" | grep -v '/sharding$'
      ;;
    all) echo "$all" ;;
  esac
}

# norace_files prints the files with tests that the race detector is not for.
norace_files() { grep -rlx --include='*_test.go' --exclude-dir=bin '//go:build !race' .; }

# compile_needed [-race] PACKAGE... compiles all that the tests of the packages are made of, which shows how far it is; go test
# itself is silent while it compiles. Packages that hold nothing but tests cannot be built, so they are left to go test.
compile_needed() {
  local flags=() needed
  if [[ $1 == -race ]]; then
    flags=(-race)
    shift
  fi
  needed=$(go list "${flags[@]}" -test -deps \
    -f '{{if and .GoFiles (not .Standard) (not .ForTest) (ne .Name "main")}}{{.ImportPath}}{{end}}' "$@")
  mapfile -t needed < <(sort -u <<<"$needed")
  compile "${flags[@]}" "${needed[@]}"
}

# need NAME gets a program of others with hack/install-NAME.sh, or tells the tests why there is none. Without the reason its absence
# fails in CI.
need() {
  local why missing=BERTH_${1^^}_MISSING
  if ! why=$("hack/install-$1.sh"); then
    export "$missing=${why:-hack/install-$1.sh failed}"
    echo "Tests that need $1 are skipped: ${!missing}"
  fi
}

# once is what no accident of time makes a test print: a data race, what does not compile, and what witnesses of the integration tests
# say of something that was given to two at a time (installation.GivenTwice).
once='WARNING: DATA RACE|^FAIL.*\[(build|setup) failed\]|GIVEN TWICE: '

# again OUTPUT FLAG... runs the packages that failed once more, one at a time, and names those that pass then. A machine that stalls
# makes a test miss its deadline; a defect fails twice. What once matches is final.
again() {
  local output=$1 failed=()
  shift
  mapfile -t failed < <(sed -n 's/^FAIL\t\([^[:space:]]*\)\t.*/\1/p' "$output")
  if ((${#failed[@]} == 0)) || grep -qE "$once" "$output"; then
    return 1
  fi
  echo "Running what failed again, one at a time"
  go test "$@" -p 1 "${failed[@]}" || return 1
  echo "Passed only at the second try, which is a defect of the test or of Berth: ${failed[*]}"
}

# name_running tells each minute which tests of this run are running: go test prints those of a package when they have ended, and
# in the order in which it was given the packages.
name_running() {
  local group nap
  group=$(ps -o pgid= $$)
  trap 'kill "$nap"; exit' TERM
  while :; do
    sleep 60 &
    nap=$!
    wait "$nap"
    ps -eo pgid,args | awk -v group="$group" '
      $1 == group + 0 && $2 ~ /\.test$/ { gsub(/.*\/|\.test$/, "", $2); names = names " " $2 }
      END { if (names) print "  still running:" names }'
  done
}

# run_tests KIND FLAG... compiles and runs the tests of a kind.
run_tests() {
  local kind=$1 found list output running status=0 race=()
  shift
  [[ " $* " != *" -race "* ]] || race=(-race)
  found=$(packages "$kind")
  mapfile -t list <<<"$found"
  echo "Compiling the $kind tests${race:+ with the race detector} (${#list[@]} packages; the first time takes minutes)"
  compile_needed "${race[@]}" "${list[@]}"
  output=$(mktemp)
  name_running &
  running=$!
  go test "$@" "${list[@]}" | tee "$output" || again "$output" "$@" || status=1
  kill "$running"
  rm "$output"
  return "$status"
}

# test_tools FLAG... runs the tests of our own programs whose modules are apart, because their pins differ.
test_tools() {
  (cd hack/tools/images && go test "$@" ./...)
}

# run_integration FLAG... runs the integration tests, and then names what Berth's programs may do and have not done in any of them
# (hack/rights). That says nothing where only some of them run, or programs with another minor of Kubernetes.
run_integration() {
  [[ -n ${SUITES:-} && ! " $SUITES " =~ " "(metrics|operations)" " ]] || need prometheus
  [[ -n ${SUITES:-} && " $SUITES " != *" pages "* ]] || need chromium
  [[ -z ${RUN:-}${SUITES:-}${KUBERNETES:-}${BERTH_PROMETHEUS_MISSING:-}${BERTH_CHROMIUM_MISSING:-} ]] || { run_tests integration "$@"; return; }
  BERTH_RIGHTS=$(mktemp -d)
  export BERTH_RIGHTS
  trap 'rm -rf "$BERTH_RIGHTS"' EXIT
  run_tests integration "$@"
  go run ./hack/rights "$BERTH_RIGHTS"
}

# fuzz_all runs each fuzz target by itself, as `go test -fuzz` wants it.
fuzz_all() {
  local dir target
  while read -r dir; do
    while read -r target; do
      echo "Fuzzing $target in $dir"
      go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-20s}" "$dir"
    done < <(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go)
  done < <(find . -path ./bin -prune -o -name '*_test.go' -exec grep -lE '^func Fuzz' {} + | xargs -r -n1 dirname | sort -u)
}

case ${1:-} in
  unit)
    test_tools "${unit_flags[@]}"
    status=0
    run_tests unit "${race_flags[@]}" -p "$at_once" "${unit_flags[@]}" || status=$?
    [[ -n ${RUN:-} ]] || unit_flags+=(-run "^($(norace_files | xargs sed -n 's/^func \(Test[[:alnum:]]*\)(.*/\1/p' | paste -sd '|'))\$")
    run_tests norace "${unit_flags[@]}" || status=$?
    exit "$status"
    ;;
  # Each suite has a control plane of its own, which it waits for some of the time. One more than there are processors keeps them busy;
  # with twice as many, schedulers lose their leases.
  integration)
    run_integration -p "$(($(nproc) + 1))" "${integration_flags[@]}"
    ;;
  race)
    run_tests unit "${race_flags[@]}" "${unit_flags[@]}"
    run_integration "${race_flags[@]}" -p 2 "${integration_flags[@]}"
    ;;
  # RUN names tests, and these are none. The runtime that repeats itself is made for one version of Go.
  simulation)
    [[ -z ${RUN:-} ]] || exit 0
    hack/simulate.sh 1 "${SIMULATE:-60s}"
    [[ $(go env GOVERSION) != go1.26* ]] || hack/simulate.sh times 3 1
    ;;
  fuzz) fuzz_all ;;
  bench)
    found=$(packages all)
    mapfile -t list <<<"$found"
    compile_needed "${list[@]}"
    go test -run '^$' -bench "${BENCH:-.}" -benchmem -count "${COUNT:-1}" -timeout 60m "${list[@]}"
    ;;
  *)
    sed -n '/^# Usage/,/^# RUN/s/^# //p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
