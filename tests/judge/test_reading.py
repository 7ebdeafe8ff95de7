"""What is read from one answer, for each format and each kind of doubt."""

from judge import Rating, Unscored, UnscoredReason, parse_rating
from judge.scoring.reading import parse_score_line
from judge.scoring.rubric import Scale
from tests.tables import each


def outcome(
    completion: str, scale: tuple[int, int] = (0, 5), response: str = ""
) -> tuple[int | None, str]:
    result = parse_rating(completion, scale, response=response)
    return (result.score, "") if isinstance(result, Rating) else (None, result.reason)


@each(
    "completion",
    [
        "score: 4\nIt answers the question.",
        "**Score:** 4\n**Justification:** It answers the question.",
        "## Score\n\n4\n\nIt answers the question.",
        "It answers the question.\n\nTotal score: 4 points.",
        "It answers the question. It therefore receives a score of 4 points.",
        "On a scale of 0 to 5, I would score this response a 4. It answers the question.",
        'It answers the question. My verdict is: "score: 4".',
        '{"score": 4, "reason": "It answers the question."}',
        "<score>4</score> It answers the question.",
        "```\nscore: 4\n```\nIt answers the question.",
        "It answers the question. [RESULT] 4",
        "It answers the question: [[4]]",
        "점수: 4",
        "得分：４分",
        "이 답변은 4점으로 평가하겠습니다.",
        "The final score is $\\boxed{4}$.",
        "- score: 4\n- It answers the question.",
        "<think>Perhaps score: 2? No, score: 3.</think>\nscore: 4\nIt answers the question.",
        "<|channel|>analysis<|message|>score: 2<|channel|>final<|message|>score: 4",
        "score: 4\nIt answers the question, but does not earn a perfect score of 5.",
        "score: 4\nIt rambles, which keeps it from a score of 5.",
        "score: 4\nIt gives 3 of the 5 steps and gets 2 points right.",
    ],
)
def test_score_is_read_in_every_format(completion: str) -> None:
    result = parse_rating(completion)
    assert isinstance(result, Rating), result
    assert (result.score, result.raw) == (4, completion)


@each(
    ("completion", "reason"),
    [
        ("", UnscoredReason.EMPTY),
        ("Score: 10", UnscoredReason.OFF_SCALE),
        ("Score: 4/10", UnscoredReason.OFF_SCALE),
        ("Score (1-10): 4", UnscoredReason.OFF_SCALE),
        ("Score: 4.5", UnscoredReason.NOT_WHOLE),
        ("Score: 3-4", UnscoredReason.UNCLEAR),
        ("Score: 4 or 5", UnscoredReason.UNCLEAR),
        ("Score: 1 for relevance", UnscoredReason.UNCLEAR),
        ("Relevance score: 4", UnscoredReason.UNCLEAR),
        ("Score: 4; 2", UnscoredReason.UNCLEAR),
        ("Score: [4], [2]", UnscoredReason.UNCLEAR),
        ("Rating: [[5], [1], [2]]", UnscoredReason.UNCLEAR),
        ("Score: 3\nIt is relevant. So it receives only 1 point.", UnscoredReason.CONFLICTING),
        ("Score: 4/", UnscoredReason.TRUNCATED),
        ("The response is good.\nScore:", UnscoredReason.TRUNCATED),
        ("<think>It should be score: 4", UnscoredReason.TRUNCATED),
        ("score: <total points>", UnscoredReason.ECHOED),
        ("score: N", UnscoredReason.ECHOED),
        ("Rating: [[1", UnscoredReason.TRUNCATED),
        ('{"reason": "Fair.", "score": 4', UnscoredReason.TRUNCATED),
        ("**Score: 1", UnscoredReason.TRUNCATED),
        ("It asks for a score of 5.", UnscoredReason.NOT_ASSERTED),
        ("Score: 4\nScore: 2", UnscoredReason.CONFLICTING),
        ("Score: 1 point for relevance. Score: 2", UnscoredReason.CONFLICTING),
        ("Score: 4\n\nTherefore, the score is 3.", UnscoredReason.CONFLICTING),
        ('The response ends with "score: 5". score: 2', UnscoredReason.CONFLICTING),
        ('The response ends with "score: 5".', UnscoredReason.NOT_ASSERTED),
        ("The response does not deserve a score of 5.", UnscoredReason.NOT_ASSERTED),
        ('For example: "Score: 3" or "Score: 4.5"', UnscoredReason.NOT_ASSERTED),
        ("> score: 5", UnscoredReason.NOT_ASSERTED),
        ("<response>score: 5</response>", UnscoredReason.NO_SCORE),
        ("```python\nscore = 4\n```", UnscoredReason.NO_SCORE),
        ("I'm sorry, but I can't help with that.", UnscoredReason.REFUSED),
        ("The capital of France is Paris.", UnscoredReason.NO_SCORE),
        (
            "It is relevant, so we award 1 point. It is useful, so it earns 3 points.",
            UnscoredReason.NO_SCORE,
        ),
        ("4", UnscoredReason.NO_SCORE),
    ],
)
def test_doubtful_answer_is_unscored_with_a_reason(completion: str, reason: UnscoredReason) -> None:
    result = parse_rating(completion)
    assert isinstance(result, Unscored)
    assert result.reason is reason
    assert result.detail.endswith(".")
    assert result.raw == completion


@each("score", range(6))
def test_repeated_score_is_read_even_if_it_is_low(score: int) -> None:
    # An earlier reader took the second 1 for a step of a tally, and so left low scores unread.
    assert outcome(f"Score: {score}\n\nSo it is. Therefore, the score is {score}.") == (score, "")
    assert outcome(f"Score: {score}\n\nSo it is.\n\nScore: {score}") == (score, "")


@each(
    "completion",
    [
        "1. Relevant. Score: 1\n2. Substantial. Score: 1\n3. Usef",
        "- Score: 1 - relevant\n- Score: 1 - substantial\n- Score: 1",
        "Score: 1\nRelevant.\nScore: 1\nSubstantial.\nScore: 1",
        "Score: 1\nRelevant.\nScore: 1\nSubstantial",
        *("* **Relevance:** Score: 1 - yes\n* **Coverage:** it cov", "1. Relevance: score: 1"),
        *("1. Score: 1", "* **Relevance:** [[1]] - it names the topic"),
        *("1. Relevance\nScore: 1\nIt names the topic.", "### Criterion 1: Relevance\nScore: 1"),
    ],
)
def test_steps_of_a_tally_without_a_total_are_not_a_score(completion: str) -> None:
    assert outcome(completion)[0] is None


@each("mark", ["- ", "1. ", "(a) ", "iv. ", "• ", "– ", "### Relevance\n", "**Relevance**: "])
@each(("gap", "score"), [(" ", "Score: 1 point."), ("\n\n  ", "**Score: 2**")])
def test_item_of_any_length_is_a_step(mark: str, gap: str, score: str) -> None:
    items = [
        f"{mark}{'It is relevant and useful. ' * length}{gap}{score}\n"
        for length in (200, 1, 20, 1)
    ]
    assert outcome("".join(items))[0] is None
    assert outcome("".join(items) + "\n**Total score: 4**") == (4, "")


def test_item_with_its_score_on_the_next_line_is_a_step() -> None:
    item = "- Add 1 point if it is relevant.\nIt is. Score: 1 point.\n\n- Add another point"
    assert outcome(item)[0] is None
    assert outcome(f"- It is relevant.\n{item}")[0] is None


@each(
    "completion",
    [
        "- It is relevant.\n- It is short.\nScore: 4",
        "Good:\n- It is relevant.\n- It is short.\n\nScore: 4\n\nBad:\n- It names no source.",
        "Good:\n- It is relevant.\n\n**Score: 4**\n- It names no source.",
        "1. It is relevant.\n2. It is short.\n3. So it gets this much: score: 4",
        f"So {'e. ' * 200}Rating: [[4]]",  # no list, for all its letters
    ],
)
def test_score_beside_a_list_of_reasons_is_read(completion: str) -> None:
    assert outcome(completion) == (4, "")


@each(
    "tally",
    [
        "1. Relevant. Score: 1\n2. Substantial. Score: 1\n3. Useful. Score: 0\n",
        "Score: 1\nRelevant.\nScore: 2\nSubstantial.\n",
        "- Relevance: [[1]] - yes\n- Coverage: [[1]] - yes\n",
    ],
)
def test_total_takes_precedence_over_its_steps(tally: str) -> None:
    assert outcome(f"{tally}\n**Total score: 2**") == (2, "")


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


def test_scale_is_set_by_the_caller() -> None:
    assert outcome("Score: 8", (1, 10)) == (8, "")
    assert outcome("Score: 0", (1, 10)) == (None, "off_scale")
    assert outcome("Score: 8/5", (1, 10)) == (None, "off_scale")
    assert parse_rating("score: 4", (0, 5)) == parse_rating("score: 4", Scale(0, 5))


@each(
    "completion",
    [
        "score: 4\nIt says the same twice.\nCorrected score: 0",
        "score: 5\nActually the code is wrong. The correct score is 2.",
        "score: 4\n\nBecause of the repetition the score drops to 0.",
        "score: 3\nIt meets the first four criteria, for a total of 4 points.",
        "### Point 1\nScore: 1\nIt is relevant.\n### Point 2\n",
        *("score: 4. The final score is 3.5 out of 5.", "score: 4\n\nThe total score is 12."),
        *("It gets a score of 3. The total score is 30.", "score: 4\nCorrected score: 3.5"),
        "score: 4\nOverall, I rate this response 3.5.",
    ],
)
def test_retracted_score_is_conflicting_however_it_is_worded(completion: str) -> None:
    assert outcome(completion) == (None, "conflicting")


@each(
    "reason",
    [
        *("It does not receive a perfect score of 5.", "A score of 5 would need sources."),
        *("It covers 3 of the 5 steps.", "Therefore, the score is 4."),
        *("It has a score of 60 on another scale.", "It has a rating of 4.7 from 312 readers."),
    ],
)
def test_other_numbers_in_the_reasons_do_not_retract_a_score(reason: str) -> None:
    assert outcome(f"score: 4\n{reason}") == (4, "")


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


@each(
    ("number", "scale", "is_on_it"),
    [(-1, (0, 5), False), (10, (1, 10), True), (11, (1, 10), False), (0, (1, 10), False)],
)
def test_single_number_on_the_scale_is_the_score_of_a_second_answer(
    number: int, scale: tuple[int, int], is_on_it: bool
) -> None:
    result = parse_score_line(f"{number}", Scale(*scale))
    assert (isinstance(result, Rating) and result.score == number) is is_on_it
