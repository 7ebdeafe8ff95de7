"""The page in the system's Chromium, with a small Bolt app behind it."""

from collections.abc import AsyncIterator

from slack_bolt.app.async_app import AsyncApp

from pocket_slack import Sandbox, Workspace
from sandbox.tests.chromium import chromium, fixture, open_tab, pytest_collection_modifyitems, tabs
from sandbox.tests.conftest import MANIFEST, UNHURRIED, connected_app

__all__ = ["chromium", "open_tab", "pytest_collection_modifyitems", "tabs"]


def small_workspace() -> Workspace:
    workspace = Workspace(MANIFEST, limits=UNHURRIED)
    ann = workspace.add_user("ann", "Ann Lee")
    ben = workspace.add_user("ben", "Ben Roy")
    helper = workspace.add_bot("helper")
    workspace.add_channel("help", [ann, ben, helper, workspace.bot])
    workspace.add_channel("secret", [ann], is_private=True)
    return workspace


@fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(small_workspace()) as running:
        yield running


@fixture
async def app(slack: Sandbox) -> AsyncIterator[AsyncApp]:
    async with connected_app(slack) as bolt:
        yield bolt
