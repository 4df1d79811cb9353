"""The program fedvg on the job of the other systems."""

import csv
import json
import pathlib

from job import JobError


def configuration(job, budget=0.0):
    """The text of a configuration that does the job; `budget` is scoring.budget."""
    partition, cohorts = (json.dumps(str(pathlib.Path(path).resolve()))
                          for path in (job.partition, job.cohorts))
    lines = [
        f"seed = {job.seed}",
        "[data]", 'name = "fashion-mnist"', f"path = {json.dumps(str(job.data))}",
        "[partition]", 'scheme = "file"', f"file = {partition}",
        "[model]", 'name = "cnn"',
        "[train]", f"rounds = {job.rounds}", f"cohorts = {cohorts}", f"epochs = {job.epochs}",
        f"batch_size = {job.batch_size}",
        f'optimizer = {{name = "sgd", lr = {job.learning_rate}}}',
        "[method]", f'name = "{job.method}"']
    if not job.validation():
        lines += ["[validation]", 'source = "none"']
    if budget:
        lines += ["[scoring]", f"budget = {budget}"]
    return "\n".join(lines) + "\n"


def result(folder):
    """What a driver reports, from the run folder: seconds without evaluation, last accuracy."""
    path = pathlib.Path(folder, "rounds.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise JobError(f"{path} has no rounds")

    def seconds(name):
        return [round(float(row[name] or 0), 4) for row in rows]

    environment = json.loads(pathlib.Path(folder, "environment.json").read_text())
    return {"torch": environment["libtorch"],
            "fedvg": environment["fedvg"],
            "round_seconds": [round(all_of - evaluation, 4) for all_of, evaluation in
                              zip(seconds("seconds"), seconds("seconds_evaluate"))],
            "accuracy": round(float(rows[-1]["test_accuracy"]), 4),
            "train_seconds": seconds("seconds_train"), "score_seconds": seconds("seconds_score")}


def rates(text):
    """Images per second of all cores together, from `fedvg bench --json`; the peak is the one
    before its stock loop was there."""
    measured = json.loads(text)
    return {"torch": measured["libtorch"], "peak_mb": measured["peak_mb"], "images_per_second": {
        phase: round(measured["images_per_second_core"][phase] * measured["workers"], 1)
        for phase in ("train", "score")}}
