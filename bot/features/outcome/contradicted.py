"""Notes the replies whose scores askers contradict, so that more of them are drawn for blind labels."""

from sqlalchemy import and_

from bot.domain.shared import AnswerCache
from bot.domain.standing import Subject, subject_of
from bot.features.outcome.figures import OutcomeFigures
from bot.services import Services
from bot.store.database import insert_into
from bot.store.schema import cases, contradicted, rows_of_cases

_NOTED_EVERY_S = 3600.0


class Contradicted:
    def __init__(self, services: Services, figures: OutcomeFigures) -> None:
        self._services = services
        self._figures = figures
        self._noted = AnswerCache(self._note, _NOTED_EVERY_S, most=1000)

    async def note(self) -> None:
        """Notes those of all watched assistants, of each once an hour."""
        services = self._services
        watches = await services.store.watches.of(services.identity.team_id)
        for subject in {subject_of(watch) for watch in watches}:
            await self._noted.get(subject)

    async def _note(self, subject: Subject) -> None:
        report = await self._figures.of(subject)
        case_ids = [reply.id for reply in report.contradicted]
        database = self._services.store.database
        is_theirs = and_(cases.c.team_id == subject.team_id, cases.c.id.in_(case_ids))
        rows = rows_of_cases(contradicted, is_theirs)
        noting = insert_into(database, contradicted).from_select(*rows)
        if case_ids:
            await database.execute(noting.on_conflict_do_nothing())
