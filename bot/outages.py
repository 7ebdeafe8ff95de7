"""Tells whom it concerns that the model gives a workspace no scores."""

from bot.domain.case import Recipient
from bot.domain.clock import utc_now
from bot.domain.standing import Subject
from bot.pipeline import text as words
from bot.pipeline.verdict_text import cause_of
from bot.services import Services
from bot.store.notices import Notices, day_of
from bot.store.outages import Outage


async def tell_outage(outage: Outage, services: Services, installed_by: str | None) -> None:
    """Tells whom a workspace's watches alert, or else who installed the app there, that no verdict
    has had a score for an hour, and why; once a day.
    """
    store = services.store
    notices = Notices(store.database)
    now = utc_now()
    watches = await store.watches.of(outage.team_id)
    recipients = {to for watch in watches for to in watch.alerts_to}
    if not recipients and installed_by:
        recipients = {installed_by}
    everybody = Subject(outage.team_id, "", "")
    post = words.outage(outage.since, cause_of(outage.reason))
    for to in recipients:
        told = (everybody, outage.name, to)
        if await notices.claim(*told, day_of(now), now):
            await services.messenger.direct(Recipient(to, ""), post)
            await notices.note_told(*told, now)
