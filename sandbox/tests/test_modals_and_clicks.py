"""Modals, home tabs, clicks, and the triggers that come with them."""

from typing import Any

import pytest

from pocket_slack import (
    ManualClock,
    Person,
    RefusedError,
    SandboxError,
    SlackError,
    Workspace,
    methods,
)
from sandbox.tests.page.every_block import plain

Call = Any
Refused = Any
Wire = Any


def text_input(block_id: str, **element: Any) -> dict[str, Any]:
    typed = {"type": "plain_text_input", "action_id": f"{block_id}_typed", **element}
    return {"type": "input", "block_id": block_id, "label": plain(block_id), "element": typed}


def modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    view = {"type": "modal", "callback_id": "ask", "title": plain("Ask"), "submit": plain("Send")}
    return {**view, "blocks": list(blocks), **more}


def trigger(workspace: Workspace, name: str = "ann") -> str:
    return workspace.grants.new_trigger(workspace.user(name).id)


@pytest.fixture
def open_view(workspace: Workspace, call: Call) -> Call:
    """Opens a window for ann."""
    return lambda view: call("views.open", trigger_id=trigger(workspace), view=view)["view"]


SIZES = [{"text": plain(name), "value": name.lower()} for name in ("Small", "Large")]
MENU = {"type": "static_select", "action_id": "size", "options": SIZES}
BUTTON = {"type": "button", "action_id": "go", "text": plain("Go"), "value": "7"}


def test_a_trigger_opens_one_modal_within_three_seconds(
    workspace: Workspace, call: Call, refused: Refused, clock: ManualClock
) -> None:
    good = trigger(workspace)
    late = trigger(workspace)
    clock.advance(2.9)
    call("views.open", trigger_id=good, view=modal())
    assert refused("views.open", trigger_id=good, view=modal()).code == "exchanged_trigger_id"
    clock.advance(0.2)
    assert refused("views.open", trigger_id=late, view=modal()).code == "expired_trigger_id"
    unknown = refused("views.open", trigger_id="1.2.3", view=modal())
    assert (unknown.code, unknown.messages) == ("invalid_arguments", ["invalid `trigger_id`"])


def test_a_view_that_slack_cannot_read_leaves_the_trigger_unused(
    workspace: Workspace, call: Call, refused: Refused
) -> None:
    trigger_id = trigger(workspace)
    assert (
        refused("views.open", trigger_id=trigger_id, view=modal(title=plain("x" * 25))).code
        == "invalid_arguments"
    )
    assert call("views.open", trigger_id=trigger_id, view=modal())["view"]["callback_id"] == "ask"


def test_a_view_has_all_its_documented_keys(open_view: Call) -> None:
    view = open_view(modal(text_input("q")))
    assert set(view) == {
        "id", "team_id", "type", "blocks", "private_metadata", "callback_id", "state", "hash", "title",
        "clear_on_close", "notify_on_close", "close", "submit", "submit_disabled", "previous_view_id",
        "root_view_id", "app_id", "external_id", "app_installed_team_id", "bot_id",
    }  # fmt: skip
    assert view["root_view_id"] == view["id"]
    assert view["state"]["values"] == {
        "q": {"q_typed": {"type": "plain_text_input", "value": None}}
    }


def test_an_update_with_an_old_hash_is_a_conflict(
    call: Call, refused: Refused, open_view: Call
) -> None:
    view = open_view(modal())
    newer = call(
        "views.update", view_id=view["id"], hash=view["hash"], view=modal(callback_id="two")
    )["view"]
    assert newer["hash"] != view["hash"]
    assert (
        refused("views.update", view_id=view["id"], hash=view["hash"], view=modal()).code
        == "hash_conflict"
    )
    assert refused("views.update", view_id="V0", view=modal()).code == "not_found"


def test_an_update_keeps_typed_values_of_inputs_with_the_same_ids(
    ann: Person, call: Call, open_view: Call
) -> None:
    view = open_view(modal(text_input("q"), text_input("r")))
    ann.fill({"q_typed": "kept", "r_typed": "lost"})
    values = call("views.update", view_id=view["id"], view=modal(text_input("q"), text_input("s")))[
        "view"
    ]["state"]
    assert values["values"]["q"]["q_typed"]["value"] == "kept"
    assert values["values"]["s"]["s_typed"]["value"] is None


def test_at_most_three_modals_are_stacked(
    workspace: Workspace, call: Call, refused: Refused, open_view: Call
) -> None:
    first = open_view(modal())
    second = call("views.push", trigger_id=trigger(workspace), view=modal())["view"]
    assert (second["root_view_id"], second["previous_view_id"]) == (first["id"], first["id"])
    call("views.push", trigger_id=trigger(workspace), view=modal())
    assert (
        refused("views.push", trigger_id=trigger(workspace), view=modal()).code
        == "push_limit_reached"
    )


def test_the_client_refuses_values_that_the_inputs_do_not_allow(
    ann: Person, wire: Wire, open_view: Call
) -> None:
    blocks = [
        text_input("q", min_length=3, max_length=5),
        text_input("r"),
        {**text_input("o"), "optional": True},
    ]
    open_view(modal(*blocks))
    for typed, reason in (("ab", "at least 3"), ("abcdef", "no more than 5")):
        with pytest.raises(RefusedError) as caught:
            ann.submit({"q_typed": typed})
        assert reason in caught.value.errors["q"]
        assert "required" in caught.value.errors["r"]
        assert "o" not in caught.value.errors
    assert wire.sent == []


def test_a_submission_carries_every_value(ann: Person, wire: Wire, open_view: Call) -> None:
    boxes = {"type": "checkboxes", "action_id": "boxes", "options": SIZES}
    blocks = [
        text_input("q"),
        {
            "type": "input",
            "block_id": "m",
            "label": plain("Menu"),
            "element": MENU,
            "optional": True,
        },
        {"type": "actions", "block_id": "a", "elements": [boxes]},
    ]
    open_view(modal(*blocks, private_metadata="case 7"))
    ann.submit({"q_typed": "words", "size": "large", "boxes": ["small"]})
    payload = wire.sent[0]["payload"]
    assert payload["type"] == "view_submission"
    assert payload["response_urls"] == []
    assert payload["view"]["private_metadata"] == "case 7"
    values = payload["view"]["state"]["values"]
    assert values["q"]["q_typed"] == {"type": "plain_text_input", "value": "words"}
    assert values["m"]["size"]["selected_option"]["value"] == "large"
    assert [option["value"] for option in values["a"]["boxes"]["selected_options"]] == ["small"]


@pytest.mark.parametrize(
    ("response", "left"),
    [
        (None, ["first"]),
        ({"response_action": "clear"}, []),
        ({"response_action": "update", "view": modal(callback_id="new")}, ["first", "new"]),
        ({"response_action": "push", "view": modal(callback_id="new")}, ["first", "second", "new"]),
        ({"response_action": "errors", "errors": {"q": "No."}}, ["first", "second"]),
        ({"response_action": "update", "view": {"type": "modal"}}, ["first", "second"]),
    ],
)
def test_the_ack_of_a_submission_decides_which_modals_are_open(
    workspace: Workspace,
    ann: Person,
    call: Call,
    wire: Wire,
    response: dict[str, Any] | None,
    left: list[str],
    open_view: Call,
) -> None:
    open_view(modal(callback_id="first"))
    call(
        "views.push",
        trigger_id=trigger(workspace),
        view=modal(text_input("q"), callback_id="second"),
    )
    delivery = ann.submit({"q_typed": "words"})
    workspace.deliveries.ack(delivery.envelope_id, response)
    assert [view.body["callback_id"] for view in workspace.stacks[ann.id]] == left


def test_errors_are_shown_beside_their_inputs(
    workspace: Workspace, ann: Person, wire: Wire, open_view: Call
) -> None:
    open_view(modal(text_input("q")))
    delivery = ann.submit({"q_typed": "words"})
    workspace.deliveries.ack(
        delivery.envelope_id, {"response_action": "errors", "errors": {"q": "No."}}
    )
    assert ann.view.errors == {"q": "No."}
    assert ann.view.values["q"]["q_typed"]["value"] == "words"


def test_a_submission_without_an_ack_stays_open_with_slacks_own_error(
    ann: Person, wire: Wire, clock: ManualClock, open_view: Call
) -> None:
    open_view(modal())
    ann.submit()
    clock.advance(4)
    assert "trouble connecting" in ann.view.errors[""]


def test_the_app_gets_an_event_for_a_closed_modal_only_if_it_asked(
    ann: Person, wire: Wire, open_view: Call
) -> None:
    open_view(modal())
    assert ann.close() is None
    open_view(modal(notify_on_close=True))
    ann.close()
    [envelope] = wire.sent
    assert envelope["payload"]["type"] == "view_closed"
    assert envelope["payload"]["is_cleared"] is False
    assert ann.view is None


def test_a_home_tab_is_published_for_one_user(
    ann: Person, ben: Person, call: Call, refused: Refused
) -> None:
    home = {"type": "home", "blocks": [{"type": "section", "text": plain("Welcome")}]}
    view = call("views.publish", user_id=ann.id, view=home)["view"]
    assert ann.home is not None
    assert ben.home is None
    again = call("views.publish", user_id=ann.id, view=home, hash=view["hash"])["view"]
    assert again["id"] == view["id"]
    assert (
        refused("views.publish", user_id=ann.id, view=home, hash=view["hash"]).code
        == "hash_conflict"
    )


def test_a_click_in_a_message_says_where_it_was(
    workspace: Workspace, help_id: str, ann: Person, call: Call, wire: Wire
) -> None:
    blocks = [{"type": "actions", "block_id": "a", "elements": [BUTTON, MENU]}]
    parent = ann.post("random", "elsewhere")
    ts = call("chat.postMessage", channel=help_id, text="x", blocks=blocks, thread_ts=parent.ts)[
        "ts"
    ]
    wire.sent.clear()
    message = workspace.channels[help_id].messages[ts]
    ann.click(message, "size", "large")
    ann.click(message, "go")
    chosen, clicked = (envelope["payload"] for envelope in wire.sent)
    assert chosen["actions"][0]["selected_option"]["value"] == "large"
    assert clicked["actions"][0]["value"] == "7"
    assert clicked["actions"][0]["block_id"] == "a"
    assert clicked["state"]["values"]["a"]["size"]["selected_option"]["value"] == "large"
    assert clicked["container"] == {
        "type": "message",
        "message_ts": ts,
        "channel_id": help_id,
        "is_ephemeral": False,
        "thread_ts": parent.ts,
    }
    assert clicked["message"]["ts"] == ts


def test_feedback_buttons_send_the_value_of_the_side_that_was_pressed(
    help_id: str, ann: Person, call: Call, wire: Wire
) -> None:
    sides = {
        f"{side}_button": {"text": plain(side), "value": side} for side in ("positive", "negative")
    }
    thumbs = {"type": "feedback_buttons", "action_id": "thumbs", **sides}
    blocks = [{"type": "context_actions", "elements": [thumbs]}]
    call("chat.postMessage", channel=help_id, text="x", blocks=blocks)
    wire.sent.clear()
    ann.click(ann.messages("help")[0], "thumbs", "negative")
    action = wire.sent[0]["payload"]["actions"][0]
    assert (action["type"], action["value"], action["text"]["text"]) == (
        "feedback_buttons",
        "negative",
        "negative",
    )
    with pytest.raises(
        SandboxError, match="no option 'sideways' in 'thumbs'; there are positive, negative"
    ):
        ann.click(ann.messages("help")[0], "thumbs", "sideways")


def test_buttons_in_cards_and_containers_are_clicked_in_their_own_block(
    help_id: str, ann: Person, call: Call, wire: Wire
) -> None:
    cards = [
        {"type": "card", "title": plain("A"), "actions": [{**BUTTON, "action_id": name}]}
        for name in ("a", "b")
    ]
    child = {"type": "actions", "elements": [MENU]}
    blocks = [
        {"type": "carousel", "elements": cards},
        {"type": "container", "title": plain("C"), "child_blocks": [child]},
    ]
    call("chat.postMessage", channel=help_id, text="x", blocks=blocks)
    wire.sent.clear()
    message = ann.messages("help")[0]
    ann.click(message, "b")
    ann.click(message, "size", "large")
    carousel, container = message.blocks
    clicked = [envelope["payload"]["actions"][0]["block_id"] for envelope in wire.sent]
    assert clicked == [
        carousel["elements"][1]["block_id"],
        container["child_blocks"][0]["block_id"],
    ]


def test_a_click_in_an_ephemeral_message_has_no_message_in_its_payload(
    help_id: str, ann: Person, call: Call, wire: Wire
) -> None:
    blocks = [{"type": "actions", "elements": [BUTTON]}]
    call(
        "chat.postEphemeral",
        channel=help_id,
        user=ann.id,
        text="x",
        blocks=blocks,
    )
    ann.click(ann.ephemerals("help")[0], "go")
    payload = wire.sent[0]["payload"]
    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload


def test_the_value_of_a_removed_input_does_not_come_back(
    ann: Person, call: Call, open_view: Call
) -> None:
    view = open_view(modal(text_input("q")))
    ann.fill({"q_typed": "gone"})
    call("views.update", view_id=view["id"], view=modal())
    state = call("views.update", view_id=view["id"], view=modal(text_input("q")))["view"]["state"]
    assert state["values"]["q"]["q_typed"]["value"] is None


def test_an_external_id_is_unique_among_open_views(
    workspace: Workspace, call: Call, refused: Refused, open_view: Call
) -> None:
    open_view(modal(external_id="one"))
    again = refused(
        "views.open", trigger_id=trigger(workspace, "ben"), view=modal(external_id="one")
    )
    assert again.code == "duplicate_external_id"
    assert (
        call("views.update", external_id="one", view=modal(external_id="one"))["view"][
            "external_id"
        ]
        == "one"
    )


def test_a_home_tab_needs_to_be_enabled_in_the_manifest(clock: ManualClock) -> None:
    workspace = Workspace({}, clock=clock)
    ann = workspace.add_user("ann")
    with pytest.raises(SlackError) as caught:
        methods.call(
            workspace,
            "views.publish",
            workspace.bot_token,
            {"user_id": ann.id, "view": {"type": "home", "blocks": []}},
        )
    assert caught.value.code == "not_enabled"
    with pytest.raises(SandboxError, match="home_tab_enabled"):
        Person(workspace, "ann").open_home()


def test_clicks_in_messages_of_other_apps_are_not_sent_to_the_app(
    ann: Person, helper: Person, wire: Wire
) -> None:
    message = helper.post("help", "x", blocks=[{"type": "actions", "elements": [BUTTON]}])
    with pytest.raises(SandboxError, match="another app's"):
        ann.click(message, "go")


def test_an_ephemeral_message_offers_no_shortcuts(help_id: str, ann: Person, call: Call) -> None:
    call("chat.postEphemeral", channel=help_id, user=ann.id, text="x")
    with pytest.raises(SandboxError, match="no shortcuts"):
        ann.shortcut("echo_this", ann.ephemerals("help")[0])


@pytest.mark.parametrize("kind", ["user", "channel", "conversation"])
def test_people_and_channels_may_be_named_and_the_app_gets_ids(
    workspace: Workspace, help_id: str, ann: Person, wire: Wire, kind: str, open_view: Call
) -> None:
    named = "@ben" if kind == "user" else "help"
    id_ = workspace.user("ben").id if kind == "user" else help_id
    one, many = (
        {"type": f"{which}{kind}s_select", "action_id": f"{which}who"} for which in ("", "multi_")
    )
    asked = {"type": "input", "block_id": "asked", "label": plain("Who"), "element": many}
    section = {"type": "section", "block_id": "at_once", "text": plain("Who"), "accessory": one}
    open_view(modal(asked, section))
    for chosen in (named, id_):
        ann.click(ann.view, "who", chosen)
        assert wire.sent[-1]["payload"]["actions"][0][f"selected_{kind}"] == id_
        assert ann.fill({"multi_who": [chosen]}).values["asked"]["multi_who"][
            f"selected_{kind}s"
        ] == [id_]
    workspace.add_channel("others", [workspace.user("ben")], is_private=True)
    wrong = {
        "user": ("nobody", "no user"),
        "channel": ("secret", "not a public"),
        "conversation": ("others", "not see"),
    }
    with pytest.raises(SandboxError, match=wrong[kind][1]):
        ann.fill({"multi_who": [wrong[kind][0]]})
