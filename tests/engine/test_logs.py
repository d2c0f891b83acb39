"""Lines of the log: for people and for programs, without texts of documents."""

import json
import logging
import sys

import pytest
from pydantic import BaseModel, ValidationError
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from db.session import Database
from engine.logs import JsonLines, TextLines, field_of_work, log_fields
from engine.workspace import Workspace

SECRET = "".join(("text of ", "a page"))  # lines of code stand in a traceback


def record_of(error: BaseException | None = None, message: str = "It failed.") -> logging.LogRecord:
    """A record of a warning, with the traceback of an error."""
    if error is None:
        return logging.LogRecord("engine.part", logging.WARNING, __file__, 1, message, None, None)
    try:
        raise error
    except type(error):
        return logging.LogRecord("engine.part", logging.ERROR, __file__, 1, message, None, sys.exc_info())


def test_a_line_names_what_its_work_belongs_to() -> None:
    with log_fields(request_id="ab12"), log_fields(job_id="j1"):
        line = json.loads(JsonLines("worker").format(record_of()))
        people = TextLines("worker").format(record_of())
    assert {name: line[name] for name in ("level", "process", "message", "request_id", "job_id")} == {
        "level": "warning",
        "process": "worker",
        "message": "It failed.",
        "request_id": "ab12",
        "job_id": "j1",
    }
    assert line["time"].endswith("+00:00")
    assert people.endswith(" worker: It failed. [request_id=ab12 job_id=j1]")
    assert field_of_work("request_id") is None
    assert "[" not in TextLines("worker").format(record_of())


def test_values_that_libraries_quote_stay_out_of_the_log(workspace: Workspace) -> None:
    class Total(BaseModel):
        amount: int

    with pytest.raises(ValidationError) as invalid:
        Total.model_validate({"amount": SECRET})
    with workspace.database.write() as session, pytest.raises(DBAPIError) as failed:
        session.execute(text("INSERT INTO nowhere VALUES (:value)"), {"value": SECRET})
    details = ValueError(f"it broke a rule\nDETAIL:  Key (name)=({SECRET}) already exists.")
    for error in (invalid.value, failed.value, details):
        for form in (JsonLines("web-1"), TextLines("web-1")):
            assert SECRET not in form.format(record_of(error))
            assert type(error).__name__ in form.format(record_of(error))


def test_a_line_for_programs_is_one_line() -> None:
    line = JsonLines("web-1").format(record_of(RuntimeError("two\nlines"), "a\nb"))
    assert "\n" not in line and json.loads(line)["message"] == "a\nb"


def test_an_outage_of_the_database_logs_no_traceback() -> None:
    gone = Database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(DBAPIError) as refused, gone.read() as session:
        session.execute(text("SELECT 1"))
    for form in (JsonLines("web-1"), TextLines("web-1")):
        line = form.format(record_of(refused.value))
        assert "OperationalError" in line and "Traceback" not in line
        assert "Traceback" in form.format(record_of(RuntimeError("It broke.")))
