#!/usr/bin/env bash
# Every method on the Fashion-MNIST workload, one after another, and the table of docs/results.md:
#   bash bench/methods/run.sh OUT [ROUNDS [CONFIG...]]
# 100 clients, Dirichlet 0.1, 10 participants, network cnn, 5 epochs in batches of 32, a D_val of
# 2,000 samples, ROUNDS (10) rounds; CONFIG: all of examples/methods/ unless given. A method whose
# run in OUT is finished is not run again, one that was stopped or killed is resumed; only finished
# ones are in the table. FedAvg runs a second time at the end: what the machine itself changed
# meanwhile.
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
program=${FEDVG_PROGRAM:-$root/build/release/bin/fedvg}
out=${1:?the folder for the runs}
rounds=${2:-10}
shift $(($# < 2 ? $# : 2))
[[ $# -gt 0 ]] || set -- "$root"/examples/methods/*.toml

mkdir -p "$out"
run_once() {
  local name=$1 configuration=$2
  "$program" run "$configuration" --set "train.rounds=$rounds" --set validation.size=2000 \
    --out "$out/$name" --resume >>"$out/$name.txt" 2>&1 ||
    echo "$name failed, see $out/$name.txt" >&2
}
run_once fedavg "$root/examples/methods/fedavg.toml"
for configuration in "$@"; do
  run_once "$(basename "$configuration" .toml)" "$configuration"
done
run_once fedavg-again "$root/examples/methods/fedavg.toml"

# median FILE COLUMN: over all rounds, by the column's name.
median() {
  awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i; next }
    { print $at }' "$1" | sort -g |
    awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
[[ -f $out/fedavg/run.json ]] || { echo "fedavg is not finished: no table" >&2; exit 1; }
reference=$(median "$out/fedavg/rounds.csv" seconds_train)
echo "| method | accuracy, last round | mean of rounds | round | train | score | train / fedavg | peak MB |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
for rounds_csv in "$out"/*/rounds.csv; do
  folder=$(dirname "$rounds_csv")
  [[ -f $folder/run.json ]] || continue  # not finished
  train=$(median "$rounds_csv" seconds_train)
  awk -F, -v name="$(basename "$folder")" -v round="$(median "$rounds_csv" seconds)" \
    -v train="$train" -v score="$(median "$rounds_csv" seconds_score)" -v reference="$reference" \
    -v peak="$(sed -n 's/.* memory *\([0-9]*\) MB at its peak.*/\1/p' "$folder/log.txt" | tail -n 1)" '
    NR > 1 { last = $2; sum += $2 }
    END { printf "| %s | %.4f | %.4f | %.2f | %.2f | %.2f | %.2f | %s |\n",
            name, last, sum / (NR - 1), round, train, score, train / reference, peak }' "$rounds_csv"
done
