"""`judge-bot view`: what a channel may see, in one page, and nothing of what it may not."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from bot.domain.case import CaseSource, CaseTurn, Part
from bot.domain.label import Label
from bot.store import Store
from bot.store.schema import cases, labels
from tests.cases import delivered, judged, url
from tests.programs import OPERATOR, command

SAID = CaseTurn(
    part=Part.CONVERSATION, ts="1.1", author_id="UBEN", role="Person 1", text="Hm.", text_hash=""
)
TALK = {"turns": (SAID,), "messages_before": 1}


async def viewed(folder: Path, *options: str) -> dict[str, Any]:
    """The data of the page."""
    code, out, err = await _view(folder, "-o", "page.html", *options)
    assert (code, err) == (0, "")
    page = (folder / "page.html").read_text(encoding="utf-8")
    begins = '<script id="data" type="application/json">'
    data = dict(json.loads(page.partition(begins)[2].partition("</script>")[0]))
    number = len(data["replies"])
    assert out.startswith(f"page.html: {number:,} {'reply' if number == 1 else 'replies'}, ")
    return data


async def refusal(folder: Path, *options: str) -> str:
    code, out, err = await _view(folder, *options)
    assert (code, out) == (2, "")
    return err


async def _view(folder: Path, *options: str) -> tuple[int, str, str]:
    given = ("--channel", "C1", *options)  # of two, the last counts
    return await command("view", url(folder), folder, *given)


async def test_page_has_the_channels_replies_with_ratings_and_labels_and_no_names(
    log: Store, tmp_path: Path
) -> None:
    case = await delivered(
        log, "a", requester_id="UANN", requester_name="Ann Smith", author_id="UBOT", **TALK
    )
    await log.labels.put(case, "UBEN", Label(1, "Wrong."))
    blind = {"is_blind": True, "probability": 0.25}
    await log.database.execute(update(labels).where(labels.c.user_id == "U9").values(blind))
    await delivered(log, "elsewhere", channel_id="C2")
    await delivered(log, "of another team", team_id="T2", channel_id="C3")
    await log.names.note("T1", "C1", "help-desk")
    data = await viewed(tmp_path)
    (reply,) = data["replies"]
    assert (data["title"], reply["name"], reply["score"]) == ("#help-desk", "Case 1", 4)
    assert (reply["question"], reply["response"]) == ("Why?", "Because.")
    assert reply["before"] == [["Person 1", "Hm."]]
    assert reply["ratings"] == [{"model": "m", "score": 4, "words": "Good."}]
    assert reply["labels"] == [
        {"score": 3, "blind": True, "reason": ""},
        {"score": 1, "blind": False, "reason": "Wrong."},
    ]
    assert dict(reply["facts"])["Usable ratings"] == "1 of 1"
    assert not [
        name for name in ("UBEN", "UANN", "UBOT", "U9", "Smith") if name in json.dumps(data)
    ]


async def test_random_replies_have_a_page_of_their_own_and_are_named_elsewhere(
    log: Store, tmp_path: Path
) -> None:
    watched = {"source": CaseSource.WATCH, "probability": 0.2}
    case = await judged(log, "drawn", message_ts="2.2", **watched)
    await log.labels.put(case, "UBEN", Label(1, "Wrong."))
    hint = "no reply that people chose was scored there; --watched shows those that watches drew"
    assert hint in await refusal(tmp_path)
    _, _, err = await command("export", url(tmp_path), tmp_path, "-o", "labels.jsonl")
    assert err == "0 labels written\n--watched writes those of replies that watches drew\n"
    await judged(log, "chosen", message_ts="1.1")
    for options, title, kind in (
        ((), "C1", "chosen"),
        (("--watched",), "C1, random replies", "drawn"),
    ):
        data = await viewed(tmp_path, *options)
        responses = [reply["response"] for reply in data["replies"]]
        assert (data["title"], responses) == (title, [f"Because of {kind}."])


async def test_since_leaves_out_what_was_judged_before(log: Store, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    old = await judged(log, "old")
    await judged(log, "new")
    long_ago = {"judged_at": now - timedelta(days=9)}
    await log.database.execute(update(cases).filter_by(id=old.id).values(long_ago))
    day = f"{now - timedelta(days=3):%Y-%m-%d}"
    data = await viewed(tmp_path, "--since", day)
    assert data["title"] == f"C1 since {day}"
    assert [reply["response"] for reply in data["replies"]] == ["Because of new."]
    assert "since 2999-01-01; --watched shows" in await refusal(tmp_path, "--since", "2999-01-01")


async def test_without_kept_texts_there_are_none_on_the_page(log: Store, tmp_path: Path) -> None:
    case = await delivered(log, "a")
    await log.labels.put(case, "UBEN", Label(1, "Wrong words."))
    (tmp_path / ".env").write_text("STORE_TEXT=none\n")
    data = await viewed(tmp_path)
    (reply,) = data["replies"]
    assert (reply["score"], len(reply["labels"]), len(reply["ratings"])) == (4, 2, 1)
    for words in ("Why?", "Because.", "Good.", "Wrong words."):
        assert words not in json.dumps(data)


async def test_unscored_replies_say_why_in_few_words(log: Store, tmp_path: Path) -> None:
    case = await judged(log, "unscored", score=None)
    detail = {"unscored_detail": "secret words of a server"}
    await log.database.execute(update(cases).filter_by(id=case.id).values(detail))
    data = await viewed(tmp_path)
    assert data["replies"][0]["unscored"] == "no reliable score in the model's answer"
    assert "secret words" not in json.dumps(data)


@pytest.mark.parametrize("channel", ["D1", "T2/C1"])
async def test_channel_without_anything_to_show_is_a_sentence(
    log: Store, tmp_path: Path, channel: str
) -> None:
    await judged(log, "a")
    await judged(log, "direct", channel_id="D1")
    said = f"--channel {channel!r}: no score there was visible to the whole channel"
    assert said in await refusal(tmp_path, "--channel", channel)


async def test_who_made_a_page_of_which_channel_is_noted_first(log: Store, tmp_path: Path) -> None:
    await judged(log, "a")
    await viewed(tmp_path)
    (act,) = await log.audit.since()
    assert (act.team_id, act.who) == ("T1", OPERATOR)
    assert (act.what, act.channel_id) == ("exported_channel", "C1")
    held = "CREATE TRIGGER held BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'held'); END"
    await log.database.execute(text(held))
    assert "the database cannot be written (held); nothing was exported" in await refusal(tmp_path)
    assert not (tmp_path / "C1.html").exists()
