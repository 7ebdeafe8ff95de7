"""`judge-bot audit`, and who is named in it for what was done in Slack and in the terminal."""

from datetime import UTC, datetime
from pathlib import Path

from bot.store import Store
from bot.store.audit import Act, Action
from tests.cases import noted, url
from tests.features.privacy.test_retention import aged_log
from tests.programs import OPERATOR, command, with_log

SOME_DAY = datetime(2026, 11, 2, 10, 30, 5, tzinfo=UTC)


async def test_a_purge_and_an_export_name_the_systems_user(tmp_path: Path) -> None:
    await aged_log(tmp_path, 40, 31, 2)
    code, out, err = await command("purge", url(tmp_path), tmp_path, "--days", "30")
    assert (code, err) == (0, "")
    assert out.startswith("2 of 3 cases are older than 30 days (created before ")
    assert out.endswith("2 cases deleted, with texts, ratings and labels\n")
    await command("export", url(tmp_path), tmp_path)
    async with await Store.open(url(tmp_path)) as log:
        assert await noted(log) == [(OPERATOR, "purged", 2), (OPERATOR, "exported_labels", None)]
        assert await log.cases.counts() == {"delivered": 1}


async def test_each_act_since_a_day_is_a_line_newest_last(tmp_path: Path) -> None:
    acts = [
        Act("T1", "U0123456789", Action.DIGEST_ON, channel_id="C0123456789", at=SOME_DAY),
        Act("T1", "os:root", Action.PURGED, cases=1234, at=SOME_DAY),
        Act("T1", "os:root", Action.PURGED, at=SOME_DAY),
        Act("T1", "U0123456789", Action.FORGOT_CASE, case_id=2**31 - 1, at=SOME_DAY),
    ]
    await with_log(url(tmp_path), lambda log: log.audit.note(acts))
    code, out, err = await command("audit", url(tmp_path), tmp_path)
    assert (code, err) == (0, "")
    for day in ("yesterday", "2026-13-01"):
        code, _, err = await command("audit", url(tmp_path), tmp_path, "--since", day)
        assert code == 2
        assert "is not a day; expected one such as 2026-11-01" in " ".join(err.split())
    assert out.splitlines() == [
        "2026-11-02 10:30:05  T1  U0123456789  digest on  C0123456789",
        "2026-11-02 10:30:05  T1  os:root  purged  1,234 cases",
        "2026-11-02 10:30:05  T1  os:root  purged  everything of T1",
        "2026-11-02 10:30:05  T1  U0123456789  forgot case  case 2147483647",
    ]
