"""What is read from one answer, for each format and each kind of doubt."""

from judge import Rating, Unscored, parse_rating
from judge.scoring.reading import parse_score_line
from judge.scoring.rubric import Scale
from tests.tables import each


def outcome(
    completion: str, scale: tuple[int, int] = (0, 5), response: str = ""
) -> tuple[int | None, str]:
    result = parse_rating(completion, scale, response=response)
    return (result.score, "") if isinstance(result, Rating) else (None, result.reason)


@each("mark", ["- ", "1. ", "(a) ", "iv. ", "• ", "– ", "### Relevance\n", "**Relevance**: "])
@each(("gap", "score"), [(" ", "Score: 1 point."), ("\n\n  ", "**Score: 2**")])
def test_item_of_any_length_is_a_step(mark: str, gap: str, score: str) -> None:
    items = [
        f"{mark}{'It is relevant and useful. ' * length}{gap}{score}\n"
        for length in (200, 1, 20, 1)
    ]
    assert outcome("".join(items))[0] is None
    assert outcome("".join(items) + "\n**Total score: 4**") == (4, "")


@each(
    "quote",
    [
        *("The answer closes so:\n**Score:** 5", "It claims: score: 5", 'It says "Score: 5/5".'),
        "It ends: [[5]]",
    ],
)
def test_score_quoted_from_the_response_is_not_the_judges(quote: str) -> None:
    response = "It is Bonn.\n\n*Score: 5*/5, [[5]]"
    assert outcome(quote, response=response) == (None, "not_asserted")
    assert outcome(f"{quote}\n\nscore: 2", response=response) == (2, "")
    assert outcome("score: 4", response=response) == (4, "")


@each(
    "form",
    [
        *("score: {}", "score: {}\nIt is fair.", "It is fair.\n\n**score: {}**"),
        '{{"score": {}, "reason": "Fair."}}',
    ],
)
@each(
    "response", ["score: 0, score: 1, score: 2, score: 3", "It is Bonn. score: 10", '{"score": 5}']
)
def test_judges_own_score_is_read_even_if_the_response_states_it(form: str, response: str) -> None:
    assert [outcome(form.format(score), response=response)[0] for score in range(6)] == [*range(6)]


def test_score_in_the_midst_of_a_sentence_is_in_doubt_whatever_score_the_response_states() -> None:
    assert {outcome(f"It is fair. score: {score}", response="score: 3") for score in range(6)} == {
        (None, "not_asserted")
    }


@each(
    ("words", "reason"),
    [
        ("The film has a rating of 3 in the database, as it says.", "conflicting"),
        ("It ends so: I give it 3 out of 5.", "conflicting"),
        ("It ends so: I cannot assess the picture.", "refused"),
    ],
)
def test_words_of_the_response_do_not_retract_the_judges_score(words: str, reason: str) -> None:
    response = (
        "The film has a rating of 3 in the database, so I give it 3 out of 5. But I cannot "
        "assess the picture."
    )
    assert outcome(f"score: 4\n{words}") == (None, reason)
    assert outcome(f"score: 4\n{words}", response=response) == (4, "")


@each(
    "completion",
    [
        *("score: 4", "Score: 4/5.", '"score: 4"', "```\nscore: 4\n```"),
        *("<think>Or 3?</think>\n\n**Score:** 4\r\n", "4", " 4.\n", "**4**", "(4)", "`4`", "4.0"),
        *("４", "4점", "```\n4\n```", "<think>3</think>4", "$\\boxed{4}$", "4/5", "4 / 5"),
        *("4 out of 5", "4 out of 5.", "4 of 5", "4 points", "4 out of 5 stars", "4 (out of 5)"),
        *("[[4]]", "Rating: 4", "Rating: [[4]]", "[RESULT] 4", "Grade: 4", "score = 4"),
        *("Score (0-5): 4", "Score\n\n4", '{"score": 4}', '```json\n{"score": 4}\n```'),
        *("| Score | 4 |", "<score>4</score>", "<answer>\nscore: 4\n</answer>"),
        *('{"score": 4, "reason": "Fair."}', "score: 4\nFair.", "score: 4. It is fair."),
        *("Score: 4 because it is fair", "score: 4\n\nIt has 3 of 5 steps.", "Final score: 4/5"),
        *("**Total score: 4 points**", "The score is 4.", "My rating is 4 out of 5.", "점수: 4"),
    ],
)
def test_second_answer_can_give_its_score_in_any_format(completion: str) -> None:
    result = parse_score_line(completion, Scale(0, 5))
    assert isinstance(result, Rating), result
    assert result.score == 4


@each(
    "completion",
    [
        *("", "N", "score: N", "score:", "four", "the score", "<think>score: 4", "<think>4", "7"),
        *("-1", "score: 7", "4/10", "4 out of 10", "score: 4/10", "Score (1-10): 4", "4.5", "4,5"),
        *("score: 4.5", "4/", "4 out of", "3-4", "3 - 4", "3 to 4", "3 or 4", "3, 4", "3 4"),
        *("3\n4", "1. 4", "score: 3\nscore: 4", "<4", "score: < 4", "~4", "4+", "4%", "4?"),
        *("4 apples", "4 because it is fair", "4 (fair)", "4\n\nFair.", "score: 4\nscore: 3"),
        *("score: 4\n3", "score: 4. No, 3.", "[[4", "It is a score: 4", "Relevance: 4"),
        *("Relevance score: 4", "Score: 4 (relevance)", "not 4", "The score is not 4."),
        *("It gets 4 of 5 points.", "4 of 5 steps are right", "1. Justification:"),
        *('{"score": 4, "depth": 3}', "<response>4</response>", "<depth>4</depth>"),
    ],
)
def test_second_answer_with_anything_else_is_unscored(completion: str) -> None:
    assert isinstance(parse_score_line(completion, Scale(0, 5)), Unscored)
