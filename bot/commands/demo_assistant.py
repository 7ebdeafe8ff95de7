"""The assistant of the demo: a list of questions and answers, so that there is somebody to ask, and to watch."""

import asyncio
import re
from collections.abc import Mapping

from pocket_slack import Message, Person, Sandbox
from pocket_slack.journal import Entry

NAME = "helper"
_LEAST_WORDS = 2
_SHRUG = "Great question! I will be happy to look into that. Is there anything else that I can do?"


def answer_people(slack: Sandbox, channel: str) -> None:
    """From now on, what a person asks in the channel is answered in a thread.

    With what was said to the question there that has the most words in common, or with nothing to the point.
    """
    helper = slack.person(NAME)
    known = {parent.text: said for parent in helper.messages(channel) if (said := _answer(helper, parent))}
    loop, channel_id = asyncio.get_running_loop(), slack.workspace.channel(channel).id

    def answer(entry: Entry) -> None:
        if entry.kind != "message" or entry.data["channel"] != channel_id:
            return
        asked = entry.data["message"]
        if not ({"bot_id", "subtype", "thread_ts"} & asked.keys() or "<@" in asked["text"]):
            loop.call_soon(lambda: helper.post(channel_id, _closest(asked["text"], known), thread_ts=asked["ts"]))

    slack.workspace.journal.watch(answer)


def _answer(helper: Person, parent: Message) -> str | None:
    replies = helper.thread(parent.channel_id, parent.ts)[1:]
    return next((reply.text for reply in replies if reply.author.name == NAME), None)


def _closest(question: str, known: Mapping[str, str]) -> str:
    words = _words(question)
    common, answer = max(((len(words & _words(each)), said) for each, said in known.items()), default=(0, ""))
    return answer if common >= _LEAST_WORDS else _SHRUG


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))
