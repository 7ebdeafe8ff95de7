"""`judge-bot export --standings`: a row for each assistant, with the mean of every screen."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.store import Store
from bot.store.standings import Standings
from tests.gestures import export


@pytest.mark.needs("watch")
async def test_the_newest_standing_of_each_assistant_is_written(log: Store, tmp_path: Path) -> None:
    from tests.features.watch.test_week_text import LOWER, standing

    await log.names.note("T1", "B2", "drafter")
    for each in (standing(author_id="B2"), replace(LOWER, follows=1), standing(channel_id="C9")):
        await Standings(log.database).begin(each)
    code, out, err = await export(tmp_path, "--standings")
    assert (code, err) == (0, "2 standings written\n")
    lower, private = map(json.loads, out.splitlines())
    assert (lower["name"], lower["channel"], private["channel"]) == ("drafter", None, "C9")
    assert (lower["direction"], lower["since"], lower["level"]) == ("lower", "2026-11-12", 1.6)
    for _ in range(2):  # over its own file
        code, _, _ = await export(tmp_path, "--standings", "-o", "standings.csv")
        assert code == 0
    with (tmp_path / "standings.csv").open(encoding="utf-8-sig") as file:
        assert [row["level"] for row in csv.DictReader(file)] == ["1.6", "3.9"]
