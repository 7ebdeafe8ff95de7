"""Whether a server says when it shuts a model down."""

from datetime import date
from typing import Any

from judge import Judge
from judge.scoring.model.retirement import Retirement
from tests.judge_client import Ask
from tests.tables import each

ON = date(2027, 1, 15)


@each(
    ("fields", "found"),
    [
        ({"shutdown_date": "2027-01-15T00:00:00Z"}, [Retirement("a/m", ON)]),
        ({"shutdown_date": "2027-01-15", "replacement": "n"}, [Retirement("a/m", ON, "n")]),
        ({"shutdown_date": 1}, []),
        (None, []),
    ],
)
async def test_the_day_and_the_replacement_are_read_if_the_server_names_them(
    ask: Ask, fields: Any, found: list[Retirement]
) -> None:
    ask.server.models = {} if fields is None else {"a/m": fields}
    assert await ask.judge(model="a/m").retirements() == found


async def test_the_offline_rater_is_asked_nothing() -> None:
    assert await Judge("offline").retirements() == []
