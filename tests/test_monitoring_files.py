"""The board of Grafana and the alerts of Prometheus name what a server exports, and nothing else."""

import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.generated_docs import exported_metrics, openapi
from tests.support.repository import ROOT

BOARD, RULES = ROOT / "deploy/grafana/glossator.json", ROOT / "deploy/prometheus/glossator.yaml"


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(BOARD.read_text())["panels"]
    return found


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions() -> list[str]:
    """Every expression, with values in place of the board's variables."""
    of_board = [target["expr"] for panel in panels() for target in panel.get("targets", [])]
    return [
        expression.replace("$__rate_interval", "5m").replace("$job", "glossator")
        for expression in (*of_board, *(rule["expr"] for rule in rules()))
    ]


@pytest.fixture
def promtool() -> str:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("Checks by Prometheus itself need promtool (Debian: prometheus).")
    return program


def test_every_metric_that_is_drawn_or_watched_is_exported() -> None:
    exported = exported_metrics()
    series = {
        f"{name}{suffix}"
        for name, (kind, _) in exported.items()
        for suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
    }
    named = set(re.findall(r"\b(?:glossator|process)_\w+", " ".join(expressions())))
    assert named <= series, named - series
    drawn = {name.removesuffix("_bucket").removesuffix("_count") for name in named}
    left_out = {name for name in exported if name.startswith("glossator_")} - drawn
    assert not left_out, f"neither the board nor an alert shows {left_out}"


def test_a_route_that_is_watched_exists() -> None:
    routes = set(re.findall(r'route="([^"]+)"', " ".join(expressions())))
    assert routes and routes <= set(openapi()[0]["paths"])


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in panels()}) == len(panels())
    for one, other in combinations((panel["gridPos"] for panel in panels()), 2):
        apart_across = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert apart_across or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    assert all(place["x"] + place["w"] <= 24 for place in (panel["gridPos"] for panel in panels()))


def test_each_alert_says_what_to_do() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule["annotations"]["summary"].endswith(".") and rule["labels"]["severity"] in ("warning", "critical")


def test_prometheus_reads_the_rules_and_every_expression(promtool: str, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.yaml"
    recorded = [{"record": f"drawn:{number}", "expr": each} for number, each in enumerate(expressions())]
    drawn.write_text(yaml.safe_dump({"groups": [{"name": "drawn", "rules": recorded}]}))
    checked = subprocess.run([promtool, "check", "rules", RULES, drawn], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_alerts_fire_when_they_should_and_rest_otherwise(promtool: str, tmp_path: Path) -> None:
    fails = 'glossator_requests_total{status="%s", route="/api/me", method="GET", process="web-1"}'
    series = [
        {"series": "glossator_workers", "values": "1x20 0x40"},
        {"series": fails % "2xx", "values": "0+600x60"},
        {"series": fails % "5xx", "values": "0x20 0+60x40"},
        {"series": "glossator_disk_free_bytes", "values": "50x20 5x40"},
        {"series": "glossator_disk_bytes", "values": "100x60"},
    ]
    fired = [
        ("GlossatorNoWorker", "15m", 0), ("GlossatorNoWorker", "40m", 1),
        ("GlossatorRequestsFail", "15m", 0), ("GlossatorRequestsFail", "50m", 1),
        ("GlossatorDiskAlmostFull", "15m", 0), ("GlossatorDiskAlmostFull", "40m", 1),
    ]  # fmt: skip
    summaries = {rule["alert"]: rule["annotations"]["summary"] for rule in rules()}
    tests = [
        {
            "alertname": name,
            "eval_time": at,
            "exp_alerts": [{"exp_labels": {"severity": "warning"}, "exp_annotations": {"summary": summaries[name]}}]
            * times,
        }
        for name, at, times in fired
    ]
    file = tmp_path / "test.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "rule_files": [str(RULES)],
                "evaluation_interval": "1m",
                "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": tests}],
            }
        )
    )
    checked = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
