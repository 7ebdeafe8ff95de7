"""`/judge rubric`: the list of a channel's rubrics, its buttons, and the windows to edit one."""

import re
from collections.abc import Awaitable, Callable
from functools import partial

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Recipient
from bot.domain.clock import utc_now
from bot.features.rubrics import ids, reference
from bot.features.rubrics import text as words
from bot.features.rubrics.choice import Wish, ask_first, switch
from bot.features.rubrics.queries import (
    RubricChanges,
    SavedBeforeError,
    TooManyRubricsError,
)
from bot.features.rubrics.text import RubricState, typed_rubric
from bot.pipeline.text import MAX_INPUT, not_understood
from bot.services import Services
from bot.slack import invocation as payloads
from bot.slack.invocation import Invocation, Raw, unknown
from bot.slack.messenger import Post
from bot.store.rubrics import SavedRubric
from judge import DEFAULT_RUBRIC, Rubric

Change = Callable[[Services, Invocation], Awaitable[str]]


def register(app: AsyncApp, services: Services) -> None:
    reference.register(app, services)
    in_the_list = re.compile(f"^{ids.ACTION_RUBRIC}(?:use|view|edit)$")
    payloads.on_click(app, in_the_list)(partial(_press, services))
    payloads.on_click(app, ids.ACTION_RUBRIC_USE)(partial(_change, services, _use))
    payloads.on_click(app, ids.ACTION_RUBRIC_DELETE)(partial(_change, services, _delete))
    payloads.on_click(app, ids.ACTION_RUBRIC_ADVANCED)(partial(_show_prompt, services))
    app.view(ids.VIEW_RUBRIC)(partial(_submit, services))


async def _press(services: Services, person: Invocation, _: Raw) -> None:
    word = person.action.removeprefix(ids.ACTION_RUBRIC)
    said = await answer(services, person, f"{word} {person.value}")
    await services.messenger.tell(person.recipient, said)


async def _submit(services: Services, ack: AsyncAck, body: Raw) -> None:
    person = payloads.to_invocation(body)
    saved = await _save(services, person, body)
    if not isinstance(saved, Rubric):
        await ack(response_action="errors", errors=saved)
        return
    await ack()
    await _ask_to_use(services, person, saved)


async def answer(services: Services, person: Invocation, text: str) -> Post | str:
    """Answers `/judge rubric`, and the buttons of its list; names of models keep their upper and
    lower case.
    """
    typed = text.split()
    is_change = bool(typed) and typed[0] != "view"
    if refusal := await services.access.refusal(person, "rubrics", is_change=is_change):
        return refusal
    match typed:
        case []:
            return await _list(services, person)
        case ["use", name, *more] if len(more) < 2:
            wish = Wish(rubric=name.lower(), model=more[0] if more else None)
            return await ask_first(services, person.place, wish)
        case ["view", name]:
            return await _view(services, person, name.lower())
        case ["edit", *names] if len(names) < 2:
            return await _edit(services, person, "".join(names).lower())
        case ["delete", name]:
            saved = await _deletable(services, person, name.lower())
            return saved if isinstance(saved, str) else words.ask_to_delete(saved)
        case _:
            return not_understood(unknown(" ".join(typed)), words.HELP)


async def _list(services: Services, person: Invocation) -> Post:
    rubrics = services.rubrics
    return words.state(
        await rubrics.log.chosen(*person.place),
        rubrics.default,
        list(rubrics.shipped),
        await rubrics.log.newest(*person.place),
        services.settings.judge_models,
    )


async def _view(services: Services, person: Invocation, name: str) -> str:
    """Opens a window with this rubric; returns what to tell the person if there is none."""
    rubrics = services.rubrics
    rubric = await rubrics.find(*person.place, name)
    if rubric is None:
        return words.no_rubric(name, await rubrics.names(*person.place))
    return await services.messenger.show(person, words.view_modal(rubric))


async def _edit(services: Services, person: Invocation, name: str) -> str:
    """Opens a window to edit this rubric, or without a name the default one; returns why it cannot.

    To edit an unknown name is to make a rubric of that name.
    """
    rubrics = services.rubrics
    state = RubricState(channel_id=person.channel_id, response_url=person.response_url)
    saved = await rubrics.log.find(*person.place, name) if name else None
    shipped = rubrics.shipped_as(name or DEFAULT_RUBRIC)
    new_name = ""
    if saved:
        rubric = saved.rubric
        state = state.model_copy(update={"rubric": saved.name, "version": rubric.version})
    else:
        rubric = shipped or rubrics.shipped[DEFAULT_RUBRIC]
        state = state.model_copy(update={"based_on": rubric.name})
        new_name = "" if shipped else name
    if len(rubric.prompt) > MAX_INPUT:
        return words.TOO_LONG_TO_EDIT
    return await services.messenger.show(person, words.begin_modal(state, rubric.prompt, new_name))


async def _deletable(services: Services, person: Invocation, name: str) -> SavedRubric | str:
    """The rubric of that name; a sentence with the reason if it cannot be deleted."""
    log = services.rubrics.log
    saved = await log.find(*person.place, name)
    if saved is None:
        return words.not_made_here(name)
    chosen = await log.chosen(*person.place)
    is_used = chosen.rubric == name and chosen.version is not None
    return words.not_deleted_in_use(name) if is_used else saved


async def _change(services: Services, change: Change, person: Invocation, _: Raw) -> None:
    """Does what the message of a button has asked about, and says so in its place."""
    refusal = await services.access.refusal(person, "rubrics", is_change=True)
    said = refusal or await change(services, person)
    await services.messenger.replace(person.recipient, said)


async def _use(services: Services, person: Invocation) -> str:
    wish = Wish.model_validate_json(person.value)
    return await switch(services, person.place, person.user_id, wish)


async def _delete(services: Services, person: Invocation) -> str:
    name = person.value
    saved = await _deletable(services, person, name)
    if isinstance(saved, str):
        return saved
    await RubricChanges(services.store.database).delete(*person.place, name, person.user_id)
    return words.deleted(name)


async def _show_prompt(services: Services, _: Invocation, body: Raw) -> None:
    """Shows all of the prompt in the window, with what is typed there so far."""
    view = words.rubric_modal(RubricState.of(body["view"]), *typed_rubric(body))
    await services.messenger.update_modal(body["view"]["id"], view)


async def _ask_to_use(services: Services, person: Invocation, saved: Rubric) -> None:
    wish = Wish(rubric=saved.name, version=saved.version)
    asking = await ask_first(services, person.place, wish)
    here = Recipient(
        person.user_id, person.place[1], response_url=person.response_url, is_in_channel=True
    )
    await services.messenger.tell(here, words.saved(saved, asking))


async def _save(services: Services, person: Invocation, body: Raw) -> Rubric | dict[str, str]:
    """The rubric of the window, saved; or why it cannot be saved, by input block."""
    if refusal := await services.access.refusal(person, "rubrics", is_change=True):
        return {ids.BLOCK_NAME: refusal}
    name, prompt = typed_rubric(body)
    is_shipped = services.rubrics.shipped_as(name) is not None
    if errors := words.errors(name, prompt, words.prompt_block(body), is_shipped=is_shipped):
        return errors
    state = RubricState.of(body["view"])
    began_with = state.version if state.rubric == name else None
    try:
        return await _saved(services, person, name, prompt, began_with)
    except SavedBeforeError:  # somebody else's version is not replaced
        return {ids.BLOCK_NAME: words.TAKEN_NAME.format(name=name)}
    except TooManyRubricsError:
        return {ids.BLOCK_NAME: words.TOO_MANY}


async def _saved(
    services: Services, person: Invocation, name: str, prompt: str, began_with: str | None
) -> Rubric:
    """The rubric of the window's channel with this text, saved unless it is the last one's.

    Raises SavedBeforeError if the last one has another version than the one that the window
    `began_with`, and TooManyRubricsError.
    """
    team_id, channel_id = person.place
    last = await services.rubrics.log.find(team_id, channel_id, name)
    if last and last.prompt == prompt:
        return last.rubric
    if last and last.rubric.version != began_with:
        raise SavedBeforeError(name)
    new = SavedRubric(
        team_id=team_id,
        channel_id=channel_id,
        name=name,
        number=last.number + 1 if last else 1,
        prompt=prompt,
        saved_by=person.user_id,
        saved_at=utc_now(),
    )
    await RubricChanges(services.store.database).save(new)
    return new.rubric
