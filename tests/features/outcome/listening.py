"""A watch that hears of messages by events; without the feature watch no messages are noted."""

from sqlalchemy import select

from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from bot.store.schema import seen_messages
from tests.stage import Stage, StageFactory
from tests.watches import watch_helper


async def listening(open_stage: StageFactory) -> Stage:
    stage: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events"
    )
    await watch_helper(stage)
    return stage


async def noted(stage: Stage, number: int) -> None:
    """Returns once so many messages are in the store."""

    async def are_there() -> bool:
        return len(await stage.log.database.values(select(seen_messages.c.ts))) == number

    await stage.eventually(are_there)
