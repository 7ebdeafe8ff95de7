"""Previews of links: which links get one and when, and what apps are told."""

from typing import Any

import pytest

from pocket_slack import Limits, ManualClock, Person, Workspace, methods
from pocket_slack.previews import AFTER_S
from sandbox.tests.conftest import MANIFEST, populated

WIKI = "https://wiki.example/reset-a_password"
PICTURE = "https://pics.example/a.png"
SECTION = {
    "type": "section",
    "text": {"type": "mrkdwn", "text": f"<{WIKI}|The wiki> and <{PICTURE}|a picture>"},
}
NO_PAGES = {"unfurl_links": False}
NO_MEDIA = {"unfurl_media": False}

PREVIEWED: list[tuple[dict[str, Any], list[str]]] = [
    ({"text": f"See {WIKI}."}, [WIKI]),
    ({"text": f"See <{WIKI}|the wiki>, {WIKI} and {PICTURE}"}, [WIKI, PICTURE]),
    ({"text": "See <https://wiki.example|wiki.example>"}, []),
    ({"text": f"Type `{WIKI}`, ```\n{WIKI}```"}, []),
    ({"text": f"See {WIKI} and {PICTURE}", **NO_PAGES}, [PICTURE]),
    ({"text": f"See {WIKI} and {PICTURE}", **NO_MEDIA}, [WIKI]),
    ({"text": f"See {WIKI} and {PICTURE}", **NO_PAGES, **NO_MEDIA}, []),
    ({"text": "", "blocks": [SECTION]}, [PICTURE]),
    ({"text": "https://pocket.slack.com/archives/C1/p1700000000000100"}, []),
]


@pytest.mark.parametrize(("said", "urls"), PREVIEWED)
def test_links_get_previews_as_the_app_wants_it(said: dict[str, Any], urls: list[str]) -> None:
    workspace = populated(Workspace(MANIFEST, clock=ManualClock(), limits=Limits.off()))
    channel = workspace.channel("help")
    answer = methods.call(
        workspace, "chat.postMessage", workspace.bot_token, {"channel": channel.id, **said}
    )
    found = [each["from_url"] for each in channel.messages[answer["ts"]].attachments]
    assert found == urls


def test_a_preview_comes_a_moment_later_and_is_no_edit(
    workspace: Workspace, ann: Person, clock: ManualClock, wire: Any
) -> None:
    workspace.previews[WIKI] = {"title": "Reset it", "service_name": "The wiki"}
    message = ann.post("help", f"See {WIKI}")
    clock.advance(AFTER_S / 2)
    assert message.attachments == []
    clock.advance(AFTER_S / 2)
    posted, changed = (envelope["payload"]["event"] for envelope in wire.sent)
    assert "attachments" not in posted
    before = changed["previous_message"]
    now = changed["message"]
    assert (changed["subtype"], now.keys() - before.keys()) == ("message_changed", {"attachments"})
    [preview] = now["attachments"]
    assert preview == {
        "id": 1,
        "original_url": WIKI,
        "from_url": WIKI,
        "service_name": "The wiki",
        "title": "Reset it",
        "title_link": WIKI,
        "text": "What wiki.example says of this page.",
        "fallback": "The wiki: Reset it",
    }


def test_an_edit_keeps_the_previews_of_links_that_stay(
    ann: Person, clock: ManualClock, wire: Any
) -> None:
    message = ann.post("help", f"See {WIKI} and {PICTURE}")
    clock.advance(AFTER_S)
    ann.edit(message, f"See {PICTURE} and https://example.com/new")
    assert [each["from_url"] for each in message.attachments] == [PICTURE]
    clock.advance(AFTER_S)
    assert [each["from_url"] for each in message.attachments] == [
        PICTURE,
        "https://example.com/new",
    ]


def test_a_linked_message_and_a_shared_one_name_their_author(
    workspace: Workspace, ann: Person, ben: Person
) -> None:
    message = ben.post("help", "The *VPN* drops")
    secret = ann.post("secret", "Not for everybody")
    link = workspace.permalink(message.channel_id, message.ts)
    [linked] = ann.post(
        "random", f"{link} {workspace.permalink(secret.channel_id, secret.ts)}"
    ).attachments
    [shared] = ann.share(message, "random", "Look").attachments
    its = {"is_msg_unfurl": True, "author_id": ben.id, "text": "The *VPN* drops", "from_url": link}
    assert its.items() <= linked.items()
    assert linked["message_blocks"][0]["message"]["blocks"] == message.blocks
    assert its.items() <= shared.items()
    assert (linked.get("is_share"), linked["original_url"]) == (None, link)
    assert (shared["is_share"], "original_url" in shared) == (True, False)
