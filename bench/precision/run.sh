#!/usr/bin/env bash
# bf16 against float32 on Fashion-MNIST, for a processor with AVX512_BF16:
#   bash bench/precision/run.sh OUT
# 1. The models of 100 clients (Dirichlet 0.1, network cnn, one epoch from the initial model), each
#    scored in both precisions: Spearman's correlation of the scores.
# 2. 20 rounds of 10 of 100 clients, 5 epochs, method fedvg, in each precision, seeds 1 and 2: the
#    mean accuracy of rounds 11 to 20.
# A run that is finished is not run again. BIN: the programs' folder; ROUNDS, SETTINGS (KEY=VALUE ...)
# for a trial.
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
bin=${BIN:-$root/build/release/bin}
out=${1:?the folder for the results}
rounds=${ROUNDS:-20}
read -ra settings <<<"${SETTINGS:-}"
mkdir -p "$out"
printf '[method]\nname = "fedvg"\n' >"$out/fmnist.toml"

if [[ ! -f $out/scores.txt ]]; then
  "$bin/fedvg-precision" "$out/fmnist.toml" train.epochs=1 engine.workers=1 "${settings[@]}" \
    >"$out/scores.csv" 2>"$out/scores.part"
  mv "$out/scores.part" "$out/scores.txt"
fi
cat "$out/scores.txt"

for seed in 1 2; do
  for precision in float32 bf16; do
    run=$out/$precision-s$seed
    [[ ! -f $run/model.safetensors ]] || continue
    rm -rf "$run"
    arguments=()
    for setting in "seed=$seed" "engine.precision=$precision" "train.rounds=$rounds" \
      "${settings[@]}"; do
      arguments+=(--set "$setting")
    done
    nice "$bin/fedvg" run "$out/fmnist.toml" --out "$run" "${arguments[@]}" >"$run.log" 2>&1 ||
      { echo "$run failed, see $run.log" >&2; exit 1; }
  done
done

echo "| precision | seed | accuracy, last half of the rounds | training, s a round | scoring, s a round |"
echo "|---|---:|---:|---:|---:|"
for precision in float32 bf16; do
  for seed in 1 2; do
    awk -F, -v name="| $precision | $seed |" -v rounds="$rounds" '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      { train += $column["seconds_train"]; score += $column["seconds_score"]; ++all }
      $1 > rounds / 2 { accuracy += $column["test_accuracy"]; ++last }
      END { printf "%s %.4f | %.2f | %.2f |\n", name, accuracy / last, train / all, score / all }' \
      "$out/$precision-s$seed/rounds.csv"
  done
done
