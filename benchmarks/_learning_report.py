"""docs/learning.md of a raw result of `benchmarks.learning`: every number comes from that result, as it came out."""

from __future__ import annotations

import textwrap
from typing import Any

from training_app.evaluation import NO_OP, REFERENCE


def as_figures(raw: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """In the shape of `python -m benchmarks`."""
    rates = {(row["policy"], row["tier"]): row for row in raw["evaluation"]["rows"]}
    made: dict[str, dict[str, Any]] = {}
    for policy in ("base", "sft", "sft longer", "rl", REFERENCE, NO_OP):
        for tier in ("primer", "task"):
            row = rates.get((policy, tier))
            if row is None:
                continue
            start = rates.get(("base", tier))
            made[f"{policy.replace(' ', '_')}_{tier}_rate"] = {
                "value": row["rate"],
                "unit": f"share of {row['n']} (95% {row['low']:.3f} to {row['high']:.3f})",
                "aim": None,
                "baseline": start["rate"] if start else None,
                "baseline_what": "the untrained base",
                "ratio": None,
            }
    made["void"] = {
        "value": raw["evaluation"]["void"],
        "unit": "; ".join(raw["evaluation"]["why"]),
        "aim": False,
        "baseline": None,
        "baseline_what": "",
        "ratio": None,
    }
    return made


def report(raw: dict[str, Any]) -> str:
    """docs/learning.md of a result."""
    evaluation, sizes = raw["evaluation"], raw["sizes"]
    names = {
        "base": "base (untrained)",
        "sft": "SFT",
        "sft longer": "SFT, continued",
        "rl": "SFT, then RL",
        REFERENCE: "*reference* (control)",
        NO_OP: "*no-op* (control)",
    }
    rows = [
        f"| {names[row['policy']]} | {row['tier']} | {row['passed']} of {row['n']} | "
        + (f"{row['rate']:.1%} | {row['low']:.1%} – {row['high']:.1%}" if row["rate"] is not None else "– | –")
        + f" | {row['infrastructure']} |"
        for row in evaluation["rows"]
    ]
    pairs = [
        f"| {names[pair['first']]} → {names[pair['second']]} | {pair['tier']} | {pair['only_first']} | "
        f"{pair['only_second']} | {pair['p']:.4f} |"
        for pair in evaluation["paired"]
    ]
    kinds = [
        f"| {kind} | " + " | ".join(share(counts.get(policy)) for policy in ("base", "sft", "sft longer", "rl")) + " |"
        for kind, counts in sorted(evaluation["kinds"].items())
    ]
    curve_rows = [
        f"| {point['step']} | {point['rollout_reward']} | {point['groups_with_signal']} | {point['infrastructure']} |"
        for point in raw["rl"]["curve"][:: max(1, len(raw["rl"]["curve"]) // 10)]
    ]
    valid = "It counts: every reference passed and no no-op did where there was something to do."
    if evaluation["void"]:
        valid = f"**Void**: {'; '.join(evaluation['why'])}."
    seconds = ", ".join(f"{name} {value:.0f} s" for name, value in raw["seconds"].items())
    page = f"""# What training brings, as it came out

Made by `python -m benchmarks.learning --report RESULT.json`; the rates below are as they came out.

**The model** is a {raw["parameters"] / 1e6:.1f}M-parameter Qwen3 initialised here, with one pair of attention heads set
to copy (`training_app/model.py`) and a tokenizer trained on the train split's own text, whose tokens may be whole lines
of code. **Demonstrations**: reference episodes of {raw["train_primers"]} train-split primers
({raw["train_primers"] - raw["further_primers"]} that ship, {raw["further_primers"]} further ones made for this) in real
kernels; {raw["demonstrations"].get("passed", 0)} passed and were taken. **SFT** on {raw["sft"]["examples"]} of them,
the rest being the validation part: {sizes["epochs"]} epochs, {raw["sft"]["steps"]} steps of {sizes["batch"]},
{raw["sft"]["tokens"]:,} tokens, loss {raw["sft"]["loss_first"]:.2f} → {raw["sft"]["loss_last"]:.3f}. **RL** is GRPO
from there: {sizes["rl_steps"]} steps of {sizes["tasks_per_step"]} groups of {sizes["group"]} real episodes. **SFT,
continued** trains on as many further tokens as RL's rollouts had, so that RL is not credited with time alone.

**What is held out, and what is not.** Held out are lineages: a plan with all its names and values. No task, scale or
seed of a held-out lineage was demonstrated, rolled out in RL or read by the tokenizer. Shared by design are the plan
trees (the *kinds* of request; a primer's motif has train and test instances), the pools that names come from, and the
phrasings. So the primer rows say whether the model does a known kind of request on names, values and data in a
combination it has not met; they say nothing of new kinds of request. Full tasks were not demonstrated at all (the
tokenizer has read those of the train split): their rows show what carries over from primers.

**Evaluation**: {evaluation["distinct"]} distinct tasks and seeds at v0: primers ({evaluation["held_out_primers"]} held
out, {evaluation["held_out_made"]} of them made for this through every gate; what goes beyond them are second seeds,
with the same request over other data, so those attempts hang together and the true intervals are somewhat wider), full
tasks beside them; greedy decoding, each attempt a real episode. {valid}

| policy | tier | passed | rate | 95 % interval | infrastructure |
|---|---|---|---|---|---|
{chr(10).join(rows)}

On the same attempts (McNemar's exact test):

| from → to | tier | only the first passed | only the second passed | p |
|---|---|---|---|---|
{chr(10).join(pairs)}

Primers by kind of request (motif), passed of tried:

| kind | base | SFT | SFT, continued | SFT, then RL |
|---|---|---|---|---|
{chr(10).join(kinds)}

RL's own curve (mean reward of a step's rollouts, groups whose rewards differ, infrastructure left out of the batch):

| step | reward | groups that teach | infrastructure |
|---|---|---|---|
{chr(10).join(curve_rows)}

One seed of everything; the intervals cover the choice of tasks, not that of the run. Time: {seconds}.
{"".join(f"{chr(10)}{note}{chr(10)}" for note in raw.get("notes", ()))}"""
    return "\n\n".join(wrapped(part) for part in page.rstrip().split("\n\n")) + "\n"


def wrapped(paragraph: str) -> str:
    """Prose at the width of the other pages; headings and tables as they are."""
    return paragraph if paragraph.startswith(("#", "|")) else textwrap.fill(" ".join(paragraph.split()), 118)


def share(count: list[int] | None) -> str:
    return f"{count[0]} of {count[1]}" if count else "–"
