"""The Home tab: published when it is opened, and again after what is pressed in it."""

from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.case import Visibility
from bot.extract.payloads import Invocation, home_channel, to_invocation
from bot.listeners.desk import Desk
from bot.log.errors import LOG_ERRORS, in_brief
from bot.slack import ids
from bot.slack.modal_state import ModalState
from bot.views.digest_settings import no_access_text
from bot.views.home import AS_THE_WORKSPACE, home_view, trouble_view
from bot.views.modals import texts_modal
from bot.views.refusals import BUTTON_TOO_SLOW, FOREIGN

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, desk: Desk) -> None:
    """Connects the tab and what is in it."""

    @app.event("app_home_opened")
    async def open_home(body: dict[str, Any], event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            await _publish(desk, body)

    @app.action(ids.ACTION_HOME_REFRESH)
    async def refresh(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _publish(desk, body)

    @app.action(ids.ACTION_HOME_JUDGE)
    async def judge_something(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        state = ModalState(channel_id=home_channel(body))
        view = texts_modal(state, desk.rubrics, desk.default.rubric, None)
        if not await desk.teller.open_modal(body["trigger_id"], view):
            await _publish(desk, body, BUTTON_TOO_SLOW)

    @app.action(ids.ACTION_HOME_VISIBILITY)
    async def choose_visibility(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        invocation, value = to_invocation(body), body["actions"][0]["selected_option"]["value"]
        chosen = None if value == AS_THE_WORKSPACE else Visibility(value)
        await desk.people.save_visibility(invocation.team_id, invocation.user_id, chosen)
        await _publish(desk, body)

    @app.action(ids.ACTION_DIGEST_ON)
    async def switch_digest_on(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _publish(desk, body, await _switch_digest(desk, body, is_on=True))

    @app.action(ids.ACTION_DIGEST_OFF)
    async def switch_digest_off(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        await _publish(desk, body, await _switch_digest(desk, body, is_on=False))


async def _switch_digest(desk: Desk, body: dict[str, Any], *, is_on: bool) -> str:
    """Why it was not done; empty where it was. The button's channel is believed no more than a typed one."""
    invocation, channel_id = to_invocation(body), body["actions"][0]["value"]
    if invocation.is_foreign:
        return FOREIGN
    if refusal := await desk.access.refusal(channel_id, invocation.user_id, is_change=True):
        return no_access_text(refusal)
    settings = await desk.poster.digests.channel(invocation.team_id, channel_id)
    await desk.poster.digests.save(settings.switched(is_on, desk.poster.now()))
    return ""


async def _publish(desk: Desk, body: dict[str, Any], note: str = "") -> None:
    invocation, channel_id = to_invocation(body), home_channel(body)
    await desk.teller.publish_home(invocation.user_id, await _view(desk, invocation, channel_id, note))


async def _view(desk: Desk, invocation: Invocation, channel_id: str, note: str) -> dict[str, Any]:
    try:
        home = await desk.home.read(invocation.team_id, invocation.user_id)
    except LOG_ERRORS as exc:
        logger.error("home_without_log", reason=in_brief(exc))
        return trouble_view(channel_id)
    return home_view(home, desk.workspace_url, desk.default.visibility, channel_id, note)
