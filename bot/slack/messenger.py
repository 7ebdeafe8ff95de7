"""Posts, and what only one person sees: a message, a window."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.domain.case import Recipient
from bot.slack import ids
from bot.slack.blocks import Block, section
from bot.slack.client import error_of, is_passing, or_refusal, refusal_of, slack_word
from bot.slack.invocation import Invocation, Raw

WITHOUT_PREVIEWS: Mapping[str, Any] = {"unfurl_links": False, "unfurl_media": False}
"""Arguments of each post: otherwise Slack would fetch and show what a link in somebody's quoted text points to."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Post:
    """A message to send: blocks, and `text` for notifications and screen readers.

    `plain_blocks` are for a Slack that does not support some of `blocks`; they do not count when
    posts are compared. A block that quotes words of a case has its number in its id, and one whose
    words are drawn from several has theirs.
    """

    text: str
    blocks: list[Block]
    plain_blocks: list[Block] | None = field(default=None, compare=False)

    @property
    def forms(self) -> "Sequence[Post]":
        """The post, followed by its plain form if it has one."""
        return (self,) if self.plain_blocks is None else (self, Post(self.text, self.plain_blocks))

    @property
    def cases(self) -> set[int]:
        """The cases whose words it quotes."""
        return set().union(*map(_quoted_cases, self.blocks))

    def without(self, case_ids: Collection[int]) -> "Post":
        """The post without the words of these cases; what is drawn from several goes with the last
        of them.
        """
        gone = set(case_ids)

        def strip(blocks: list[Block]) -> list[Block]:
            kept = []
            for block in blocks:
                quoted = _quoted_cases(block)
                left = _without_words(block) if quoted and quoted <= gone else block
                kept += [left] if left else []
            return kept

        # A verdict's notification gives the reason after the score.
        text = self.text.partition(":")[0] if self.text.startswith("Score ") else self.text
        plain_blocks = None if self.plain_blocks is None else strip(self.plain_blocks)
        return Post(text, strip(self.blocks), plain_blocks)


_LONGEST_ID = 255  # characters, says Slack
_OF_CASE = re.compile(rf"{ids.BLOCK_WORDS}(\d+)")


def drawn_from(case_ids: Sequence[int], block: Block) -> Block:
    """The block, which goes with the words of these cases, or of as many as fit into its id."""
    block_id = f"{ids.BLOCK_DRAWN}{'-'.join(map(str, case_ids))}-"
    return block | {"block_id": block_id[:_LONGEST_ID].rpartition("-")[0]}


def _quoted_cases(block: Block) -> set[int]:
    """The cases whose words a block quotes; none if it quotes none, or none any more."""
    block_id = str(block.get("block_id"))
    if block_id.startswith(ids.BLOCK_DRAWN):
        return set(map(int, block_id.removeprefix(ids.BLOCK_DRAWN).split("-")))
    found = _OF_CASE.match(block_id)
    return {int(found[1])} if found and _without_words(block) != block else set()


def _without_words(block: Block) -> Block | None:
    """What is ours in a block that quotes: its first line, or all that is not in italics; None if it
    is one quote, or drawn from cases.
    """
    if str(block.get("block_id")).startswith(ids.BLOCK_DRAWN):
        return None
    if block["type"] == "section":
        first_line = block["text"]["text"].partition("\n")[0]
        return block | {"text": block["text"] | {"text": first_line}}
    line, *more = block["elements"]
    if more or line["type"] != "rich_text_section":
        return None
    ours = [run for run in line["elements"] if not run.get("style", {}).get("italic")]
    return block | {"elements": [line | {"elements": ours}]}


def sentence(text: str) -> Post:
    return Post(text, [section(text)])


def to_post(text: str, *blocks: Block) -> Post:
    """A message that begins with the text, whose notification has no marks of bold words."""
    return Post(text.replace("*", ""), [section(text), *blocks])


def as_post(said: Post | str) -> Post:
    return sentence(said) if isinstance(said, str) else said


async def send_in_known_blocks(
    call: Callable[..., Awaitable[AsyncSlackResponse]], post: Post, **arguments: Any
) -> AsyncSlackResponse:
    """Slack's answer to a call with the post, or with its plain form if Slack does not support the
    blocks.
    """
    try:
        return await call(text=post.text, blocks=post.blocks, **arguments)
    except SlackApiError as exc:
        if error_of(exc) != "invalid_blocks" or post.plain_blocks is None:
            raise
        logger.info("blocks_refused")
        return await call(text=post.text, blocks=post.plain_blocks, **arguments)


_HOOKS = ("https://hooks.slack.com/", "https://hooks.slack-gov.com/")


def to_response_hosts(api_url: str) -> tuple[str, ...]:
    """The prefixes that a `response_url` may have: Slack's, and that of `api_url` if it is a
    stand-in for Slack.

    Slack signs payloads, but a person could change the address that a window remembers.

    Source: GovSlack has a domain of its own, https://api.slack-gov.com/gov-slack/about
    """
    api = urlsplit(api_url)
    is_slacks = f".{api.netloc}".endswith((".slack.com", ".slack-gov.com"))
    return _HOOKS if is_slacks else (*_HOOKS, f"{api.scheme}://{api.netloc}/")


class Posted(NamedTuple):
    channel_id: str
    ts: str


NOT_SHOWN = "Slack did not let me show you the answer. Please try again."

PutWords = Callable[[Posted, Post], Awaitable[None]]
"""Records which cases a message quotes, and then puts their words into it."""


class Messenger:
    """Sends things to people; raises one of `client.SLACK_ERRORS` if Slack fails temporarily."""

    def __init__(self, client: AsyncWebClient, put_words: PutWords | None = None) -> None:
        self._client = client
        self._put_words = put_words
        self._response_hosts = to_response_hosts(client.base_url)

    async def tell(self, recipient: Recipient, said: Post | str) -> bool:
        """Whether the person could be told: where they are if possible, else by direct message; ""
        says nothing.
        """
        if not said:
            return True
        for form in as_post(said).forms:
            if await self._show(recipient, form) or await self.direct(recipient, form):
                return True
        logger.error("person_unreachable", user=recipient.user_id, channel=recipient.channel_id)
        return False

    async def answer(self, recipient: Recipient, said: Post | str) -> None:
        """Tells a person what may quote anybody's words: only where it goes when they reload Slack."""
        if not said:
            return
        for form in as_post(said).forms:
            if await self._show(recipient, form):
                return
        await self.tell(recipient, NOT_SHOWN)

    async def _show(self, recipient: Recipient, post: Post) -> bool:
        ways = [self._ephemeral, self._respond]
        if recipient.is_in_channel:
            ways.reverse()
        for way in ways:
            if await way(recipient, post):
                return True
        return False

    async def replace(self, recipient: Recipient, said: Post | str) -> None:
        """Shows this in place of the message in which the person clicked; if Slack does not, they
        are told it.
        """
        post = as_post(said)
        body = {"text": post.text, "blocks": post.blocks, "replace_original": True}
        if not await self._post_to(recipient.response_url, body):
            await self.tell(recipient, post)

    async def open_modal(self, trigger_id: str, view: Block) -> str | None:
        """The id of the opened modal, or None if it could not be opened: a trigger is valid for 3 s,
        and once.
        """
        return await _to_view_id(self._client.views_open(trigger_id=trigger_id, view=view))

    async def show(self, invocation: Invocation, view: Block, *, is_above: bool = False) -> str:
        """Opens a modal, which replaces an open one unless it `is_above` that; returns what to tell
        the person if it came too late, or an empty string.
        """
        opening = self._client.views_push if is_above else self._client.views_open
        view_id = await _to_view_id(opening(trigger_id=invocation.trigger_id, view=view))
        return "" if view_id else invocation.too_slow

    async def update_modal(
        self, view_id: str, view: Block, version: str | None = None
    ) -> str | None:
        """Changes the content of an open modal; returns its id, or None if the person has closed it.

        With a `version`, only if the modal has not changed since that version.
        """
        call = self._client.views_update(view_id=view_id, view=view, hash=version)
        return await _to_view_id(call, raises_passing=True)

    async def _ephemeral(self, recipient: Recipient, post: Post) -> bool:
        # Slack shows an ephemeral message in a thread only if the thread already exists:
        # https://docs.slack.dev/reference/methods/chat.postEphemeral
        if not recipient.channel_id:
            return False
        call = self._client.chat_postEphemeral(
            channel=recipient.channel_id,
            user=recipient.user_id,
            thread_ts=recipient.thread_ts,
            text=post.text,
            blocks=post.blocks,
        )
        return await _is_taken("chat.postEphemeral", call)

    async def _respond(self, recipient: Recipient, post: Post) -> bool:
        body: Raw = {"text": post.text, "blocks": post.blocks, "replace_original": False}
        body["response_type"] = "ephemeral"
        if recipient.thread_ts and not recipient.is_in_channel:
            body["thread_ts"] = recipient.thread_ts
        return await self._post_to(recipient.response_url, body)

    async def _post_to(self, response_url: str | None, body: Raw) -> bool:
        if not response_url:
            return False
        if not response_url.startswith(self._response_hosts):
            logger.warning(
                "private_way_failed", way="response_url", error="the address is not Slack's"
            )
            return False
        try:
            answer = await AsyncWebhookClient(response_url, retry_handlers=[]).send_dict(body)
        except (aiohttp.ClientError, TimeoutError) as exc:
            logger.info("private_way_failed", way="response_url", error=type(exc).__name__)
            return False
        if answer.status_code != 200:
            logger.info("private_way_failed", way="response_url", error=answer.body[:100])
        return answer.status_code == 200

    async def update(self, message: Posted, post: Post) -> bool:
        """Changes one of our messages; returns False if Slack refuses."""
        call = self._client.chat_update(
            channel=message.channel_id, ts=message.ts, text=post.text, blocks=post.blocks
        )
        return await _is_taken("chat.update", call)

    async def direct(self, recipient: Recipient, post: Post) -> bool:
        """Sends the person a direct message; returns False if Slack refuses it."""
        return await _is_taken("chat.postMessage", self.post(recipient.user_id, post))

    async def post(self, to: str, post: Post, **arguments: Any) -> Posted:
        """Posts in a channel or to a person; raises RefusedCallError if Slack refuses it.

        The words of cases follow once the store knows the message. So they can be taken back
        although Slack's answer is lost or the process dies: a direct message cannot be searched for
        by the person's id, and in some channels the app may only write.
        """
        call = self._client.chat_postMessage
        bare = post.without(post.cases)
        sent = await or_refusal(
            send_in_known_blocks(call, bare, channel=to, **arguments, **WITHOUT_PREVIEWS)
        )
        message = Posted(sent["channel"], sent["ts"])
        await self.put_words(message, post)
        return message

    async def put_words(self, message: Posted, post: Post) -> None:
        """Puts the words of a post into a message of ours that stands without them."""
        if self._put_words and post.cases:
            await self._put_words(message, post)


async def _to_view_id(
    call: Awaitable[AsyncSlackResponse], *, raises_passing: bool = False
) -> str | None:
    try:
        return str((await call)["view"]["id"])
    except SlackApiError as exc:
        if raises_passing and is_passing(exc):
            raise
        logger.warning("modal_refused", error=slack_word(exc))
        return None


async def _is_taken(way: str, call: Awaitable[object]) -> bool:
    error = await refusal_of(call)
    if error:
        logger.info("private_way_failed", way=way, error=error)
    return error is None
