"""`judge-bot export --standings`: a row for each assistant, with the mean of every screen."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.store import Store
from bot.store.standings import Standings
from tests.cases import url
from tests.features.watch.test_week_text import LOWER, standing
from tests.gestures import export

pytestmark = pytest.mark.usefixtures("log_file")


async def test_the_newest_standing_of_each_assistant_is_written(tmp_path: Path) -> None:
    async with await Store.open(url(tmp_path)) as log:
        assert (await export(tmp_path, "--standings", "-o", "empty.csv"))[0] == 0
        await log.names.note("T1", "B2", "drafter")
        for each in (
            standing(author_id="B2"),
            replace(LOWER, follows=1),
            standing(channel_id="C9"),
        ):
            await Standings(log.database).begin(each)
    code, out, err = await export(tmp_path, "--standings")
    assert (code, err) == (0, "2 standings written\n")
    lower, private = map(json.loads, out.splitlines())
    assert (lower["name"], lower["channel"], private["channel"]) == ("drafter", None, "C9")
    assert (lower["direction"], lower["since"], lower["level"]) == ("lower", "2026-11-12", 1.6)
    code, _, _ = await export(tmp_path, "--standings", "-o", "standings.csv")
    assert code == 0
    header, *_ = (tmp_path / "standings.csv").read_text(encoding="utf-8-sig").splitlines()
    assert (tmp_path / "empty.csv").read_text(encoding="utf-8-sig").splitlines() == [header]
    with (tmp_path / "standings.csv").open(encoding="utf-8-sig") as file:
        assert [row["level"] for row in csv.DictReader(file)] == ["1.6", "3.9"]
