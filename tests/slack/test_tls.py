"""TLS: who answers without the certificate of its host is not talked to, and what is not encrypted
is said.
"""

import ssl
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientConnectorCertificateError, web
from aiohttp.test_utils import RawTestServer
from pydantic import SecretStr

from bot.domain.case import Recipient
from bot.errors import SlackError
from bot.slack.client import identify, web_client
from bot.slack.messenger import Messenger
from tests.postgres import Cluster

pytestmark = pytest.mark.slow


@pytest.fixture
async def impostor(guarded_postgres: Cluster) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that poses as Slack, with a certificate that nobody vouches for: its address, and
    what it was asked.
    """
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request.path)
        return web.json_response({"ok": True, "team_id": "T1", "user_id": "U1"})

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = guarded_postgres.certificate
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    server = RawTestServer(answer, host="127.0.0.1")
    await server.start_server(ssl=context)
    yield str(server.make_url("/")), asked
    await server.close()


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
