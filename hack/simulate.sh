#!/usr/bin/env bash
# Runs simulated worlds full of faults, one for each seed (docs/reference/reliability.md).
#
# Usage: hack/simulate.sh [SEED [DURATION]], or hack/simulate.sh kills [SEED]
#   kills     nothing else goes wrong in the world, but a process is killed before and after each write, one world for each kill
#   SEED      the first seed, 1 unless given; the same seed is the same world
#   DURATION  how long to go on with the next seeds, such as 60s or 1h; without it there is one world
# Ends with 1 if it cannot understand what it was given, and with 2 if a promise was broken: then the last lines say which, what
# happened before, and how to repeat it. make shows these codes in its message and ends with 2 itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$PWD/bin/simulation.test
mkdir -p bin
go test -c -ldflags=-s -o "$program" ./test/simulation
cd test/simulation
if [[ ${1:-} == kills ]]; then
  exec "$program" -kills -seed "${2:-1}"
fi
exec "$program" -seed "${1:-1}" -duration "${2:-}"
