from judge import Rating, parse_rating
from tests.tables import each


def justification(completion: str) -> str:
    rating = parse_rating(completion)
    assert isinstance(rating, Rating), rating
    return rating.justification


@each(
    "completion",
    [
        *("score: 4\nIt is clear.", "It is clear.\n\n**Score: 4/5**"),
        *("**Score:** 4\n\n**Justification:** It is clear.", "Score: 4 - It is clear."),
        "```\nscore: 4\nIt is clear.\n```",
        '```json\n{"score": 4, "reason": "It is clear."}\n```',
        "<think>Hm.</think>score: 4\r\n\r\nIt is clear.",
    ],
)
def test_justification_is_the_text_without_the_score_line(completion: str) -> None:
    assert justification(completion) == "It is clear."


def test_justification_over_100_words_is_cut_at_a_sentence_end_and_marked() -> None:
    whole = "word " * 99 + "end."
    sentence = "This sentence has exactly six words. "
    assert (justification("score: 4"), justification(f"score: 4\n{whole}")) == ("", whole)
    text = justification("score: 4\n" + sentence * 40)
    # 16 sentences of 6 words are 96 words; a 17th would make 102.
    assert text == (sentence * 16).strip() + " […]"


@each("word", ["x" * 5_000, "字" * 5_000, "word"])
def test_justification_of_very_long_words_is_cut_too(word: str) -> None:
    text = justification("score: 4\n" + f"{word} " * 300)
    assert len(text.split()) <= 100
    assert len(text) <= 1_010
    assert text.endswith(" […]")
