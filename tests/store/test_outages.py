"""When all verdicts of a workspace count as failed."""

from datetime import timedelta

import pytest

from bot.store import Store
from bot.store.outages import read_outages
from tests.cases import NOW, add

MINUTE = timedelta(minutes=1)
FAILED: dict[str, object] = {"score": None, "unscored_reason": "QuotaExceededError"}


UNREADABLE: dict[str, object] = {"score": None, "unscored_reason": "no_score"}
SCORED: dict[str, object] = {}
CASES: list[tuple[dict[int, dict[str, object]], bool]] = [
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
    found = {outage.team_id: outage for outage in await read_outages(log.database, NOW)}
    assert set(found) == {f"T{number}" for number, (_, is_outage) in enumerate(CASES) if is_outage}
    assert {outage.since for outage in found.values()} == {NOW - 70 * MINUTE}
    assert {outage.reason for outage in found.values()} == {"QuotaExceededError"}


@pytest.mark.on("sqlite", "postgres")
async def test_an_outage_keeps_its_name_for_days_and_each_cause_has_one(log: Store) -> None:
    names = list[str]()
    for hours, reason in (
        (-1, "call_failed"),
        (0, "call_failed"),
        (40, "call_failed"),
        (41, "fault"),
    ):
        now = NOW + timedelta(hours=hours)
        await add(log, at=now, score=None, unscored_reason=reason)
        names += [outage.name for outage in await read_outages(log.database, now)]
    assert [names[0] == name for name in names] == [True, True, False]
