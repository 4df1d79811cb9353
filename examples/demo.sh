#!/usr/bin/env bash
# FedAvg against FedVG on Fashion-MNIST: 100 clients, Dirichlet 0.1, two seeds; ends with a
# table. `./dev demo` builds first. The runs lie in build/demo and replace those of the last
# call.
#
# For the tests: FEDVG_PROGRAM is another program, FEDVG_DEMO_FOLDER another folder for the
# runs, FEDVG_DEMO_SET further settings, separated by spaces.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
program=${FEDVG_PROGRAM:-$root/build/release/bin/fedvg}
folder=${FEDVG_DEMO_FOLDER:-build/demo}
[[ -n ${FEDVG_DEMO_FOLDER-} ]] || cd "$root"
[[ -x $program ]] || { echo "demo: no program $program; ./dev demo builds it" >&2; exit 4; }

settings=()
for setting in ${FEDVG_DEMO_SET-}; do settings+=(--set "$setting"); done

runs=()
for seed in 1 2; do
  for method in fedavg fedvg; do
    run=$folder/$method-s$seed
    rm -rf "$run"
    printf '\n--- %s, seed %s\n' "$method" "$seed"
    "$program" run "$root/examples/demo.toml" --out "$run" --set "method.name=$method" \
      --set "seed=$seed" "${settings[@]}"
    runs+=("$run")
  done
done

printf '\n--- %s against %s, mean ± standard deviation over seeds\n' FedAvg FedVG
"$program" compare "${runs[@]}"
