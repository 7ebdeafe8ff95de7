"""The judge that a channel gets: what a person wishes for, what stands against it, the change."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.domain.case import Recipient
from bot.features.rubrics import text as words
from bot.features.rubrics.queries import RubricChanges, RubricGoneError
from bot.features.rubrics.text import DEFAULT
from bot.services import Services
from bot.slack.client import SLACK_ERRORS
from bot.slack.members import MembershipError
from bot.slack.messenger import WITHOUT_PREVIEWS, Post, send_in_known_blocks, sentence
from bot.store.audit import Action
from bot.store.rubrics import ChannelJudge


class Wish(BaseModel):
    """The judge that a person wants for a channel, as a button sends it back.

    `DEFAULT` in place of a rubric or a model is the app's. Without a version, the rubric is meant
    as last saved; without a model, the channel keeps its own.
    """

    model_config = ConfigDict(frozen=True)

    rubric: str
    version: str | None = None
    model: str | None = None

    @classmethod
    def of(cls, value: str) -> Self | None:
        """The wish in the value of a button; None if it is not one of ours."""
        try:
            return cls.model_validate_json(value)
        except ValidationError:
            return None


async def judge_for(
    services: Services, team_id: str, channel_id: str, wish: Wish
) -> ChannelJudge | str:
    """The judge that is wished for; a sentence with the reason if the channel cannot have it."""
    rubrics = services.rubrics
    models = services.settings.judge_models
    chosen = await rubrics.log.chosen(team_id, channel_id)
    if wish.model not in {None, DEFAULT, *models}:
        return words.no_model(wish.model or "", models)
    if wish.rubric == DEFAULT and wish.model is None:
        return ChannelJudge()
    model = wish.model or chosen.model
    if model == DEFAULT:
        model = None
    if wish.rubric == DEFAULT:
        return ChannelJudge(model=model)
    rubric = await rubrics.find(team_id, channel_id, wish.rubric, wish.version)
    if rubric is None:
        return words.no_rubric(wish.rubric, await rubrics.names(team_id, channel_id))
    if rubric.needs_reference and not chosen.reference:
        return words.needs_reference(rubric.name)
    saved = await rubrics.log.find(team_id, channel_id, wish.rubric, rubric.version)
    return ChannelJudge(rubric.name, rubric.version if saved else None, model)


async def ask_first(
    services: Services, team_id: str, channel_id: str, user_id: str, wish: Wish
) -> Post | str:
    """Asks the person whether the channel's judge is to change, and says what that means.

    Instead, it says why it cannot, or that it is so already.
    """
    rubrics = services.rubrics
    judge = await judge_for(services, team_id, channel_id, wish)
    if isinstance(judge, str):
        return judge
    chosen = await rubrics.log.chosen(team_id, channel_id)
    judge_now = replace(chosen, rubric=chosen.rubric or rubrics.default)
    if judge_now == replace(judge, rubric=judge.rubric or rubrics.default):
        # The same for now; but a change of the app's default would affect only one of them.
        if judge != chosen:
            await use(services, team_id, channel_id, user_id, judge)
        return words.unchanged(judge, rubrics.default)
    # What is pressed later is what was asked, whatever is saved or chosen meanwhile.
    exact = Wish(
        rubric=judge.rubric or DEFAULT, version=judge.version, model=judge.model or DEFAULT
    )
    return words.ask_to_use(judge, rubrics.default, exact.model_dump_json(exclude_none=True))


async def switch(
    services: Services, team_id: str, channel_id: str, user_id: str, wish: Wish
) -> str:
    """Gives a channel the judge that is wished for, and returns what to tell the person."""
    judge = await judge_for(services, team_id, channel_id, wish)
    if isinstance(judge, str):
        return judge
    return await use(services, team_id, channel_id, user_id, judge)


async def use(
    services: Services, team_id: str, channel_id: str, user_id: str, judge: ChannelJudge
) -> str:
    """Gives a channel this judge, tells others, and returns what to tell the person."""
    rubrics = services.rubrics
    last_chosen_by = await services.store.audit.last_by(Action.JUDGE_CHANGED, team_id, channel_id)
    try:
        changes = RubricChanges(services.store.database)
        is_new = await changes.use(team_id, channel_id, judge, user_id)
    except RubricGoneError:
        return words.no_rubric(judge.rubric or "", await rubrics.names(team_id, channel_id))
    if not is_new:
        return words.unchanged(judge, rubrics.default)
    used_by = partial(words.used_by, user_id, channel_id, judge, rubrics.default)
    if last_chosen_by and last_chosen_by != user_id:
        # The change holds, even if they cannot be told.
        with suppress(MembershipError, *SLACK_ERRORS):
            if not await services.memberships.keeps_out(last_chosen_by, channel_id):
                told = sentence(used_by(", which you had chosen"))
                await services.messenger.direct(Recipient(last_chosen_by, channel_id), told)
    await tell_channel(services, team_id, channel_id, used_by())
    return words.used(judge, rubrics.default)


async def tell_channel(services: Services, team_id: str, channel_id: str, told: str) -> None:
    """Tells a channel with a digest or a watch that its figures are those of another judge from now
    on.
    """
    store = services.store
    settings = await store.channels.of(team_id, channel_id)
    if settings.is_digest_on or await store.watches.of(team_id, channel_id):
        with suppress(*SLACK_ERRORS):  # the change holds, even if the channel cannot be told
            call = services.client.chat_postMessage
            await send_in_known_blocks(call, sentence(told), channel=channel_id, **WITHOUT_PREVIEWS)
