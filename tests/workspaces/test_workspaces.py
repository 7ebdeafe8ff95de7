"""What happens in one workspace stays there, although another one has the same channel and user
ids.
"""

from sqlalchemy import select

from bot.slack import ids
from bot.store.schema import cases
from pocket_slack import Person
from tests.stage import CHANNEL, shown
from tests.workspaces.conftest import Company


async def teams_of_cases(company: Company) -> list[tuple[str, str]]:
    rows = await company.bot.services.store.database.all(
        select(cases.c.team_id, cases.c.status).order_by(cases.c.id)
    )
    return [tuple(row) for row in rows]


async def test_each_workspace_gets_its_own_verdict_and_is_told_of_its_own_cases_alone(
    both: Company,
) -> None:
    first, second = both.workspaces
    assert first.channel(CHANNEL).id == second.channel(CHANNEL).id
    assert first.user("ann").id == second.user("ann").id
    parents = [both.ask_for_score(each) for each in both.workspaces]
    for workspace, parent in zip(both.workspaces, parents, strict=True):
        await both.slack.until(lambda w=workspace, p=parent: both.verdicts(w, p))
    teams = sorted(team for team, _ in await teams_of_cases(both))
    assert teams == sorted(each.team_id for each in both.workspaces)
    for each in both.workspaces:
        await both.slack.settled(Person(each, "ann").command(CHANNEL, ids.COMMAND, "recent"))
        await both.slack.until(lambda w=each: Person(w, "ann").ephemerals(CHANNEL))
    recent = [shown(Person(each, "ann").ephemerals(CHANNEL)[-1]) for each in both.workspaces]
    assert [[f"case {number}" in text for number in (1, 2)].count(True) for text in recent] == [
        1,
        1,
    ]
    assert ["case 1" in text for text in recent].count(True) == 1
