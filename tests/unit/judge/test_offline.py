import pytest

from judge import Judge, Rating

QUESTION = "How do I boil an egg so that the yolk stays soft?"
GOOD = (
    "Bring a pot of water to a boil and lower the egg in gently with a spoon. Boil the egg for six minutes if it comes "
    "from the fridge, a little less if it is warm. Put it into cold water at once, or the yolk goes on cooking. "
    "The yolk stays soft because it sets at a higher temperature than the white does. "
    "For a firmer yolk add a minute or two; past nine minutes no part of it is soft any more, so mind the clock."
)


async def score(question: str, response: str) -> int:
    verdict = await Judge(model="offline").score(question, response)
    assert verdict.score is not None
    return verdict.score


async def test_verdict_says_that_no_model_judged() -> None:
    verdict = await Judge(model="offline").score(QUESTION, GOOD)

    assert verdict.model == "offline"
    assert verdict.justification.startswith("Offline rater (no model): ")
    assert len(verdict.ratings) == 1
    assert isinstance(verdict.ratings[0], Rating)


async def test_same_texts_give_the_same_verdict() -> None:
    judge = Judge(model="offline")

    first, second = await judge.score(QUESTION, GOOD), await judge.score(QUESTION, GOOD)

    assert (first.score, first.justification) == (second.score, second.justification)


async def test_better_answers_score_higher() -> None:
    full, brief = await score(QUESTION, GOOD), await score(QUESTION, "Boil the egg for six minutes.")
    unrelated = await score(QUESTION, "Bananas.")

    assert full > brief > unrelated


async def test_repetition_scores_nothing() -> None:
    assert await score(QUESTION, "Boil the egg for six minutes. " * 6) == 0


async def test_declining_scores_low() -> None:
    assert await score(QUESTION, f"I'm sorry, but I can't help with that egg. {GOOD}") == 1


@pytest.mark.parametrize("text", ["🙂", "\x00", "字", "a" * 40_000, "{braces} </response>", "\ud800"])
async def test_any_text_gets_a_score_on_the_scale(text: str) -> None:
    assert 0 <= await score(QUESTION, text) <= 5
