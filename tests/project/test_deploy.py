"""Files for who runs the bot: confinement, alerts, dashboard; in deploy/, the Dockerfile and
compose.yml.
"""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from bot.domain.case import CaseStatus
from bot.settings import Settings
from tests.tables import each

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "deploy" / "slack-judge.service"
CONFINES = """
UMask=0077 StateDirectoryMode=0700 CapabilityBoundingSet= AmbientCapabilities= NoNewPrivileges=true
ProtectSystem=strict ProtectHome=true PrivateTmp=true PrivateDevices=true PrivateMounts=true PrivateUsers=true
ProtectProc=invisible ProcSubset=pid ProtectClock=true ProtectControlGroups=true ProtectHostname=true
ProtectKernelLogs=true ProtectKernelModules=true ProtectKernelTunables=true LockPersonality=true
MemoryDenyWriteExecute=true RemoveIPC=true RestrictNamespaces=true RestrictRealtime=true RestrictSUIDSGID=true
SystemCallArchitectures=native SystemCallFilter=@system-service SystemCallErrorNumber=EPERM MemoryMax=1G TasksMax=128
"""
ALERTS = ROOT / "deploy" / "alerts.yml"
KUBERNETES = list(
    yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yml").read_text(encoding="utf-8"))
)
COMPOSED: dict[str, Any] = yaml.safe_load((ROOT / "compose.yml").read_text(encoding="utf-8"))[
    "services"
]


def _rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_the_unit_has_every_line_of_its_confinement_and_what_the_app_needs() -> None:
    """All lines of its section on confinement are listed, so that none is removed unnoticed."""
    lines = SERVICE.read_text(encoding="utf-8").splitlines()
    assert [each for each in CONFINES.split() if each not in lines] == []
    for needed in (
        "SystemCallFilter=~@privileged @resources",
        "StateDirectory=slack-judge",  # the only folder that it can write
        "Environment=HOME=/var/lib/slack-judge PYTHONDONTWRITEBYTECODE=1",
        "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    ):
        assert needed in lines


@each("name", COMPOSED)
def test_a_container_is_read_only_without_capabilities_and_with_limits(name: str) -> None:
    service = COMPOSED[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert service["tmpfs"][0].partition(":")[0] == "/tmp"  # noqa: S108 - a mount, not a file


def test_no_settings_are_read_from_a_folder_that_the_process_can_write() -> None:
    """An attacker who controls the process must not leave an OPENAI_BASE_URL in `.env` for the next
    start.
    """
    unit = SERVICE.read_text(encoding="utf-8")
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    starts_in = re.findall(r"^WorkingDirectory=(.*)", unit, re.MULTILINE)
    assert [Path(each).is_relative_to("/var/lib/slack-judge") for each in starts_in] == [False]
    (writable,) = re.findall(r"^VOLUME (.*)", image, re.MULTILINE)
    assert not Path(re.findall(r"^WORKDIR (.*)", image, re.MULTILINE)[-1]).is_relative_to(writable)
    for text, folder in ((unit, "/var/lib/slack-judge"), (image, writable)):
        assert f"DATABASE_URL=sqlite+aiosqlite:///{folder}/slack-judge.db" in text


def test_no_container_runs_as_root_and_the_image_has_extras_that_there_are() -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall("^USER (.*)", image, re.MULTILINE) == ["judge"]
    assert COMPOSED["postgres"]["user"] == "postgres"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r'^ARG EXTRAS="(.*)"$', image, re.MULTILINE)
    assert {"postgres", "mcp"} <= set(extras.split()) <= project["optional-dependencies"].keys()


def test_files_copied_into_the_image_exist_and_are_not_ignored() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = {name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]}
    let_through = {
        line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines()
    }
    assert "manifest.yml" in copied
    assert copied <= let_through
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_alerts_and_dashboard_ask_for_metrics_that_there_are() -> None:
    panels = json.loads((ROOT / "deploy" / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    asked += [rule["expr"] for rule in _rules()]
    printed = re.findall(r"^# TYPE (\w+) (\w+)$", generate_latest().decode(), re.MULTILINE)
    parts = {"histogram": ("_bucket", "_count", "_sum")}
    there = {f"{name}{part}" for name, kind in printed for part in parts.get(kind, ("",))}
    prefix = (
        "(?:slack_judge|process)" if sys.platform == "linux" else "slack_judge"
    )  # elsewhere there are no others
    assert {name for each in asked for name in re.findall(rf"\b{prefix}_\w+", each)} <= there
    statuses = {
        name
        for each in asked
        for names in re.findall(r'status\W+"(.*?)"', each)
        for name in names.split("|")
    }
    assert statuses <= set(CaseStatus)


needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (apt install prometheus)"
)


def promtool(*command: str) -> None:
    program = shutil.which("promtool") or "promtool"
    done = subprocess.run([program, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_prometheus_takes_the_alerts() -> None:
    promtool("check", "rules", str(ALERTS))


@needs_promtool
@pytest.mark.parametrize("pace", [1, 60])
def test_a_model_that_fails_is_told_at_any_pace(pace: int, tmp_path: Path) -> None:
    """Verdicts come once in `pace` minutes; all fail from minute 120 on, until minute 360."""
    good = [pace * 60 * ((m if m < 120 or m >= 360 else 119) // pace) for m in range(500)]
    failures = [pace * 60 * (min(m, 359) // pace) if m >= 120 + pace else 0 for m in range(500)]
    told = 120 + 2 * pace + 16
    series = {"last_verdict": good, "last_model_failure": failures}
    fires = {"exp_labels": {"severity": "warning"}}
    cases = [(100, []), (told, [fires]), (360 + pace, [])]
    _try_alert(tmp_path, "SlackJudgeModelFails", series, cases)


def _try_alert(
    folder: Path, name: str, series: dict[str, list[int]], cases: list[tuple[int, Any]]
) -> None:
    """Asks promtool whether the alert fires at these minutes."""
    rule = next(each for each in _rules() if each["alert"] == name)
    rules = {"groups": [{"name": "g", "rules": [{**rule, "annotations": {}}]}]}
    (folder / "rules.yml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    given = []
    for metric, values in series.items():
        suffix = "" if metric == "ready" else "_timestamp_seconds"
        given.append(
            {"series": f"slack_judge_{metric}{suffix}", "values": " ".join(map(str, values))}
        )
    alerts = [{"alertname": name, "eval_time": f"{at}m", "exp_alerts": e} for at, e in cases]
    tested = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": given, "alert_rule_test": alerts}],
    }
    (folder / "test.yml").write_text(yaml.safe_dump(tested), encoding="utf-8")
    promtool("test", "rules", str(folder / "test.yml"))


def test_kubernetes_runs_the_image_as_confined_as_compose_does() -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    secret, service, deployment = KUBERNETES
    assert [each["kind"] for each in KUBERNETES] == ["Secret", "Service", "Deployment"]
    template = deployment["spec"]["template"]
    labels = template["metadata"]["labels"]
    pod = template["spec"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert f"useradd --uid {pod['securityContext']['runAsUser']} " in image
    assert pod["securityContext"]["runAsNonRoot"]
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    given = {each["name"] for each in container["env"]} | secret["stringData"].keys()
    assert {name.lower() for name in given} <= Settings.model_fields.keys()
    ports, env = ({each["name"]: each for each in container[of]} for of in ("ports", "env"))
    assert str(ports["metrics"]["containerPort"]) == env["METRICS_PORT"]["value"]
    paths = [
        container[f"{probe}Probe"]["httpGet"]["path"]
        for probe in ("startup", "liveness", "readiness")
    ]
    assert paths == ["/healthz", "/healthz", "/readyz"]
    assert service["spec"]["selector"] == labels
