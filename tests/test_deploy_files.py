"""The programs that read the files of deploy/ accept them; commands, settings and routes in them exist."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from engine.settings import MEGABYTE, Settings
from engine.version import release
from tests.generated_docs import DOCS, commands
from tests.support.built_distributions import PACKAGES
from tests.support.nginx import nginx_program, write_configuration
from tests.support.repository import ROOT

DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "Containerfile"
UNITS = sorted((DEPLOY / "systemd").iterdir())
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
GLOSSATOR = "/opt/glossator/.venv/bin/glossator"
FILLED = {"DATABASE_PASSWORD": "abc", "FILES_PASSWORD": "def", "SERVER_NAME": "papers.example.org"}


@cache
def manifests() -> list[dict[str, Any]]:
    return [part for path in MANIFESTS for part in yaml.safe_load_all(path.read_text())]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [part for part in manifests() if part["kind"] == kind]


def containers() -> list[dict[str, Any]]:
    works = [part["spec"] for part in of_kind("Deployment")]
    works += [part["spec"]["jobTemplate"]["spec"] for part in of_kind("CronJob")]
    pods = [work["template"]["spec"] for work in works]
    return [container for pod in pods for container in [*pod.get("initContainers", []), *pod["containers"]]]


def compose() -> dict[str, Any]:
    """The compose file with its variables filled in."""
    text = re.sub(r"\$\{(\w+)(?::[-?]([^}]*))?\}", lambda found: FILLED.get(found[1], found[2]), compose_text())
    return dict(yaml.safe_load(text))


def compose_text() -> str:
    return (DEPLOY / "compose.yaml").read_text()


def image_settings() -> dict[str, str]:
    return dict(re.findall(r"^ +(GLOSSATOR_\w+)=(\S+?)(?: \\)?$", CONTAINERFILE.read_text(), re.MULTILINE))


def settings_from(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> Settings:
    for name, value in {**image_settings(), **given}.items():
        monkeypatch.setenv(name, value)
    return Settings(_env_file=None)


def exists(words: list[str]) -> bool:
    """Whether `glossator` has such a command."""
    name = "glossator"
    for word in words:
        if not hasattr(commands()[name], "commands"):
            break
        name = f"{name} {word}"
        if name not in commands():
            return False
    return name != "glossator"


def test_hadolint_finds_nothing_in_the_containerfile() -> None:
    linted = subprocess.run([Path(sys.executable).with_name("hadolint"), CONTAINERFILE], capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_the_image_is_built_from_the_packages_and_what_names_them() -> None:
    let_in = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert set(let_in) == {*PACKAGES, "pyproject.toml", "constraints.txt", "README.md", "LICENSE"}
    assert "\nUSER 10001:10001\n" in CONTAINERFILE.read_text()


@pytest.mark.parametrize("path", [path for path in sorted(DEPLOY.rglob("*")) if path.is_file()], ids=str)
def test_every_setting_in_the_files_exists(path: Path) -> None:
    known = set(re.findall(r"^\| `(GLOSSATOR_\w+)`", (DOCS / "settings.md").read_text(), re.MULTILINE))
    assert set(re.findall(r"GLOSSATOR_[A-Z_]+[A-Z]", path.read_text())) <= known


@pytest.mark.parametrize("service", ["web", "worker"])
def test_the_services_of_compose_start_with_their_settings(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    described = compose()["services"][service]
    settings = settings_from(monkeypatch, described["environment"])
    assert settings.auth == "login" and settings.allowed_hosts == ["papers.example.org"]
    assert settings.database_url and settings.blobs == "s3://glossator/files"
    assert described["read_only"] and described["volumes"] == [f"{service}:/data"]
    assert exists(described["command"])


def test_what_sends_webhooks_reaches_the_world_and_what_holds_data_does_not() -> None:
    described = compose()
    open_to = {name for name, network in described["networks"].items() if not network.get("internal")}
    outside = {name for name, service in described["services"].items() if open_to & set(service["networks"])}
    assert outside == {"web", "worker", "proxy"}


def test_compose_pins_images_and_mounts_files_that_exist() -> None:
    described = compose()
    for name, service in described["services"].items():
        assert name in {"web", "worker"} or re.search(r":[\w.-]*\d", service["image"]), name
    services = described["services"].values()
    mounted = {volume.split(":")[0] for service in services for volume in service.get("volumes", [])}
    files = {name for name in mounted if name.startswith("./")}
    assert all((DEPLOY / name).exists() for name in files - {"./tls"})
    assert mounted - files == set(described["volumes"])


def test_compose_names_the_upstreams_that_the_proxy_uses() -> None:
    wanted = set(re.findall(r"proxy_pass http://(\w+);", (DEPLOY / "nginx" / "glossator.conf").read_text()))
    content = compose()["configs"]["upstreams"]["content"]
    assert set(re.findall(r"^upstream (\w+)", content, re.MULTILINE)) == wanted
    deployed = (DEPLOY / "nginx" / "upstreams.conf").read_text()
    assert set(re.findall(r"^upstream (\w+)", deployed, re.MULTILINE)) == wanted


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_knows_every_field_of_the_manifests(path: Path) -> None:
    for part in yaml.safe_load_all(path.read_text()):
        kubernetes_validate.validate(part, kubernetes_validate.latest_version(), strict=True)


def test_the_kustomization_names_every_manifest_and_this_release() -> None:
    kustomization = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
    chosen_by_people = {"example-secret.yaml", "ingress-f5.yaml"}
    assert {*kustomization["resources"], *chosen_by_people} == {path.name for path in MANIFESTS}
    assert [image["newTag"] for image in kustomization["images"]] == [release()]


def test_pods_start_with_their_settings_and_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {part["metadata"]["name"]: part.get("data", part.get("stringData", {})) for part in manifests()}
    for container in containers():
        sources = [next(iter(source.values()))["name"] for source in container["envFrom"]]
        settings = settings_from(
            monkeypatch, {name: value for source in sources for name, value in named[source].items()}
        )
        assert settings.auth == "login" and settings.allowed_hosts and exists(container["args"])
        assert container["securityContext"]["readOnlyRootFilesystem"]
        folders = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert folders == {"/data", "/tmp"} | ({"/backups"} if container["name"] == "backup" else set())


def test_probes_and_services_reach_the_port_and_routes_of_the_server() -> None:
    routes = set(re.findall(r"^### GET (.+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    [web] = [container for container in containers() if container["name"] == "web"]
    assert web["ports"][0] == {"name": "http", "containerPort": int(image_settings()["GLOSSATOR_PORT"])}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = web[probe]["httpGet"]
        assert asked["path"] in routes and asked["port"] == "http"
        assert asked["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    labels = [part["spec"]["template"]["metadata"]["labels"] for part in of_kind("Deployment")]
    [service] = of_kind("Service")
    assert [chosen for chosen in labels if service["spec"]["selector"].items() <= chosen.items()] == [
        {"app.kubernetes.io/name": "glossator", "app.kubernetes.io/component": "web"}
    ]
    backends = [path["backend"]["service"] for part in of_kind("Ingress") for path in paths_of(part)]
    assert len(backends) == 4
    assert all(backend == {"name": service["metadata"]["name"], "port": {"name": "http"}} for backend in backends)


def paths_of(ingress: dict[str, Any]) -> list[dict[str, Any]]:
    return [path for rule in ingress["spec"]["rules"] for path in rule.get("http", {}).get("paths", [])]


@pytest.mark.parametrize(
    ("name", "by_cookie"),
    [("ingress.yaml", "nginx.ingress.kubernetes.io/upstream-hash-by"), ("ingress-f5.yaml", "nginx.org/lb-method")],
)
def test_calls_of_gradio_go_by_the_login_cookie_on_both_controllers(name: str, by_cookie: str) -> None:
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes" / name).read_text()))
    chosen = {
        path["path"]: part["metadata"]["annotations"].get(by_cookie, "") for part in parts for path in paths_of(part)
    }
    assert chosen["/"] == "" and "$cookie_glossator_session" in chosen["/app/gradio_api/"] and len(chosen) == 2
    prefixes = {key.partition("/")[0] for part in parts for key in part["metadata"]["annotations"]}
    assert prefixes == {by_cookie.partition("/")[0]}


def test_one_ingress_owns_the_host_on_the_controller_of_f5() -> None:
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "ingress-f5.yaml").read_text()))
    kinds = [part["metadata"]["annotations"]["nginx.org/mergeable-ingress-type"] for part in parts]
    assert kinds == ["master", "minion", "minion"]
    assert len({rule["host"] for part in parts for rule in part["spec"]["rules"]}) == 1
    master, *minions = parts
    assert "tls" in master["spec"] and paths_of(master) == []  # F5 takes no paths of a master, no TLS of a minion
    assert all("tls" not in minion["spec"] and paths_of(minion) for minion in minions)


def test_prometheus_reaches_the_metrics_of_every_pod_that_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    [given] = [part["data"] for part in of_kind("ConfigMap")]
    settings = settings_from(monkeypatch, given)
    assert settings.metrics_host == settings.host  # the address of the pod, which Prometheus asks at
    serving = [container for container in containers() if container["name"] in ("web", "worker")]
    for container in serving:
        assert {"name": "metrics", "containerPort": settings.metrics_port} in container["ports"], container["name"]
    [policy] = [part["spec"] for part in of_kind("NetworkPolicy") if part["metadata"]["name"] == "glossator-metrics"]
    assert [port["port"] for rule in policy["ingress"] for port in rule["ports"]] == [settings.metrics_port]
    labels = [part["spec"]["template"]["metadata"]["labels"] for part in of_kind("Deployment")]
    assert len(serving) == len(labels) and all(
        policy["podSelector"]["matchLabels"].items() <= chosen.items() for chosen in labels
    )


@pytest.mark.parametrize("where", ["nginx", "kubernetes"])
def test_proxies_take_the_largest_upload_and_refuse_before_the_server(where: str) -> None:
    texts = [path.read_text() for path in (DEPLOY / where).iterdir()]
    limits = [int(size) for text in texts for size in re.findall(r"body[-_]size:? (\d+)m\b", text)]
    largest = Settings(_env_file=None).max_upload_mb * MEGABYTE
    assert limits and all(largest + 100_000 < limit * 2**20 < largest + MEGABYTE for limit in limits)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed (Debian: systemd).")
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace(GLOSSATOR, sys.executable))
    verified = subprocess.run([program, "verify", *tmp_path.iterdir()], capture_output=True, text=True)
    assert (verified.returncode, verified.stderr) == (0, "")


def test_units_run_commands_that_exist() -> None:
    lines = [line for unit in UNITS for line in re.findall(rf"^ExecStart={GLOSSATOR} (.+)$", unit.read_text(), re.M)]
    assert len(lines) == 3 and all(exists(line.split()) for line in lines)


def test_nginx_accepts_the_configuration(tmp_path: Path) -> None:
    configuration, _ = write_configuration(tmp_path, [7860, 7861])
    tested = subprocess.run([nginx_program(), "-t", "-c", configuration], capture_output=True, text=True)
    assert tested.returncode == 0, tested.stderr


def test_options_of_the_object_store_are_json() -> None:
    options = json.loads(compose()["services"]["web"]["environment"]["GLOSSATOR_BLOBS_OPTIONS"])
    assert options == {"endpoint_url": "http://files:9000", "key": "glossator", "secret": "def"}
