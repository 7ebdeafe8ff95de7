"""Long answers: read as a whole, kept in part."""

import pytest
from openai import AsyncOpenAI

from judge import Judge, UnscoredReason
from tests.model_server import ModelServer

QUESTION, RESPONSE = "Why is the sky blue at noon?", "Because air scatters blue light most."


async def raw_of(client: AsyncOpenAI) -> str:
    """The answer as the only rating keeps it."""
    [rating] = (await Judge(model="m", samples=1, client=client).score(QUESTION, RESPONSE)).ratings
    return rating.raw


@pytest.mark.parametrize(
    ("text", "score"), [(f"<think>{'hm ' * 30_000}</think>\nscore: 4\nGood.", 4), (f"Hm{', hm' * 30_000}", None)]
)
async def test_long_answer_is_read_whole_and_its_beginning_and_end_are_kept(
    model_server: ModelServer, client: AsyncOpenAI, text: str, score: int | None
) -> None:
    model_server.script(text)
    verdict = await Judge(model="m", samples=1, client=client).score(QUESTION, RESPONSE)
    [rating] = verdict.ratings
    assert verdict.score == score
    assert 19_990 < len(rating.raw) <= 20_000
    beginning, end = rating.raw.split("\n[…]\n")
    assert text.startswith(beginning)
    assert text.endswith(end)
    assert abs(len(beginning) - len(end)) < 2
    if verdict.unscored:
        assert (verdict.unscored.reason, verdict.unscored.raw) == (UnscoredReason.NO_SCORE, rating.raw)


async def test_two_answers_are_kept_within_the_same_limit(model_server: ModelServer, client: AsyncOpenAI) -> None:
    model_server.script(f"Hm{', hm' * 5_000}", f"<think>{'hm ' * 5_000}</think>score: 4")
    raw = await raw_of(client)
    assert 19_990 < len(raw) <= 20_000
    assert raw.startswith("Hm, hm")
    assert raw.endswith("</think>score: 4")


async def test_answer_of_20_000_characters_is_kept_unchanged(model_server: ModelServer, client: AsyncOpenAI) -> None:
    text = "score: 4\n" + "x" * 19_991
    model_server.script(text, text + "x")
    assert await raw_of(client) == text
    assert "\n[…]\n" in await raw_of(client)


async def test_justification_of_one_very_long_word_is_cut(model_server: ModelServer, client: AsyncOpenAI) -> None:
    model_server.script("score: 4\n" + "x" * 900_000)
    verdict = await Judge(model="m", samples=1, client=client).score(QUESTION, RESPONSE)
    assert verdict.score == 4
    assert len(verdict.justification) < 1_010
    assert verdict.justification.endswith(" […]")
