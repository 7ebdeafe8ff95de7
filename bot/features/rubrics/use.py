"""Switches a channel to another judge, and tells the person who chose the previous one."""

from contextlib import suppress
from functools import partial

from sqlalchemy import UpdateBase

from bot.domain.case import Recipient
from bot.domain.rubric import ChannelJudge, SavedRubric
from bot.feature import Services
from bot.features.rubrics import text as words
from bot.pipeline.text import sentence
from bot.slack.client import SLACK_ERRORS
from bot.slack.members import MembershipError
from bot.slack.messenger import WITHOUT_PREVIEWS
from bot.store.audit import Action
from bot.store.rubrics import RubricGoneError


async def use(
    services: Services,
    team_id: str,
    channel_id: str,
    user_id: str,
    judge: ChannelJudge,
    decides: UpdateBase | None = None,
    saves: SavedRubric | None = None,
) -> str:
    """Switches a channel to this judge, and returns what to tell the person; empty if another press has decided it.

    In the same transaction, the statement `decides` records the decision, and the rubric `saves` is saved, as
    `Rubrics.use` says. A channel with a digest or a watch is told, because its figures are those of another judge from
    now on.
    """
    rubrics = services.rubrics
    chosen_by = await services.store.audit.last_by(Action.JUDGE_CHANGED, team_id, channel_id)
    try:
        is_used = await rubrics.log.use(team_id, channel_id, judge, user_id, decides, saves)
    except RubricGoneError:
        return words.no_rubric(judge.rubric or "", await rubrics.names(team_id, channel_id))
    if not is_used:
        return ""
    said = partial(words.used_by, user_id, channel_id, judge, rubrics.default)
    if chosen_by and chosen_by != user_id:
        await tell_other(services, chosen_by, channel_id, said(", which you had chosen"))
    settings = await services.store.channels.of(team_id, channel_id)
    if settings.is_digest_on or await services.store.watches.of(team_id, channel_id):
        with suppress(*SLACK_ERRORS):  # the change holds, even if the channel cannot be told
            post = sentence(said())
            call = services.client.chat_postMessage
            await call(channel=channel_id, text=post.text, blocks=post.blocks, **WITHOUT_PREVIEWS)
    return words.used(judge, rubrics.default)


async def tell_other(services: Services, user_id: str, channel_id: str, said: str) -> None:
    """Tells a person what another person did in the channel, unless they have left it or cannot be told now."""
    with suppress(MembershipError, *SLACK_ERRORS):
        if not await services.memberships.keeps_out(user_id, channel_id):
            await services.messenger.direct(Recipient(user_id, channel_id), sentence(said))
