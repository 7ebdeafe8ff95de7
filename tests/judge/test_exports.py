import judge


def test_public_names_are_a_contract() -> None:
    assert sorted(judge.__all__) == [
        *("BadResponseError", "DEFAULT_MODEL", "DEFAULT_RUBRIC", "DeadlineError", "Flag", "Judge"),
        *("JudgeError", "KeyRejectedError", "ModelNotFoundError", "QuotaExceededError"),
        *("RateLimitedError", "Rating", "RequestRejectedError", "Rubric", "RubricError", "Scale"),
        *("SetupError", "Turn", "UnavailableError", "Unscored", "UnscoredReason", "Verdict"),
        *("find_flags", "list_rubrics", "load_rubric", "nothing_to_judge", "parse_rating"),
        "render_prompt",
    ]
    assert all(hasattr(judge, name) for name in judge.__all__)


def test_every_error_is_in_the_tree_of_the_docstring() -> None:
    import judge.errors

    own = (
        value
        for value in vars(judge.errors).values()
        if getattr(value, "__module__", "") == judge.errors.__name__
    )
    errors = [value for value in own if isinstance(value, type)]
    assert all(issubclass(error, judge.JudgeError) for error in errors)
    assert all(error.__name__ in (judge.errors.__doc__ or "") for error in errors)
