"""`judge-bot health`: whether a bot is running on this machine, for systemd, containers and people."""

from bot.domain.clock import utc_now
from bot.errors import StoreError
from bot.pipeline.retries import in_brief
from bot.store.database import Database
from bot.store.errors import STORE_ERRORS
from bot.store.opening import connect, require_log
from bot.store.ownership import SILENT_S, Processes


async def examine(database_url: str) -> tuple[bool, str]:
    """Whether the bot is well, and a line that says so or why not; reads the store without
    migrating it.
    """
    database = Database(connect(database_url))
    try:
        await require_log(database_url)
        latest = await Processes(database).latest_here()
    except StoreError as exc:
        return False, str(exc)
    except STORE_ERRORS as exc:
        return False, str(in_brief(exc))
    finally:
        await database.close()
    if latest is None:
        return False, "no bot is at work on this machine; judge-bot serve starts one"
    silent_s = (utc_now() - latest.seen_at).total_seconds()
    if silent_s > SILENT_S:
        return False, f"no bot is at work here; process {latest.pid} was, {silent_s:.0f} s ago"
    seen = f"process {latest.pid} was at work {silent_s:.0f} s ago"
    if not latest.is_connected:
        return False, f"{seen}, but Slack cannot reach it, or it takes no jobs; its log says which"
    return True, f"{seen}, and connected"
