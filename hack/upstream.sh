#!/usr/bin/env bash
# Runs kube-scheduler's own integration tests, those of the pinned Kubernetes, with Berth's plugins in every profile that they make.
# The tests are not changed but for one call: where they make a scheduler, test/upstream makes it. They need etcd in bin/.
#
# Usage: hack/upstream.sh [SUITE...]
#   SUITE   a folder of test/integration/scheduler; all that test what a scheduler's plugins can change if none is named
# RUN=REGEXP limits them to the tests that match. What the tests print is in bin/upstream/SUITE.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly all=(filters scoring bind taint plugins eventhandler nominated_node_name
  preemption preemption/misc preemption/nominatednodename queueing queueing/former queueing/queueinghint)
readonly ours=berth.dev/berth/test/upstream work=$PWD/bin/upstream
suites=("$@")
((${#suites[@]} > 0)) || suites=("${all[@]}")

[[ -x bin/etcd ]] || { echo "bin/etcd is missing: run make build-control-plane" >&2; exit 1; }
module=$(go list -m -f '{{.Dir}}' k8s.io/kubernetes)
theirs=$module/test/integration

# take FOLDER [FILE] copies the sources of a folder of Kubernetes' integration tests, with the imports and the call changed, and
# adds them to the overlay by which Go sees them below test/upstream.
overlay=
take() {
  local file
  mkdir -p "$work/src/$1"
  for file in "$theirs/$1"/${2:-*.go}; do
    sed -E -e "s#\"k8s.io/kubernetes/test/integration/(util|scheduler)([/\"])#\"$ours/suites/\1\2#" \
      -e "s#\bscheduler\.New\(#upstream.New(#" "$file" >"$work/src/$1/${file##*/}"
    overlay+=${overlay:+,}$'\n'"\"$PWD/test/upstream/suites/$1/${file##*/}\": \"$work/src/$1/${file##*/}\""
  done
}

rm -rf "$work"
mkdir -p "$work"
echo "module upstream.invalid" >"$work/go.mod" # keeps the copies out of ./...
take util
take scheduler util.go
take scheduler/queueing queue.go
for suite in "${suites[@]}"; do take "scheduler/$suite"; done
sed -i "s#^import (#import (\n\t\"$ours\"#" "$work/src/util/util.go"
echo "{\"Replace\": {$overlay}}" >"$work/overlay.json"

export PATH=$PWD/bin:$PATH BERTH_UPSTREAM_PROFILE=$PWD/manifests/components/adds-only/scheduler-config.yaml
echo "Compiling ${#suites[@]} suites of kube-scheduler"
# What only these tests import is no business of Berth's go.mod.
cp go.mod "$work/berth.mod"
cp go.sum "$work/berth.sum"
for suite in "${suites[@]}"; do
  go test -c -vet=off -ldflags="-s -w" -mod=mod -modfile "$work/berth.mod" -overlay "$work/overlay.json" -o "$work/${suite//\//-}.test" "./test/upstream/suites/scheduler/$suite"
done

# run_suite NAME runs a suite that is compiled.
run_suite() (
  cd "$work"
  "./$1.test" -test.v -test.timeout 40m ${RUN:+-test.run "$RUN"} -v 0 >"$1.log" 2>&1
)

passed=0 failed=0 skipped=0 status=0 started=$SECONDS
for suite in "${suites[@]}"; do
  name=${suite//\//-} begun=$SECONDS outcome=passed
  # An API server that a test has ended while it was still beginning ends the whole suite, on a busy machine: that is tried again.
  run_suite "$name" || { grep -q 'PostStartHook .* failed' "$work/$name.log" && run_suite "$name"; } || { outcome=FAILED status=1; }
  # Tests that hold others are not counted, only those that test something themselves.
  read -r p f s < <(awk '
    /^ *--- (PASS|FAIL|SKIP): / { sub(/:$/, "", $2); result[$3] = $2; n = split($3, part, "/"); above = part[1]
      for (i = 2; i <= n; i++) { holds[above] = 1; above = above "/" part[i] } }
    END { for (t in result) if (!(t in holds)) count[result[t]]++; print count["PASS"]+0, count["FAIL"]+0, count["SKIP"]+0 }' "$work/$name.log")
  echo "$suite: $outcome in $((SECONDS - begun))s: $p passed, $f failed, $s skipped"
  [[ $outcome == passed ]] || grep -E '^ *--- FAIL: |^panic: ' "$work/$name.log" || tail -n 20 "$work/$name.log"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  rm "$work/$name.test" # a hundred megabytes
done
echo "Tests of kube-scheduler $(basename "$module" | sed 's/.*@//') with Berth's plugins: $passed passed, $failed failed, $skipped skipped, in $((SECONDS - started))s"
exit $status
