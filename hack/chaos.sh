#!/usr/bin/env bash
# Disturbs Berth's programs, as processes beside a real control plane, and judges every revision (docs/reference/reliability.md).
# The programs must be in bin/.
#
# Usage: hack/chaos.sh [FLAG...]
#   -seed N, -duration 15m, -pods 2000   and what -h shows
# Ends with 1 if nothing could be judged, such as on a machine that is too slow, and with 2 if a promise was broken: then the last
# lines say which, and what happened before to the pods that it is about. make shows these codes in its message and ends with 2 itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go build -o bin/chaos ./test/chaos
exec bin/chaos "$@"
