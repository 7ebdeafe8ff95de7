from dataclasses import fields

import pytest

from bot.figures.week import Glance, Tally, read_glances
from bot.store import Store
from bot.store.figures import Place
from tests.cases import NOW, WEEK
from tests.store.test_figures import TEAMS, figures_of, mixed


@pytest.mark.on("sqlite")
async def test_a_glance_is_the_beginning_of_the_figures(log: Store) -> None:
    team = next(TEAMS)
    figures = await figures_of(log, *mixed(), team=team)
    glances = await read_glances(log.tallies, Place(team, "C2", others=("C1", "C3")), WEEK, NOW)
    its = {each.name: getattr(figures, each.name) for each in fields(Glance)}
    assert glances["C1"] == Glance(
        **its | {"this": Tally(figures.this.counts)}
    )  # threads matter for ranges alone
    assert (glances["C2"].this.n, glances["C3"].this.n) == (3, 0)
