from bot.pipeline.retries import growing_pause


def test_pauses_double_up_to_five_minutes() -> None:
    assert [growing_pause(tries).total_seconds() for tries in range(1, 12)] == [
        *(1, 2, 4, 8, 16, 32, 64, 128, 256),
        *(300, 300),
    ]
    assert growing_pause(10_000).total_seconds() == 300
