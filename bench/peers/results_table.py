"""Results, one JSON object each, as Markdown tables."""

import statistics

REFERENCE = "fedvg"


def steady_seconds(round_seconds):
    """The mean over the rounds after the first, which warms up; None where there is no other."""
    later = round_seconds[1:]
    return sum(later) / len(later) if later else None


def merged(results):
    """One result for each system, method and number of workers of the same job, in the order in
    which they first came: the median of the seconds, the last accuracy, the highest peak of the
    repetitions. A failed run counts only where no other succeeded."""
    groups = {}
    for result in results:
        key = tuple(result.get(name) for name in
                    ("case", "rounds", "epochs", "method", "system", "workers", "malloc"))
        groups.setdefault(key, []).append(result)
    return [_merge(group) for group in groups.values()]


def _merge(group):
    succeeded = [result for result in group if "failed" not in result]
    if not succeeded:
        return group[-1]
    last = dict(succeeded[-1], runs=len(succeeded),
                peak_mb=max(result["peak_mb"] for result in succeeded))
    if "round_seconds" in last:
        last["seconds"] = statistics.median(
            steady_seconds(result["round_seconds"]) for result in succeeded)
    return last


def with_ratios(results):
    """Merged results with "ratio": seconds over those of fedvg at the same job, method and number
    of workers; absent where fedvg was not run."""
    def job_of(result):
        return tuple(result[name] for name in ("case", "rounds", "epochs", "method", "workers"))

    reference = {job_of(result): result["seconds"] for result in results
                 if result["system"] == REFERENCE and "seconds" in result}
    return [dict(result, ratio=result["seconds"] / reference[job_of(result)])
            if "seconds" in result and job_of(result) in reference else result
            for result in results]


def markdown(results):
    """A table for each case, number of rounds and epochs, and method, and one of rates."""
    sections = {}
    for result in with_ratios(merged(results)):
        sections.setdefault(_title(result), []).append(result)
    return "\n\n".join(f"**{title}**\n\n{_table(rows)}" for title, rows in sections.items())


def _title(result):
    if result["case"] == "resnet18":
        return "ResNet-18, 32x32, images per second"
    return (f"{result['case']}, {result['method']}, rounds 2 to {result['rounds']}, "
            f"epochs: {result['epochs']}")


def _table(results):
    rates = results[0]["case"] == "resnet18"
    measured = ["train", "score"] if rates else ["seconds a round", "ratio to fedvg"]
    heads = ["system", "workers", "torch", "malloc", *measured, "peak MB"]
    heads += [] if rates else ["accuracy"]
    heads += ["other load"]
    lines = [heads, ["---", "---:", "---", "---"] + ["---:"] * (len(heads) - 4)]
    lines += [_cells(result, rates, len(heads)) for result in results]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cells(result, rates, count):
    cells = [result["system"], str(result["workers"]), result.get("torch", "-"), result["malloc"]]
    if "failed" in result:
        return cells + ["failed"] + ["-"] * (count - len(cells) - 1)
    if rates:
        cells += [f"{result['images_per_second'][phase]:.0f}" for phase in ("train", "score")]
    else:
        cells += [f"{result['seconds']:.3f}",
                  f"{result['ratio']:.2f}" if "ratio" in result else "-"]
    cells.append(f"{result['peak_mb']:.0f}")
    if not rates:
        cells.append(f"{result['accuracy']:.4f}")
    return cells + [f"{result['other_cpu_seconds'] / result['wall_seconds']:.0%}"]
