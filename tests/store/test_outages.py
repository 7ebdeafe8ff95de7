"""When all verdicts of a workspace count as failed, and that each recipient is told once a cause."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.store import Store
from bot.store.outages import Outage
from tests.cases import NOW, add

MINUTE = timedelta(minutes=1)
FAILED: dict[str, object] = {"score": None, "unscored_reason": "QuotaExceededError"}


UNREADABLE: dict[str, object] = {"score": None, "unscored_reason": "no_score"}
SCORED: dict[str, object] = {}
CASES: list[tuple[dict[int, dict[str, object]], bool]] = [
    ({70: FAILED, 5: FAILED}, True),
    ({70: FAILED, 30: UNREADABLE, 5: FAILED}, True),
    ({90: SCORED, 70: FAILED, 5: FAILED}, True),
    ({50: FAILED, 5: FAILED}, False),
    ({70: FAILED, 30: SCORED, 5: FAILED}, False),
    ({70: FAILED, 35: FAILED, 5: SCORED}, False),
    ({70: FAILED}, False),
]
"""What came how many minutes ago in a workspace, and whether that is an outage."""


@pytest.mark.on("sqlite", "postgres")
async def test_an_outage_is_an_hour_of_failures_without_a_score(log: Store) -> None:
    for number, (verdicts, _) in enumerate(CASES):
        for ago, verdict in verdicts.items():
            await add(log, at=NOW - ago * MINUTE, team_id=f"T{number}", **verdict)
    found = {outage.team_id: outage for outage in await log.outages.all(NOW)}
    assert set(found) == {f"T{number}" for number, (_, is_outage) in enumerate(CASES) if is_outage}
    assert {outage.since for outage in found.values()} == {NOW - 70 * MINUTE}
    assert {outage.reason for outage in found.values()} == {"QuotaExceededError"}


@pytest.mark.on("sqlite", "postgres")
async def test_each_is_told_once_and_again_of_the_next_outage(log: Store) -> None:
    outage = Outage("T1", NOW - 70 * MINUTE, "QuotaExceededError")
    outages = log.outages
    assert await outages.claim(outage, "U1", NOW)
    assert not await outages.claim(outage, "U1", NOW + MINUTE)
    assert await outages.claim(outage, "U1", NOW + 6 * MINUTE)  # who was about to tell is gone
    await outages.note_told(outage, "U1", NOW + 6 * MINUTE)
    assert not await outages.claim(outage, "U1", NOW + 60 * MINUTE)
    assert await outages.claim(outage, "U2", NOW)
    later = replace(outage, since=NOW + 100 * MINUTE)
    assert await outages.claim(later, "U1", NOW + 170 * MINUTE)
