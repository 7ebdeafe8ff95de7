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
