#!/usr/bin/env bash
# Runs simulated worlds full of faults, one for each seed (docs/reference/reliability.md).
#
# Usage: hack/simulate.sh [--record] [SEED [DURATION]]
#        hack/simulate.sh times N [SEED]
#        hack/simulate.sh [--record] kills [SEED]
#        hack/simulate.sh [--record] objects [SEED [DURATION]]
#        hack/simulate.sh [objects] scenario FILE
#   --record  adds what was done to docs/reference/reliability.json, and to the page made of it
#   kills     nothing else goes wrong in the world, but a process is killed before and after each write, one world for each kill
#   times     one world N times, to see whether its history is the same
#   objects   random objects of all of Berth's kinds are made, changed and deleted, and nothing goes wrong otherwise
#   scenario  the world of a file, such as a run names whose promise was broken: a seed, and what to leave out of its world
#   SEED      the first seed, 1 unless given; the same seed is the same world
#   ORDER     an environment variable, a number: the same scenario in another order of what Go leaves open
#   DURATION  how long to go on with the next seeds, such as 60s or 1h; without it there is one world
# Ends with 1 if it cannot understand what it was given, and with 2 if a promise was broken: then the last lines say which, what
# happened before, and how to repeat it. make shows these codes in its message and ends with 2 itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$PWD/bin/simulation.test
flags=()
if [[ ${1:-} == --record ]]; then
  flags+=(-record "$PWD/docs/reference")
  shift
fi
if [[ ${1:-} == objects ]]; then
  flags+=(-fuzz)
  shift
fi
if [[ ${1:-} == scenario ]]; then
  flags+=(-scenario "$(realpath -m "${2:-}")")
elif [[ ${1:-} == times ]]; then
  flags+=(-times "${2:-}" -seed "${3:-1}")
elif [[ ${1:-} == kills ]]; then
  flags+=(-kills -seed "${2:-1}")
else
  flags+=(-seed "${1:-1}" -duration "${2:-}")
fi
[[ -z ${ORDER:-} ]] || flags+=(-order "$ORDER")
mkdir -p bin
go run ./test/simulation/repeatable -o "$program"
cd test/simulation
exec "$program" "${flags[@]}"
