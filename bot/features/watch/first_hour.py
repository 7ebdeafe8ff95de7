"""The first hour: who invites the app into a channel is told what it can do there, and what is on
already.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
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
    refusal = await orders.refusal_of(services, person, channel_id, is_change=True)
    names: Mapping[str, str] = {}
    a_day: Mapping[str, float] = {}
    if not refusal:
        try:
            names, a_day = await or_refusal(assistants.assistants(services, channel_id))
        except RefusedCallError as exc:
            refusal = not_read(slack_word(exc))
    if refusal:
        said = f"You invited me to <#{channel_id}>. {refusal}"
        return Post(said, [ui.section(said), ui.context(ONLY_WHEN_ASKED)])
    watched = await assistants.watched_names(services, person.team_id, channel_id)
    has_digest = (await services.store.channels.of(person.team_id, channel_id)).is_digest_on
    on = [f"the watch of {clip(name)} (`/judge watch` there ends it)" for name in watched.values()]
    buttons = [ui.button("Only when asked", ids.ACTION_ONLY_ASKED)]
    if has_digest:
        on.append("the weekly summary (`/judge digest off`)")
    else:
        buttons.insert(0, ui.button("Weekly summary", ids.ACTION_WEEKLY, channel_id))
    if not names or names.keys() - watched.keys():
        watch = ui.button("Watch it", ids.ACTION_WATCH, f"{channel_id}:")
        buttons.insert(0, watch | {"style": "primary"})
    said = f"*I am in <#{channel_id}> now* and see {_seen(names)}.\nWhat shall I do there?"
    if on:
        said += f"\nOn there: {', '.join(on)}."
    small = await _small_print(services, person, names, a_day)
    blocks = [ui.section(said), ui.actions(*buttons), *map(ui.context, small)]
    return Post(said.replace("*", ""), blocks)


def _seen(names: Mapping[str, str]) -> str:
    """The assistants that a channel has, those with most replies by name."""
    if not names:
        return "no assistant there yet"
    listed = ", ".join(f"*{clip(name)}*" for name in [*names.values()][:_MOST])
    rest = len(names) - _MOST
    more = f" and {rest} more" if rest > 0 else ""
    return f"{number_of(len(names), 'assistant')} there: {listed}{more}"


async def _small_print(
    services: Services, person: Invocation, names: Mapping[str, str], a_day: Mapping[str, float]
) -> Sequence[str]:
    """What is sent where, and what a watch on the assistant with most replies costs."""
    way = await find_way(services, person.team_id, person.channel_id)
    in_force = services.settings.in_force()
    small = [
        f"`{clip(way.model)}` judges. Question, reply and what was said before go, without names, to "
        f"{in_force['sent to']}. Texts are {in_force['texts']}, scores {in_force['scores']}."
    ]
    for author_id in [*names][:1]:
        usual = await orders.order_on(services, person, person.channel_id, "")
        price = price_a_day(usual, a_day.get(author_id, 0), way)
        small.append(f"A watch on {clip(names[author_id])}: {price[0].lower()}{price[1:]}")
    return small


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
