"""`judge-bot export --questions`: a row for each question, without words."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.clock import utc_now
from bot.store import Store
from bot.store.seen_messages import SeenMessages
from tests.gestures import export


@pytest.mark.needs("outcome", "watch")
async def test_questions_are_written_with_what_came_of_them(log: Store, tmp_path: Path) -> None:
    from bot.features.watch.queries import WatchOrders
    from tests.features.outcome.test_outcomes import START, a_message
    from tests.features.watch.watching import WATCH

    asked_at = utc_now() - timedelta(days=3)
    begin = asked_at.timestamp() - START
    whole_at = asked_at + timedelta(seconds=40.25)
    mentions = (WATCH.author_id,)
    messages = (
        a_message(begin, "U2", mentions=mentions, text_hash="secret"),
        a_message(begin + 12, WATCH.author_id, begin, is_app=True, finished_at=whole_at),
        a_message(begin + 3600, "U2", mentions=mentions),
    )
    await WatchOrders(log.database).save(WATCH, "U9")
    for message in messages:
        await SeenMessages(log.database).note(message)
    code, out, err = await export(tmp_path, "--questions")
    assert (code, err) == (0, "2 questions written\n")
    first, second = map(json.loads, out.splitlines())
    assert (first["first_words_s"], first["answered_s"]) == (12, 40.2)
    assert first["outcome"] == "went quiet"
    assert (second["first_words_s"], second["outcome"]) == (None, "unanswered")
    assert "secret" not in out
    assert "U2" not in out
    for _ in range(2):  # over its own file
        code, _, _ = await export(tmp_path, "--questions", "-o", "questions.csv")
        assert code == 0
    for narrowed in (["--channel", "C2"], ["--team", "T2"], ["--since", f"{utc_now():%Y-%m-%d}"]):
        assert await export(tmp_path, "--questions", *narrowed) == (0, "", "0 questions written\n")
    code, _, err = await export(tmp_path, "--questions", "--low")
    assert (code, "--low cannot be combined with --questions" in err) == (2, True)
