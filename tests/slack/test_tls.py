"""TLS: who answers without the certificate of its host is not talked to, and what is not encrypted
is said.
"""

import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientConnectorCertificateError, web
from pydantic import SecretStr

from bot.domain.case import Recipient
from bot.errors import SlackError
from bot.slack.client import identify, web_client
from bot.slack.messenger import Messenger

pytestmark = pytest.mark.slow


@pytest.fixture
def unvouched(tmp_path: Path) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate that nobody vouches for."""
    key = tmp_path / "key"
    certificate = tmp_path / "certificate"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=x",
    ]
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *more], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.fixture
async def impostor(unvouched: ssl.SSLContext) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that poses as Slack: its address, and what it was asked."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response({"ok": True, "team_id": "T1", "user_id": "U1"})

    app = web.Application()
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=unvouched).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}/", asked
    await runner.cleanup()


async def test_a_slack_without_its_certificate_is_told_nothing(
    impostor: tuple[str, list[str]],
) -> None:
    url, asked = impostor
    async with web_client(SecretStr("xoxb-1"), f"{url}api/") as client:
        with pytest.raises(SlackError, match="CERTIFICATE_VERIFY_FAILED"):
            await identify(client)
        with pytest.raises(ClientConnectorCertificateError):
            await Messenger(client).tell(
                Recipient("U1", "", response_url=f"{url}commands/1"), "verdict"
            )
    assert asked == []
