"""Has a model rewrite a rubric until its scores are those of people: learn.jsonl to learned.txt."""

import asyncio
import json
from pathlib import Path

from gepa.optimize_anything import EngineConfig, GEPAConfig, ReflectionConfig, optimize_anything

from judge import Judge, Rubric, RubricError, Turn, load_rubric


async def score(judge, prompt, row):
    try:
        judge = judge.by(Rubric("learned", prompt))
    except RubricError as exc:
        return -5, {"problem": str(exc)}
    turns = [Turn(turn["role"], turn["content"]) for turn in row.get("conversation", [])]
    verdict = await judge.score(row["prompt"], row["completion"], conversation=turns)
    distance = 5 if verdict.score is None else abs(verdict.score - row["human"])
    return -distance, row | {"score": verdict.score, "justification": verdict.justification}


async def score_all(pairs):
    async with Judge() as judge:
        return await asyncio.gather(*(score(judge, *pair) for pair in pairs))


async def propose(prompt):
    async with Judge() as judge:
        return (await judge.write(prompt)).text


rows = Path("learn.jsonl").read_text(encoding="utf-8").strip().split("\n")
found = optimize_anything(
    load_rubric("additive-5").prompt,
    batch_evaluator=lambda pairs: asyncio.run(score_all(pairs)),
    dataset=[json.loads(row) for row in rows],
    objective="A rubric by which 'score', the judge's, is 'human', which people gave.",
    config=GEPAConfig(
        EngineConfig(max_metric_calls=400),
        ReflectionConfig(reflection_lm=lambda prompt: asyncio.run(propose(prompt))),
    ),
)
Path("learned.txt").write_text(found.best_candidate, encoding="utf-8")
