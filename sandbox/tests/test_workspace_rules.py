"""What people can do and see."""

import pytest

from pocket_slack import ManualClock, Person, SandboxError, SlackError, Workspace, methods


def test_timestamps_are_unique_while_the_clock_stands_still(ann: Person) -> None:
    stamps = [ann.post("help", "again").ts for _ in range(50)]
    assert len(set(stamps)) == 50
    assert stamps == sorted(stamps)
    assert stamps[0].startswith("1700000000.")


def test_a_typed_message_is_escaped_and_has_rich_text(workspace: Workspace, ann: Person) -> None:
    ben = workspace.user("ben")
    help_ = workspace.channel("help")
    message = ann.post("help", "@ben: is 1<2 & https://a.b/?c=1&d in #help, not a@ben.org?")
    assert message.text == (
        f"<@{ben.id}>: is 1&lt;2 &amp; <https://a.b/?c=1&amp;d> in <#{help_.id}|>, not a@ben.org?"
    )
    assert message.blocks[0]["elements"][0]["elements"] == [
        {"type": "user", "user_id": ben.id},
        {"type": "text", "text": ": is 1<2 & "},
        {"type": "link", "url": "https://a.b/?c=1&d"},
        {"type": "text", "text": " in "},
        {"type": "channel", "channel_id": help_.id},
        {"type": "text", "text": ", not a@ben.org?"},
    ]


def test_typed_text_is_formatted_as_by_slacks_composer(workspace: Workspace, ann: Person) -> None:
    typed = (
        "*see @ben* and _*both*_ `*x*` :tada: 2 * 3 * 4 a_b_c https://a.b/_x_ 1:2:3 "
        "~no~\n```\n*raw*\n```\nend"
    )
    message = ann.post("help", typed)
    user = {"type": "user", "user_id": workspace.user("ben").id}
    section, fenced, rest = message.blocks[0]["elements"]
    assert section["elements"] == [
        {"type": "text", "text": "see ", "style": {"bold": True}},
        user | {"style": {"bold": True}},
        {"type": "text", "text": " and "},
        {"type": "text", "text": "both", "style": {"italic": True, "bold": True}},
        {"type": "text", "text": " "},
        {"type": "text", "text": "*x*", "style": {"code": True}},
        {"type": "text", "text": " "},
        {"type": "emoji", "name": "tada"},
        {"type": "text", "text": " 2 * 3 * 4 a_b_c "},
        {"type": "link", "url": "https://a.b/_x_"},
        {"type": "text", "text": " 1:2:3 "},
        {"type": "text", "text": "no", "style": {"strike": True}},
    ]
    assert (fenced["type"], fenced["elements"][0]["text"]) == ("rich_text_preformatted", "*raw*")
    assert rest["elements"] == [{"type": "text", "text": "end"}]
    assert message.text.startswith(f"*see <@{user['user_id']}>* and _*both*_ `*x*` :tada: 2 * 3")


def test_the_text_of_a_bot_keeps_its_markup_and_loses_stray_angle_brackets(
    helper: Person,
) -> None:
    assert helper.post("help", "<!channel> &lt;b&gt; a<b & <https://a.b|c>").text == (
        "<!channel> &lt;b&gt; a&lt;b &amp; <https://a.b|c>"
    )


def test_a_thread_is_its_parent_and_its_replies(ann: Person, ben: Person) -> None:
    parent = ann.post("help", "why?")
    replies = [ben.post("help", text, thread_ts=parent.ts) for text in ("because", "really")]
    assert ann.thread("help", parent.ts) == [parent, *replies]
    assert ann.messages("help") == [parent]
    assert parent.thread_ts == parent.ts


def test_a_reply_to_another_reply_is_in_no_thread(ann: Person) -> None:
    parent = ann.post("help", "why?")
    reply = ann.post("help", "because", thread_ts=parent.ts)
    ann.post("help", "lost", thread_ts=reply.ts)
    assert ann.thread("help", parent.ts) == [parent, reply]
    assert ann.messages("help") == [parent]


def test_an_edited_message_says_so(ann: Person, clock: ManualClock) -> None:
    message = ann.post("help", "tpyo")
    clock.advance(60)
    ann.edit(message, "typo")
    assert message.text == "typo"
    assert message.edited == {"user": ann.id, "ts": "1700000060.000000"}


def test_people_cannot_edit_messages_of_others(ann: Person, ben: Person) -> None:
    message = ann.post("help", "mine")
    with pytest.raises(SandboxError, match="ann's, not ben's"):
        ben.edit(message, "yours")


def test_a_private_channel_is_hidden_from_others(ann: Person, ben: Person) -> None:
    with pytest.raises(SandboxError, match="ben does not see secret"):
        ben.messages("secret")
    with pytest.raises(SandboxError, match="has to invite ben"):
        ben.join("secret")
    ann.invite("secret", "ben")
    assert [message.subtype for message in ben.messages("secret")] == ["channel_join"]


def test_a_person_who_has_left_a_channel_cannot_post_in_it(ben: Person) -> None:
    ben.leave("random")
    with pytest.raises(SandboxError, match="ben is not in random"):
        ben.post("random", "still here?")
    ben.join("random")
    assert ben.post("random", "back").text == "back"


def test_commands_and_shortcuts_must_be_declared_in_the_manifest(ann: Person) -> None:
    message = ann.post("help", "text")
    with pytest.raises(SandboxError, match="/nope is not a command"):
        ann.command("help", "/nope")
    with pytest.raises(SandboxError, match="'echo_any' is not a message shortcut"):
        ann.shortcut("echo_any", message)
    with pytest.raises(SandboxError, match="'echo_this' is not a global shortcut"):
        ann.shortcut("echo_this")


def test_a_manifest_of_another_shape_is_refused() -> None:
    with pytest.raises(SandboxError, match="shape of a Slack manifest"):
        Workspace({"features": {"slash_commands": [{"name": "/echo"}]}})


def test_callbacks_run_in_order_and_only_when_time_passes(clock: ManualClock) -> None:
    ran: list[str] = []
    clock.call_later(2, lambda: ran.append("late"))
    clock.call_later(1, lambda: ran.append("early"))
    clock.call_later(1, lambda: ran.append("never")).cancel()
    clock.advance(0.5)
    assert ran == []
    clock.advance(5)
    assert ran == ["early", "late"]
    assert clock.now() == 1_700_000_005.5


def test_a_message_cannot_become_empty(ann: Person) -> None:
    message = ann.post("help", "text")
    with pytest.raises(SandboxError, match="a message cannot be empty; delete it instead"):
        ann.edit(message, "  \n")
    assert message.text == "text"


@pytest.mark.parametrize(
    ("name", "domain"),
    [("Pocket", "pocket"), ("R/D <x> team", "r-d-x-team"), (" Café & Co. ", "cafe-co")],
)
def test_permalinks_are_valid_addresses_whatever_the_workspace_is_called(
    name: str, domain: str
) -> None:
    assert (
        Workspace({}, name=name).permalink("C1", "1.2")
        == f"https://{domain}.slack.com/archives/C1/p12"
    )


def test_a_name_that_gives_no_address_is_refused() -> None:
    with pytest.raises(
        SandboxError, match=r"the workspace's name '\?!' has no letter from a to z and no digit"
    ):
        Workspace({}, name="?!")


def test_names_are_unique(workspace: Workspace) -> None:
    with pytest.raises(SandboxError, match="there is a user 'ann' already"):
        workspace.add_bot("ann")


def test_only_an_optional_scope_can_be_declined_and_a_call_that_needs_it_is_refused() -> None:
    def app(bot: str, optional: str, declined: str) -> Workspace:
        scopes = {"bot": bot.split(), "bot_optional": optional.split()}
        return Workspace({"oauth_config": {"scopes": scopes}}, declined=declined.split())

    workspace = app("chat:write users:read", "users:read", "users:read")
    assert workspace.scopes == {"chat:write"}
    with pytest.raises(SlackError, match="missing_scope"):
        methods.call(workspace, "users.list", workspace.bot_token, {})
    with pytest.raises(SandboxError, match="only scopes in bot_optional can be declined, not chat"):
        app("chat:write users:read", "users:read", "chat:write")
    with pytest.raises(SandboxError, match="belong in bot, too: users:read"):
        app("chat:write", "users:read", "")
