"""Hooks of Schemathesis: ids of things that are there, also in bodies, and new ones for what a request uses up."""

import json
import os
from typing import Any

import httpx
import schemathesis

GIVEN = json.loads(
    os.environ["GLOSSATOR_TEST_WORLD"]
)  # {"address", "owner": a token, "ids": by their names in paths, "own": of who is logged in}
IDS: dict[str, str] = GIVEN["ids"]


@schemathesis.hook
def map_body(_context: Any, body: Any) -> Any:
    """Pages and annotations that a body names are real ones; else most bodies would end at "There is no such page."."""
    return _real(body)


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: Any) -> None:
    """What the request is about to use up is made anew; the login that the run needs is nobody's to end."""
    given = case.path_parameters
    if not isinstance(given, dict):
        return
    for name, make in (("invitation_id", _invitation), ("job_id", _job)):
        if name in IDS and given.get(name) == IDS[name]:
            case.path_parameters = {**given, name: make()}
    for name in ("user_id", "session_id"):  # found in answers, and put into paths
        if given.get(name) in GIVEN["own"]:
            case.path_parameters = {**given, name: "0" * 32}


def _real(value: Any) -> Any:
    if isinstance(value, list):
        return [_real(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = {"page_id": "page_id", "page": "page_id", "annotation_id": "annotation_id"}
    return {
        name: IDS[names[name]] if name in names and isinstance(each, str) and IDS else _real(each)
        for name, each in value.items()
    }


def _invitation() -> str:
    return str(_made(f"/api/projects/{IDS['project_id']}/invitations", {"role": "annotator"})["id"])


def _job() -> str:
    return str(_made(f"/api/projects/{IDS['project_id']}/retrain", None)["id"])


def _made(path: str, body: Any) -> dict[str, Any]:
    answer = httpx.post(f"{GIVEN['address']}{path}", json=body, headers={"Authorization": f"Bearer {GIVEN['owner']}"})
    answer.raise_for_status()
    return dict(answer.json())
