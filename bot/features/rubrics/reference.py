"""`/judge reference`: what a channel's replies must agree with, its window and its button."""

from functools import partial

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.features.rubrics import ids
from bot.features.rubrics import reference_text as words
from bot.features.rubrics.choice import Wish, ask_first, tell_channel
from bot.features.rubrics.queries import RubricChanges
from bot.features.rubrics.text import DEFAULT
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw
from judge import find_flags
from judge.scoring.rubric import reference_version


def register(app: AsyncApp, services: Services) -> None:
    app.view(ids.VIEW_REFERENCE)(partial(_submit, services))


async def _submit(services: Services, ack: AsyncAck, body: Raw) -> None:
    invocation = payloads.to_invocation(body)
    state = ui.ModalState.of(body["view"])
    text = words.typed_reference(body)
    if problem := await _keep(services, invocation, state.version or "", text):
        await ack(response_action="errors", errors={words.REFERENCE_FIELDS[0]: problem})
        return
    is_suspect = bool(find_flags("", "", (), text))
    said = words.saved(reference_version(text), is_suspect=is_suspect) if text else words.DELETED
    await ack(response_action="update", view=words.message_modal(said))
    await _offer(services, invocation)


async def answer(services: Services, invocation: Invocation, _: str) -> str:
    """Opens the window with the reference, for those who may change it; returns why it cannot."""
    if refusal := await services.access.refusal(invocation, "references", is_change=True):
        return refusal
    reference = (await services.rubrics.log.chosen(*invocation.place)).reference or ""
    update = {"version": reference_version(reference)}
    state = invocation.to_state().model_copy(update=update)
    return await services.messenger.show(invocation, words.reference_modal(state, reference))


async def _keep(services: Services, invocation: Invocation, version: str, text: str) -> str:
    """Saves the reference of the window's channel, or deletes it if it is empty, and tells the
    channel.

    Returns why not, if so. The `version` that the window began with is not saved anew.
    """
    place = invocation.place
    user_id = invocation.user_id
    refusal = await services.access.refusal(invocation, "references", is_change=True)
    if refusal or reference_version(text) == version:
        return refusal
    changes = RubricChanges(services.store.database)
    if not await changes.refer(*place, user_id, text or None, version):
        return words.CHANGED
    await services.store.forgetting.scrub()
    await tell_channel(services, place, words.told(user_id, place[1], is_deleted=not text))
    return ""


async def _offer(services: Services, invocation: Invocation) -> None:
    """Asks whether the channel is to have the rubric that compares with a reference, or after that
    was deleted, the app's.
    """
    place = invocation.place
    chosen = await services.rubrics.log.chosen(*place)
    rubric = await services.rubrics.of(*place)
    if rubric.needs_reference != bool(chosen.reference):
        name = words.REFERENCE_RUBRIC if chosen.reference else DEFAULT
        wish = Wish(rubric=name, model=chosen.model)
        here = Recipient(invocation.user_id, place[1], response_url=invocation.response_url)
        await services.messenger.tell(here, await ask_first(services, place, wish))
