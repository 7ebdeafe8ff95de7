"""Rubrics of a channel: what its replies are scored by, and the comparison before that changes."""

from slack_bolt.async_app import AsyncApp

from bot.feature import Feature, Services
from bot.features.rubrics import handlers
from bot.features.rubrics.comparison import RubricReplay
from bot.store.jobs import Task

_HELP = (
    "• `/judge rubric` says what replies here are scored by; "
    "`/judge rubric use NAME` and `/judge rubric edit` change that"
)


def feature(services: Services) -> Feature:
    """`/judge rubric` with its window, and the job that compares a new judge with the one in use."""
    store, rubrics, access, messenger = services.store, services.rubrics, services.access, services.messenger
    window = handlers.RubricWindow(rubrics, access, messenger)
    use = handlers.RubricUse(rubrics, services.settings.judge_models, store.channel_replays)
    decision = handlers.RubricDecision(use, access, messenger)

    def register(app: AsyncApp) -> None:
        handlers.register(app, window, use, decision, messenger)

    jobs = {}
    if services.judges:
        replay = RubricReplay(store, services.judges, rubrics.default, access, messenger)
        jobs = {Task.REPLAY: lambda ticket: replay.run(ticket.case_id)}
    command = handlers.RubricCommand(use, window, access, messenger)
    return Feature(register=register, words={"rubric": command.answer}, help=_HELP, jobs=jobs)
