"""What happens in one workspace stays there, although another one has the same channel and user
ids.
"""

import re

from bot.slack import ids
from bot.store.schema import cases
from pocket_slack import Person
from tests.stage import CHANNEL, shown
from tests.workspaces.conftest import Company


async def test_each_workspace_gets_its_own_verdict_and_is_told_of_its_own_cases_alone(
    both: Company,
) -> None:
    first, second = both.workspaces
    assert first.channel(CHANNEL).id == second.channel(CHANNEL).id
    assert first.user("ann").id == second.user("ann").id
    parents = [both.ask_for_score(each) for each in both.workspaces]
    for workspace, parent in zip(both.workspaces, parents, strict=True):
        await both.verdict(workspace, parent)
    assert set(await both.values(cases.c.team_id)) == {first.team_id, second.team_id}
    for each in both.workspaces:
        await both.slack.settled(Person(each, "ann").command(CHANNEL, ids.COMMAND, "recent"))
        await both.slack.until(lambda w=each: Person(w, "ann").ephemerals(CHANNEL))
    recent = [shown(Person(each, "ann").ephemerals(CHANNEL)[-1]) for each in both.workspaces]
    assert sorted(re.findall(r"case \d", text) for text in recent) == [["case 1"], ["case 2"]]
