#!/usr/bin/env bash
# The validation budget on real data, one run after another, and a table of what is there:
#   bash bench/budget/run.sh OUT [EVERY [CIFAR-10 folder]]
# 100 clients, Dirichlet 0.1, 10 participants, network cnn, 5 epochs in batches of 32, 20 rounds,
# seeds 1 and 2, budgets 0, 0.05, 0.1 and 0.2: Fashion-MNIST with a D_val of 6,000 images, CIFAR-10
# (where a folder is given) with 2,000. Weights are compared with full scoring in every EVERY-th (5)
# round. A run that is finished is not run again; the table can be asked for at any time with
# EVERY = table.
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
program=${FEDVG_BUDGET:-$root/build/release/bin/fedvg-budget}
out=${1:?the folder for the results}
every=${2:-5}
cifar=${3:-}
budgets="0 0.05 0.1 0.2"
mkdir -p "$out"
printf '[method]\nname = "fedvg"\n' >"$out/fmnist.toml"
[[ -z $cifar ]] || printf '[data]\nname = "cifar10"\npath = "%s"\n[validation]\nsize = 2000\n[method]\nname = "fedvg"\n' \
  "$cifar" >"$out/cifar10.toml"

run_once() {
  local set=$1 seed=$2 budget=$3 result=$out/$1-s$2-b$3
  [[ ! -f $result.csv && -f $out/$set.toml ]] || return 0
  local compared=$every
  [[ $budget != 0 ]] || compared=0
  nice "$program" "$out/$set.toml" "$compared" "seed=$seed" "scoring.budget=$budget" \
    train.rounds=20 engine.workers=1 >"$result.part" 2>"$result.log" ||
    { echo "$result failed, see $result.log" >&2; return 0; }
  mv "$result.part" "$result.csv"
}
if [[ $every != table ]]; then
  for seed in 1 2; do
    for set in fmnist cifar10; do
      for budget in $budgets; do run_once "$set" "$seed" "$budget"; done
    done
  done
fi

echo "| set | seed | budget | share scored, rounds 2-20 | scoring, s a round | mean error of weights | largest | accuracy, rounds 11-20 |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
for set in fmnist cifar10; do
  for seed in 1 2; do
    for budget in $budgets; do
      result=$out/$set-s$seed-b$budget.csv
      [[ -f $result ]] || continue
      awk -F, -v name="| $set | $seed | $budget |" '
        NR > 2 { share += $2 / $3; seconds += $4; ++rounds }
        NR > 2 && $6 != "" { mean += $6; if ($7 > max) max = $7; ++compared }
        $1 > 10 && NR > 1 { accuracy += $5; ++last }
        END { errors = compared ? sprintf("%.4f | %.4f", mean / compared, max) : " | "
              printf "%s %.3f | %.2f | %s | %.4f |\n", name, share / rounds, seconds / rounds, errors,
                     last ? accuracy / last : 0 }' "$result"
    done
  done
done
