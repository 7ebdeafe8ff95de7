"""The first hour: who invites the app into a channel is told what it can do there, and what is on
already.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.watch import Watch
from bot.features.watch import assistants, ids, orders
from bot.features.watch.notices import tell_once
from bot.features.watch.text import not_read
from bot.features.watch.way import find_way
from bot.features.watch.window_text import price_a_day
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.client import RefusedCallError, or_refusal, slack_word
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.figures import Place
from judge.scoring.numbers import number_of

_MOST = 5
ONLY_WHEN_ASKED = (
    "I score a reply only when somebody asks: *Score this reply* in the menu (⋮) of a message, "
    "or `/judge` with its link. `/judge watch` and `/judge digest on` in the channel are there "
    "whenever you want them."
)


async def welcome(services: Services, body: Mapping[str, Any]) -> None:
    """Tells the person who invited the app into a channel what it can do there, once.

    Source: https://docs.slack.dev/reference/events/member_joined_channel
    """
    team_id = body["team_id"]
    channel_id = body["event"]["channel"]
    inviter = body["event"].get("inviter")
    if body["event"]["user"] != services.identity.user_id or not inviter:
        return
    if not (body.get("is_ext_shared_channel") and await services.members.is_foreign(inviter)):
        person = Invocation(team_id, channel_id, inviter, inviter, is_foreign=False)
        post = await _welcome(services, person)
        told = Watch(team_id, channel_id, "", services.clock(), alerts_to=(inviter,))
        # Claimed right before the post: if the process has died before, Slack sends the event
        # again.
        await tell_once(services, told, "invited", post)


async def _welcome(services: Services, person: Invocation) -> Post:
    channel_id = person.channel_id
    invited = f"You invited me to <#{person.channel_id}>."
    refusal = await orders.refusal_of(services, person, channel_id, is_change=True)
    try:
        names, a_day = (
            ({}, {}) if refusal else await or_refusal(assistants.assistants(services, channel_id))
        )
    except RefusedCallError as exc:
        refusal = not_read(slack_word(exc))
    if refusal:
        return Post(
            f"{invited} {refusal}",
            [ui.section(f"{invited} {refusal}"), ui.context(ONLY_WHEN_ASKED)],
        )
    seen = [(a_day.get(each, 0), clip(name)) for each, name in names.items()]
    listed = ", ".join(f"*{name}*" for _, name in seen[:_MOST])
    listed += f" and {len(seen) - _MOST} more" if len(seen) > _MOST else ""
    sees = (
        f"{number_of(len(seen), 'assistant')} there: {listed}" if seen else "no assistant there yet"
    )
    watched = await assistants.watched_names(services, person.team_id, channel_id)
    has_digest = (await services.store.channels.of(person.team_id, channel_id)).is_digest_on
    on = [f"the watch of {clip(name)} (`/judge watch` there ends it)" for name in watched.values()]
    on += ["the weekly summary (`/judge digest off`)"] if has_digest else []
    said = f"*I am in <#{channel_id}> now* and see {sees}.\nWhat shall I do there?"
    said += f"\nOn there: {', '.join(on)}." if on else ""
    watch = ui.button("Watch it", ids.ACTION_WATCH, f"{channel_id}:") | {"style": "primary"}
    buttons = [
        *([] if names and names.keys() <= watched.keys() else [watch]),
        *([] if has_digest else [ui.button("Weekly summary", ids.ACTION_WEEKLY, channel_id)]),
        ui.button("Only when asked", ids.ACTION_ONLY_ASKED),
    ]
    usual = await orders.order_on(services, person, channel_id, "")
    way = await find_way(services, person.team_id, channel_id)
    in_force = services.settings.in_force()
    prices = [price_a_day(usual, number, way) for number, _ in seen[:1]]
    small = [
        f"`{clip(way.model)}` judges. Question, reply and what was said before go, without names, to "
        f"{in_force['sent to']}. Texts are {in_force['texts']}, scores {in_force['scores']}.",
        *(f"A watch on {seen[0][1]}: {price[0].lower()}{price[1:]}" for price in prices),
    ]
    return Post(
        said.replace("*", ""), [ui.section(said), ui.actions(*buttons), *map(ui.context, small)]
    )


def register(app: AsyncApp, services: Services) -> None:
    async def tell(body: dict[str, Any], next_: Callable[[], Awaitable[None]]) -> None:
        await welcome(services, body)  # before Bolt acknowledges the event
        await next_()

    @app.event("member_joined_channel", middleware=[tell])
    async def join() -> None:
        return

    @on_click(app, ids.ACTION_WEEKLY)
    async def post_weekly(invocation: Invocation, _: Raw) -> None:
        channel_id = invocation.value
        said = await services.access.refusal(invocation, "digests", channel_id, is_change=True)
        said = said or await services.post_weekly(
            Place(invocation.team_id, channel_id), invocation.user_id
        )
        await services.messenger.tell(invocation.recipient, f"<#{channel_id}>: {said}")

    @on_click(app, ids.ACTION_ONLY_ASKED)
    async def score_only_when_asked(invocation: Invocation, _: Raw) -> None:
        await services.messenger.tell(invocation.recipient, ONLY_WHEN_ASKED)
