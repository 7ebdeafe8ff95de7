"""Installing through the proxies of `deploy/`, with the app behind them."""

import shutil
from pathlib import Path

import pytest
from yarl import URL

from tests.slow.test_proxies import PROXIES, running
from tests.workspaces.conftest import Company


@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
async def test_a_workspace_installs_the_app_through_a_proxy(
    company: Company, name: str, tmp_path: Path
) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed; apt-get install caddy nginx-light")
    app_port = company.settings["http_port"]
    async with company.running(), running(name, tmp_path, app_port) as port:
        company.address = URL(f"http://localhost:{port}")
        assert await company.install(company.workspaces[0]) == 200
