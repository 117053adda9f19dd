#!/usr/bin/env bash
# Checks everything about the repository that is no test. Every check runs, whatever the others say; the script fails if one
# of them does, and names it. It changes nothing in the working tree.
#
# Usage: hack/verify.sh [CHECK...]     the checks are the functions check_CHECK below; without arguments all of them run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=$root/bin/tools

# longest_file is how many lines a file of ours may have, and longest_test a file of tests. Most have about 130.
longest_file=350
longest_test=600

# widest_comment is how many characters a line of Go that is a comment may have.
widest_comment=100

# our_files GLOB... prints the files of the working tree that git does not ignore.
our_files() {
  local file
  git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while read -r file; do
    [[ ! -f $file ]] || echo "$file"
  done
}

# written_by_hand prints the Go files and scripts among our_files that no generator wrote.
written_by_hand() {
  our_files '*.go' '*.sh' '.ci/run' Makefile | xargs grep -LE '^// Code generated .* DO NOT EDIT\.$'
}

build_tool() {
  (cd hack/tools/lint && go build -o "$tools/" "$1")
}

# Generated code is what hack/generate.sh writes from the types of this very tree.
check_generated() {
  local path
  mkdir -p "$scratch/hack" "$scratch/manifests" "$scratch/pkg"
  cp go.mod go.sum "$scratch/"
  cp hack/boilerplate.*.txt "$scratch/hack/"
  cp -R apis "$scratch/apis"
  cp -R manifests/{base,charts,components,crds,monitoring} "$scratch/manifests/"
  mkdir -p "$scratch/docs/reference"
  cp -R pkg/generated "$scratch/pkg/generated"
  hack/generate.sh "$scratch" >"$scratch/generate.log" 2>&1 || { cat "$scratch/generate.log"; return 1; }
  for path in apis manifests/charts manifests/crds pkg/generated docs/reference/chart.md; do
    diff -ru "$path" "$scratch/$path" || { echo "run \`make generate\` and commit what it writes"; return 1; }
  done
}

# Each go.mod and go.sum is what `go mod tidy` makes of it, and the programs of others that the tests run are made of the same client-go
# as Berth, in all that goes into it: so it is compiled once.
check_modules() {
  local module shared status=0
  for module in . hack/tools hack/tools/helm hack/tools/images hack/tools/kubectl hack/tools/kwok hack/tools/lint; do
    (cd "$module" && go mod tidy -diff) || { echo "run \`go mod tidy\` in $module"; status=1; }
  done
  mapfile -t shared < <(go list -deps -f '{{with .Module}}{{.Path}}{{end}}' k8s.io/client-go/kubernetes | sort -u)
  for module in hack/tools hack/tools/helm hack/tools/kubectl hack/tools/kwok; do
    join <(versions_of . "${shared[@]}") <(versions_of "$module" "${shared[@]}") | awk -v module="$module" '
      $2 != $3 { print "in " module " run: go mod edit -replace " $1 "=" $1 "@" $2; differ = 1 }
      END { exit differ }' || status=1
  done
  return $status
}

# versions_of DIR MODULE... prints each module that the one in DIR is made of, and in which version.
versions_of() {
  (cd "$1" && go list -m -e -f '{{with or .Replace .}}{{if .Version}}{{$.Path}} {{.Version}}{{end}}{{end}}' "${@:2}" | sort)
}

# The code compiles with the other minors of Kubernetes too, and what is written down of these follows from go.mod.
# Where their modules cannot be had that says nothing about the code; STRICT=1 fails then.
check_minors() {
  local log=$scratch/minors.log
  if ! { hack/kubernetes-minor.sh --check && go run ./hack/typecheck minors; } >"$log" 2>&1; then
    grep -v '^go: downloading' "$log" || true
    [[ -z ${STRICT:-} ]] && grep -qE 'dial tcp|i/o timeout|lookup disabled|cannot be had|server response' "$log" || return 1
    echo "skipped: modules of another minor cannot be had"
  fi
}

# berthctl, which links the simulator, is for all platforms of a release.
check_platforms() {
  # shellcheck disable=SC2046 # a word is a platform
  go run ./hack/typecheck platforms $(sed -n 's/.*{PLATFORMS:-\([^}]*\)}.*/\1/p' hack/release.sh)
}

check_format() {
  local files
  files=$(our_files '*.go' | xargs gofmt -l)
  [[ -z $files ]] || { printf 'run `gofmt -w` on:\n%s\n' "$files"; return 1; }
}

# The linter remembers findings by what a package contains, with the path of the tree that it saw them in. A cache shared with another
# tree of the same contents would tell findings of that tree, which the exclusions by path do not know: each tree has a cache of its own.
check_lint() {
  build_tool github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  GOLANGCI_LINT_CACHE=$root/bin/.lint "$tools/golangci-lint" run ./...
}

# The database of vulnerabilities lies on the network, and grows while the tree stays the same. So a finding is shown and does
# not fail this check unless STRICT is set, as `make vulncheck` does. Not reaching the database is said, not hidden.
check_vulnerabilities() {
  local status=0
  build_tool golang.org/x/vuln/cmd/govulncheck
  "$tools/govulncheck" ./cmd/... >"$scratch/vulnerabilities" 2>&1 || status=$? # 3: it found something
  case $status in
    0) echo "no known vulnerability in code that is called" ;;
    3)
      cat "$scratch/vulnerabilities"
      [[ -z ${STRICT:-} ]] || return 1
      echo "REPORTED ONLY: see above; \`make vulncheck\` fails on these"
      ;;
    *)
      grep -q 'fetching vulnerabilities' "$scratch/vulnerabilities" || { cat "$scratch/vulnerabilities"; return 1; }
      [[ -z ${STRICT:-} ]] || { cat "$scratch/vulnerabilities"; return 1; }
      echo "SKIPPED: the vulnerability database cannot be reached: $(grep -m1 'fetching vulnerabilities' "$scratch/vulnerabilities")"
      ;;
  esac
}

check_licences() {
  go run ./hack/licences
}

check_manifests() {
  go run ./hack/manifests manifests examples
}

# Links from one file of the documentation to another lead somewhere.
check_links() {
  local file link status=0
  while IFS=: read -r file link; do
    link=${link#"]("}
    [[ -e ${file%/*}/${link%%[#)]*} ]] || { echo "${file#./} links to ${link%)}, which does not exist"; status=1; }
  done < <(our_files '*.md' | sed 's|^|./|' | xargs grep -HoE '\]\([^)#: ]+(#[^) ]*)?\)')
  return $status
}

check_size() {
  local status=0
  # xargs may count in several batches, each with a total.
  written_by_hand | xargs wc -l | awk -v longest="$longest_file" -v longest_test="$longest_test" '
    { most = $2 ~ /_test\.go$/ ? longest_test : longest }
    $2 != "total" && $1 > most { print $2 " has " $1 " lines; split it (" most " at most)"; bad = 1 }
    END { exit bad }
  ' || status=1
  if written_by_hand | grep '\.go$' | LC_ALL=C.UTF-8 xargs grep -HnE "^.{$((widest_comment + 1))}" | grep -E ':[0-9]+:\s*// [^+]'; then
    echo "wrap these comments at $widest_comment characters"
    status=1
  fi
  return $status
}

# What is exported is used by another package.
check_exports() {
  go run ./hack/exports
}

check_scripts() {
  local file status=0
  while read -r file; do
    bash -n "$file" || status=1
  done < <(our_files '*.sh' .ci/run)
  return $status
}

# A decision of the scheduler allocates what test/perf/allocations.json says. Times depend on the machine; this does not.
check_allocations() {
  go run ./test/perf -allocations
}

# A call of a plugin executes as many of Berth's statements as test/perf/statements.json says.
check_statements() {
  go run ./test/perf -statements
}

# A bound pod costs the requests that the suite lists: a binding and an event, with Berth as with the stock scheduler. It counts them
# in the audit log of an API server, whose programs `make verify` has built.
check_writes() {
  hack/build.sh all
  BERTH_BIN=$root/bin go test -vet=off ./test/integration/writes
}

# The quick ones come first.
all=(scripts format size links modules minors platforms manifests licences exports generated allocations statements writes lint vulnerabilities)

# run_check NAME runs a check in a shell of its own, where an error ends it and nothing else.
run_check() {
  local output=$scratch/output started=$SECONDS
  echo "verify: $1"
  (
    set -e
    "check_$1"
  ) >"$output" 2>&1 &
  # `wait` keeps `set -e` alive in the check; in the condition of an `if` it would be off.
  local status=0
  wait $! || status=$?
  sed 's/^/  /' "$output"
  ((status == 0)) && echo "  passed after $((SECONDS - started))s" || { echo "  FAILED after $((SECONDS - started))s"; failed+=("$1"); }
}

checks=("${@:-${all[@]}}")
failed=()
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for check in "${checks[@]}"; do
  [[ $(type -t "check_$check") == function ]] || { echo "no check is called $check; there are: ${all[*]}" >&2; exit 2; }
  run_check "$check"
done
if ((${#failed[@]} > 0)); then
  echo "verify: ${#failed[@]} of ${#checks[@]} checks failed: ${failed[*]}"
  exit 1
fi
echo "verify: all ${#checks[@]} checks passed"
