"""What people see of a thread besides its messages: https://docs.slack.dev/ai/developing-agents"""

from typing import Any

from pocket_slack import posts
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Channel, Json

MOST_LOADING_MESSAGES = 10
MOST_PROMPTS = 4


def set_status(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/assistant.threads.setStatus"""
    status = call.args.get("status")  # an empty one removes the status
    messages = call.json("loading_messages", "invalid_arguments") or []
    is_list = isinstance(messages, list) and all(isinstance(each, str) for each in messages)
    if status is None or not is_list or len(messages) > MOST_LOADING_MESSAGES:
        raise SlackError("invalid_arguments")
    posts.set_status(call.ws, *_thread(call), str(status), messages)
    return {}


def set_suggested_prompts(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts

    Prompts of an agent are for its Messages tab as a whole: if it names a thread, nothing happens.
    """
    prompts = call.json("prompts", "invalid_arguments")
    if (
        not isinstance(prompts, list)
        or len(prompts) > MOST_PROMPTS
        or not all(map(_is_prompt, prompts))
    ):
        raise SlackError("invalid_arguments")
    channel, ts = _thread(call) if call.optional("thread_ts") else (_channel(call), "")
    newest = next(reversed(channel.messages.values()), None)
    if call.ws.manifest.is_agent and ts:
        return {}
    if not call.ws.manifest.is_agent and not ts:
        if newest is None:
            raise SlackError("message_not_found")
        ts = newest.thread_ts or newest.ts
    posts.show_thread(
        call.ws, channel, ts, prompts=prompts, prompts_title=call.optional("title") or ""
    )
    return {}


def set_title(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/assistant.threads.setTitle"""
    posts.show_thread(call.ws, *_thread(call), title=call.text("title"))
    return {}


def _thread(call: Call) -> tuple[Channel, str]:
    channel = _channel(call)
    parent = channel.messages.get(call.text("thread_ts"))
    if parent is None or parent.is_reply or parent.is_notice:
        raise SlackError("invalid_thread_ts")
    return channel, parent.ts


def _channel(call: Call) -> Channel:
    channel = call.channel("channel_id")
    if not call.is_member(channel):
        raise SlackError("no_permission")
    return channel


def _is_prompt(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("title") and value.get("message"))
