"""The judge that a channel gets: what a person wishes for, what stands against it, the change."""

from contextlib import suppress
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from bot.features.rubrics import text as words
from bot.features.rubrics.queries import RubricChanges
from bot.features.rubrics.text import DEFAULT
from bot.services import Services
from bot.slack.client import SLACK_ERRORS
from bot.slack.messenger import WITHOUT_PREVIEWS, Post, send_in_known_blocks, sentence
from bot.store.rubrics import ChannelJudge

Place = tuple[str, str]
"""A team and one of its channels."""


class Wish(BaseModel):
    """The judge that a person wants for a channel, as a button sends it back.

    `DEFAULT` in place of a rubric or a model is the app's. Without a version, the rubric is meant
    as last saved; without a model, the channel keeps its own.
    """

    model_config = ConfigDict(frozen=True)

    rubric: str
    version: str | None = None
    model: str | None = None


async def judge_for(services: Services, place: Place, wish: Wish) -> ChannelJudge | str:
    """The judge that is wished for; a sentence with the reason if the channel cannot have it."""
    rubrics = services.rubrics
    models = services.settings.judge_models
    chosen = await rubrics.log.chosen(*place)
    if wish.model not in {None, DEFAULT, *models}:
        return words.no_model(wish.model or "", models)
    model = wish.model or chosen.model
    if model == DEFAULT:
        model = None
    if wish.rubric == DEFAULT:
        return ChannelJudge(model=model if wish.model else None)
    rubric = await rubrics.find(*place, wish.rubric, wish.version)
    if rubric is None:
        return words.no_rubric(wish.rubric, await rubrics.names(*place))
    if rubric.needs_reference and not chosen.reference:
        return words.needs_reference(rubric.name)
    saved = await rubrics.log.find(*place, wish.rubric, rubric.version)
    return ChannelJudge(rubric.name, rubric.version if saved else None, model)


async def ask_first(services: Services, place: Place, wish: Wish) -> Post | str:
    """Asks the person whether the channel's judge is to change, and says what that means.

    Instead, it says why it cannot, or that it is so already.
    """
    default = services.rubrics.default
    judge = await judge_for(services, place, wish)
    if isinstance(judge, str):
        return judge
    chosen = await services.rubrics.log.chosen(*place)
    in_use = replace(chosen, rubric=chosen.rubric or default)
    if in_use == replace(judge, rubric=judge.rubric or default):
        return words.unchanged(judge, default)
    # What is pressed later is what was asked, whatever is saved or chosen meanwhile.
    exact = Wish(
        rubric=judge.rubric or DEFAULT, version=judge.version, model=judge.model or DEFAULT
    )
    value = exact.model_dump_json(exclude_none=True)
    return words.ask_to_use(judge, default, value)


async def switch(services: Services, place: Place, user_id: str, wish: Wish) -> str:
    """Gives a channel the judge that is wished for, tells the channel, and returns what to tell the
    person.
    """
    default = services.rubrics.default
    judge = await judge_for(services, place, wish)
    if isinstance(judge, str):
        return judge
    if not await RubricChanges(services.store.database).use(*place, judge, user_id):
        return words.unchanged(judge, default)
    await tell_channel(services, place, words.used_by(user_id, place[1], judge, default))
    return words.used(judge, default)


async def tell_channel(services: Services, place: Place, told: str) -> None:
    """Tells a channel with a digest or a watch that its figures are those of another judge from now
    on.
    """
    store = services.store
    settings = await store.channels.of(*place)
    if settings.is_digest_on or await store.watches.of(*place):
        with suppress(*SLACK_ERRORS):  # the change holds, even if the channel cannot be told
            call = services.client.chat_postMessage
            await send_in_known_blocks(call, sentence(told), channel=place[1], **WITHOUT_PREVIEWS)
