"""Which cases a click or a window leads to: one's own, and those that can be seen in a channel."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from bot.domain.case import LoggedCase, Visibility
from bot.pipeline.case_access import CaseAccess, NoCaseError
from bot.slack.client import web_client
from bot.slack.invocation import Invocation
from bot.slack.manifest import load_manifest
from bot.slack.members import Members, Memberships
from bot.store import Store
from pocket_slack import Person, Sandbox, Workspace
from tests.cases import delivered
from tests.patience import UNHURRIED

pytestmark = pytest.mark.on("sqlite")
LEADS = "leads"


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    """A private channel of ann and ben, and a public one of nobody's but the app."""
    workspace = Workspace(load_manifest(), limits=UNHURRIED)
    people = [workspace.add_user(name) for name in ("ann", "ben")]
    workspace.add_channel(LEADS, [*people, workspace.bot], is_private=True)
    workspace.add_channel("open", [workspace.bot])
    async with Sandbox(workspace) as running:
        yield running


@pytest.fixture
async def access(slack: Sandbox, log: Store) -> AsyncIterator[CaseAccess]:
    async with web_client(SecretStr(slack.bot_token), slack.api_url) as client:
        memberships = Memberships(client, frozenset({slack.workspace.team_id}))
        yield CaseAccess(log.cases, memberships, Members(client))


async def shown(
    access: CaseAccess, person: Person, case: LoggedCase, here: str = "", window: str | None = None
) -> str:
    """How much of a case a click there leads to."""
    click = Invocation("T1", here, person.id, "x", is_foreign=False, window_channel_id=window)
    try:
        await access.known(click, case.id)
    except NoCaseError:
        return "nothing"
    try:
        await access.readable(click, case.id)
    except NoCaseError:
        return "the score"
    return "all"


async def test_a_case_of_another_is_for_those_who_are_in_its_channel_or_see_its_button(
    slack: Sandbox, access: CaseAccess, log: Store
) -> None:
    leads = slack.workspace.channel(LEADS)
    ben = slack.person("ben")
    asked = {"channel_id": leads.id, "message_ts": "1.1", "requester_id": slack.person("ann").id}
    case = await delivered(log, **asked)
    private = await delivered(log, "k2", visibility=Visibility.ME, **asked)
    assert await shown(access, ben, private, here=leads.id) == "nothing"
    assert await shown(access, ben, case) == "all"
    # A window belongs to no channel; what counts is whether its person may still see the one where
    # they opened it.
    for is_app_there, is_archived in ((False, False), (True, True)):
        leads.is_archived = is_archived
        if not is_app_there:
            leads.members.remove(slack.workspace.bot.id)
        assert await shown(access, ben, case, window=leads.id) == "all"
        leads.members = [*dict.fromkeys([*leads.members, slack.workspace.bot.id])]
    leads.is_archived = False
    ben.leave(LEADS)
    assert await shown(access, ben, case) == "nothing"
    assert await shown(access, ben, case, window=leads.id) == "nothing"
    assert await shown(access, ben, case, here=leads.id) == "all"


async def test_ones_own_case_is_readable_unless_one_has_left_its_private_channel(
    slack: Sandbox, access: CaseAccess, log: Store
) -> None:
    ben = slack.person("ben")
    leads, looked_at = (slack.workspace.channel(name).id for name in (LEADS, "open"))
    own = {"requester_id": ben.id, "message_ts": "1.1", "visibility": Visibility.ME}
    case = await delivered(log, channel_id=leads, **own)
    of_open = await delivered(log, "k2", channel_id=looked_at, **own)
    for each in (case, of_open):
        assert await shown(access, ben, each) == "all"
    ben.leave(LEADS)
    assert await shown(access, ben, case) == "the score"
