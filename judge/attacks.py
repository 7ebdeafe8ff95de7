"""What the judged texts try on the judge: nothing to judge at all, or words meant for the judge."""

from judge.ratings import Flag, Unscored, UnscoredReason


def nothing_to_judge(question: str, response: str) -> Unscored | None:
    """Why these texts need no model, if so: one is empty, or the response is the question again."""
    asked, answered = question.strip(), response.strip()
    if not asked:
        detail = "The question is empty, so there is nothing to judge the response by."
    elif not answered:
        detail = "The response is empty, so there is nothing to judge."
    elif asked == answered:
        detail = "The response is the question itself, so there is nothing to judge."
    else:
        return None
    return Unscored(reason=UnscoredReason.NOTHING_TO_JUDGE, detail=detail)


def find_flags(question: str, response: str) -> tuple[Flag, ...]:
    """What a person should know before trusting a score of these texts, in the order of `Flag`."""
    return ()
