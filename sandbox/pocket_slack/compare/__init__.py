"""`pocket-slack compare`: makes an app's calls in a real Slack and in the stand-in, and says what
differs.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from pocket_slack.compare.calls import CallList
from pocket_slack.compare.fields import differences
from pocket_slack.compare.run import Answer, Run
from pocket_slack.control import VERBS
from pocket_slack.limits import Limits
from pocket_slack.people import Person
from pocket_slack.server import Sandbox
from pocket_slack.workspace import Workspace

EQUAL = "equal"
DIFFERENT = "different"
NOT_DONE = "not done"
_PATIENCE_S = 300.0


@dataclass(frozen=True)
class Slack:
    """A real Slack, or what stands for it in a test."""

    api_url: str
    bot_token: str
    app_token: str
    channel: str


@dataclass(frozen=True)
class Step:
    """How a step went in the real Slack, beside the stand-in; `error` is what both refuse it with."""

    name: str
    outcome: str
    took_ms: int = 0
    error: str = ""
    differences: tuple[str, ...] = ()


async def compare(
    slack: Slack,
    manifest: Mapping[str, Any],
    calls: CallList,
    patience_s: float = _PATIENCE_S,
    pause_s: float = 4.0,
) -> list[Step]:
    """All steps of the list, made in both.

    Raises:
        SandboxError: It cannot go on. What was posted is deleted before.
    """
    expected = await _in_the_stand_in(manifest, calls)
    async with aiohttp.ClientSession(slack.api_url) as session:
        run = Run(session, slack.bot_token, slack.app_token, slack.channel)
        await run.begin()
        try:
            async with run.connected(calls.people):
                for call in calls.calls:
                    await run.take(call)
                if calls.people:
                    sys.stderr.write(_asked(calls, patience_s))
                await run.acted(patience_s)
        finally:
            sys.stderr.write("Deleting what was posted ...\n")
            await run.delete(pause_s)
    return [_step(name, run.answers.get(name), expected[name]) for name in calls.names]


def _asked(calls: CallList, patience_s: float) -> str:
    minutes = round(patience_s / 60)
    asked = "\n".join(f"  {act.name}: {act.ask}" for act in calls.people)
    return f"Please do this within {minutes} minutes, in this order:\n{asked}\n"


async def _in_the_stand_in(manifest: Mapping[str, Any], calls: CallList) -> dict[str, Answer]:
    workspace = Workspace(manifest, limits=Limits.off())
    workspace.add_channel("compared", [workspace.add_user("person"), workspace.bot])
    person = Person(workspace, "person")

    def perform(act: dict[str, Any]) -> None:
        VERBS[act.pop("verb")](person, act)

    async with (
        Sandbox(workspace) as stand_in,
        aiohttp.ClientSession(stand_in.api_url) as session,
    ):
        run = Run(session, stand_in.bot_token, stand_in.app_token, "compared")
        await run.begin()
        async with run.connected(calls.people):
            for call in calls.calls:
                await run.take(call)
            for act in calls.people:
                await run.act(act, perform)
    return run.answers


def _step(name: str, answer: Answer | None, expected: Answer) -> Step:
    if answer is None:
        return Step(name, NOT_DONE)
    if answer.error == expected.error:
        found = tuple(differences(answer.fields, expected.fields))
        outcome = DIFFERENT if found else EQUAL
        return Step(name, outcome, answer.took_ms, answer.error, found)
    error = answer.error or "possible"
    expected_error = expected.error or "an answer"
    difference = f"{error}, expected {expected_error}"
    return Step(name, DIFFERENT, answer.took_ms, differences=(difference,))


def to_lines(steps: list[Step]) -> Iterator[str]:
    """The report, what is different first."""
    for step in sorted(steps, key=lambda step: step.outcome):
        took = f", {step.took_ms} ms" if step.took_ms else ""
        error = f", {step.error}" if step.error else ""
        yield f"{step.outcome:<10} {step.name}{took}{error}"
        for difference in step.differences:
            yield f"{'':<12}{difference}"
    outcomes = [step.outcome for step in steps]
    yield (
        f"{outcomes.count(EQUAL)} of {len(steps)} steps are as in pocket-slack, "
        f"{outcomes.count(DIFFERENT)} different, {outcomes.count(NOT_DONE)} not done."
    )
