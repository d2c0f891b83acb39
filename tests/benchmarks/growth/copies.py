"""Fill PostgreSQL with copies of a small project: rows by INSERT ... SELECT, with all that is derived from them.

A project of some thousand documents goes through the tables of the ORM, and its figures are derived as in use. Then each
copy of its rows is one statement a table: the first eight digits of an id, which are its time, become those of the copy.
So ids stay unique, grow from copy to copy, and name each other. Sums of a project are added up from its copies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import select

from db.base import Base
from db.search_tokens import key_of
from db.tables import Project, User
from engine.workspace import Workspace
from tests.benchmarks.growth.project import Grown

DIGITS = 8  # of an id that tell copies apart: 65 s of its time each
TEAMS = 40  # copies after which the same people come again
# Rows of documents, in the order of their making. Those in SOME are made for some projects alone.
OF_DOCUMENTS = (
    "document_groups",
    "documents",
    "pages",
    "page_signatures",
    "words",
    "document_texts",
    "tasks",
    "annotations",
    "revisions",
    "reviews",
    "survey_answers",
    "second_looks",
    "automatic_answers",
    "part_answers",
    "jobs",
    "audit_entries",
    "document_figures",
    "finished_masks",
    "finished_documents",
    "queue_documents",
    "asked_documents",
    "waiting_reviews",
)
SOME = ("words", "survey_answers")
SUMS = ("project_figures", "task_counts", "mask_counts", "review_counts", "queue_days")
_PEOPLE = ("author_id", "person_id", "editor_id", "edited_by", "created_by", "reviewer_id")
_SAME = ("model_version_id", "version_id", "actor_id")
_MAKING = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
    "maintenance_work_mem": "1GB",
}


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of the pattern.

    `ids`, `team` and `of_project`: first digits of ids of its rows, its people, its project and questions. `place`: of
    the copy in its project, from 0. `full`: with the rows of SOME.
    """

    ids: str
    team: str
    of_project: str
    project: str
    name: str
    place: int
    full: bool


def plan(pattern: Grown, sizes: list[int], full: int) -> list[Copy]:
    """Return the copies for projects of some sizes.

    Args:
        pattern: project to copy.
        sizes: documents of each project; multiples of those of the pattern.
        full: one project of so many, the first among them, has the rows of SOME.
    """
    copies = [size // pattern.documents for size in sizes]
    first = int(pattern.project[:DIGITS], 16) - sum(copies)
    planned: list[Copy] = []
    for number, places in enumerate(copies):
        of_project = f"{first + len(planned):0{DIGITS}x}"
        for place in range(places):
            ids, team = f"{first + len(planned):0{DIGITS}x}", f"{first + len(planned) % TEAMS:0{DIGITS}x}"
            project = of_project + pattern.project[DIGITS:]
            planned.append(Copy(ids, team, of_project, project, f"archive {number}", place, number % full == 0))
    return planned


def grown_of(workspace: Workspace, pattern: Grown, copies: list[Copy]) -> Grown:
    """Return the project of some copies, with people of its first one."""
    people = [copies[0].team + person[DIGITS:] for person in pattern.people]
    with workspace.database.read() as session:
        assert session.scalar(select(Project.id).where(Project.id == copies[0].project)), "the project was not made"
        assert session.scalar(select(User.id).where(User.id == people[0])), "its people were not made"
    return Grown(copies[0].project, people, len(copies) * pattern.documents)


def settings_of_making() -> Iterator[str]:
    """Yield the statements that set a server up for the making; `ordinary_settings` takes them back."""
    for name, value in _MAKING.items():
        yield f"ALTER SYSTEM SET {name} = '{value}'"


def ordinary_settings() -> Iterator[str]:
    """Yield the statements after which a server has its ordinary settings."""
    for name in _MAKING:
        yield f"ALTER SYSTEM RESET {name}"


def make(address: str, pattern: Grown, copies: list[Copy]) -> dict[str, tuple[int, int]]:
    """Add the copies; return (rows, bytes with indexes) of each table.

    Indexes rest while rows are added, and are built at the end. All is one transaction on emptied tables, which writes no
    log.

    Args:
        address: of the database.
        pattern: project to copy, the only one with documents.
        copies: to make.
    """
    with psycopg.connect(address) as connection:
        run = connection.execute
        run("SET session_replication_role = replica")  # foreign keys hold as those of the pattern do
        run("SET maintenance_work_mem = '1GB'")
        for table in (*OF_DOCUMENTS, *SUMS):
            run(
                f"CREATE TEMP TABLE pattern_{table} AS SELECT * FROM {table} WHERE {_of_pattern(table)}",
                (pattern.project,) if "%s" in _of_pattern(table) else (),
            )
        _add_projects(connection, pattern, copies)
        _ready_states(connection)
        _ready_texts(connection, pattern, copies)
        run(f"TRUNCATE {', '.join(_emptied())}")
        run(
            "UPDATE pg_index SET indisready = false FROM unnest(%s::regclass[]) AS t WHERE indrelid = t",
            (list(OF_DOCUMENTS),),
        )
        for table in OF_DOCUMENTS:
            begin = time.monotonic()
            run(f"{_insert(table, {})} FROM pattern_{table}")
            for copy in copies:
                if copy.full or table not in SOME:
                    run(_copy_rows(table, copy, pattern))
            added = time.monotonic()
            run(f"REINDEX TABLE {table}")
            print(f"  {table}: rows {added - begin:.0f} s, indexes {time.monotonic() - added:.0f} s", flush=True)
        for table in SUMS:
            _add_sums(connection, table, copies)
        _busy_hour(connection)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
        sizes = {}
        for table in OF_DOCUMENTS:
            rows = connection.execute(f"SELECT count(*), pg_total_relation_size('{table}') FROM {table}")
            [(number, size)] = rows.fetchall()
            sizes[table] = (number, size)
        return sizes


def _of_pattern(table: str) -> str:
    return "project_id = %s" if table in SUMS else "true"


def _emptied() -> list[str]:
    """Return the tables of documents and all that refer to them."""
    names = set(OF_DOCUMENTS)
    while more := {
        table.name
        for table in Base.metadata.sorted_tables
        if table.name not in names and any(key.column.table.name in names for key in table.foreign_keys)
    }:
        names |= more
    return sorted(names)


def _add_projects(connection: Any, pattern: Grown, copies: list[Copy]) -> None:
    """Add projects with their questions, and their people: one team after the other, all members of all projects."""
    run = connection.execute
    run("CREATE TEMP TABLE team (digits text)")
    run("CREATE TEMP TABLE copy (ids text, team text, of_project text, project text, name text, place int)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO team VALUES (%s)", [(team,) for team in sorted({copy.team for copy in copies})])
        rows = [(c.ids, c.team, c.of_project, c.project, c.name, c.place) for c in copies]
        cursor.executemany("INSERT INTO copy VALUES (%s, %s, %s, %s, %s, %s)", rows)
    tail = DIGITS + 1
    of_users = {"id": f"digits || substr(id, {tail})", "name": "name || ' ' || digits"}
    run(f"{_insert('users', of_users)} FROM users, team")
    first = "copy.place = 0"
    of_projects = {"id": "copy.project", "name": "copy.name"}
    run(f"{_insert('projects', of_projects)} FROM projects, copy WHERE {first} AND id = %s", (pattern.project,))
    run(
        "INSERT INTO members (project_id, user_id, role, created_at) SELECT copy.project, users.id,"
        f" CASE WHEN users.name = 'local' THEN 'admin' ELSE 'annotator' END, now() FROM users, copy WHERE {first}"
    )
    times = "(SELECT count(*) FROM copy AS c WHERE c.project = copy.project)"
    newest = "(SELECT max(ids) FROM copy AS c WHERE c.project = copy.project)"
    of_questions = {
        "id": f"of_project || substr(id, {tail})",
        "project_id": "copy.project",
        "documents": f"documents * {times}",
        "last_asked": f"CASE WHEN last_asked = '' THEN '' ELSE {newest} || substr(last_asked, {tail}) END",
    }
    run(
        f"{_insert('questions', of_questions)} FROM questions, copy WHERE {first} AND project_id = %s",
        (pattern.project,),
    )


def _ready_states(connection: Any) -> None:
    """Divide the states of revisions at the id of their page, so that copying joins texts alone."""
    connection.execute("ALTER TABLE pattern_revisions ADD COLUMN head_text text, ADD COLUMN tail_text text")
    connection.execute(
        "UPDATE pattern_revisions SET head_text = (regexp_match(state::text, '^(.*?\")[0-9a-f]{32}\"'))[1],"
        f" tail_text = (regexp_match(state::text, '^.*?\"[0-9a-f]{{{DIGITS}}}([0-9a-f]{{{32 - DIGITS}}}\".*)$'))[1]"
    )


def _ready_texts(connection: Any, pattern: Grown, copies: list[Copy]) -> None:
    """Give each project's key to the tokens of the pattern."""
    old = key_of(pattern.project)
    connection.execute("CREATE TEMP TABLE text_of (project text, id bigint, tokens tsvector)")
    for project in dict.fromkeys(copy.project for copy in copies):
        connection.execute(
            "INSERT INTO text_of SELECT %(project)s, id, array_to_tsvector(ARRAY(SELECT CASE WHEN left(t, 1) = '='"
            " THEN '=' || %(key)s || substr(t, %(letters)s + 2) ELSE %(key)s || substr(t, %(letters)s + 1) END"
            " FROM unnest(tsvector_to_array(tokens)) AS t)) FROM pattern_document_texts",
            {"project": project, "key": key_of(project), "letters": len(old)},
        )
    connection.execute("CREATE INDEX ON text_of (project)")
    connection.execute("ANALYZE text_of")


def _copy_rows(table: str, copy: Copy, pattern: Grown) -> str:
    changed: dict[str, str] = {}
    for column in Base.metadata.tables[table].columns:
        if column.name not in _SAME and _is_id(column):
            digits = copy.team if column.name in _PEOPLE else copy.ids
            digits = copy.of_project if column.name in ("project_id", "question_id") else digits
            value = f"'{digits}' || substr({column.name}, {DIGITS + 1})"
            changed[column.name] = (
                f"CASE {column.name} WHEN '' THEN '' ELSE {value} END" if column.name == "person_id" else value
            )
    if table == "document_groups":
        changed["sequence"] = f"sequence + {copy.place * pattern.documents}"
    if table == "documents":
        changed["sha256"] = f"'{copy.ids}' || substr(sha256, {DIGITS + 1})"
    if table == "revisions":
        changed["state"] = (
            f"CASE WHEN head_text IS NULL THEN state ELSE (head_text || '{copy.ids}' || tail_text)::jsonb END"
        )
    source = f"pattern_{table}"
    if table == "document_texts":
        changed |= {"id": "nextval('document_texts_id_seq')", "tokens": "text_of.tokens"}
        changed["document_id"] = f"'{copy.ids}' || substr(document_id, {DIGITS + 1})"
        source += f" JOIN text_of USING (id) WHERE project = '{copy.project}'"
    return f"{_insert(table, changed)} FROM {source}"


def _insert(table: str, changed: dict[str, str]) -> str:
    names = [f'"{column.name}"' for column in Base.metadata.tables[table].columns]
    values = [changed.get(column.name, f'"{column.name}"') for column in Base.metadata.tables[table].columns]
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)}"


def _is_id(column: Any) -> bool:
    return getattr(column.type, "length", None) == 32


def _add_sums(connection: Any, table: str, copies: list[Copy]) -> None:
    """Add up the sums of the copies of each project."""
    columns = Base.metadata.tables[table].columns
    keys = {
        column.name: {
            "project_id": "copy.project",
            "person_id": f"CASE person_id WHEN '' THEN '' ELSE copy.team || substr(person_id, {DIGITS + 1}) END",
        }.get(column.name, column.name)
        for column in columns
        if column.primary_key
    }
    numbers = [column.name for column in columns if not column.primary_key]
    places = ", ".join(str(at + 1) for at in range(len(keys)))
    connection.execute(
        f"INSERT INTO {table} ({', '.join([*keys, *numbers])})"
        f" SELECT {', '.join([*keys.values(), *(f'sum({name})' for name in numbers)])}"
        f" FROM pattern_{table}, copy GROUP BY {places}"
    )


def _busy_hour(connection: Any) -> None:
    """Add the changes that two hundred people leave in an hour, all of them followed."""
    connection.execute(
        "INSERT INTO changes (project_id, topic, subject_id, created_at)"
        " SELECT project, topic, ids || repeat('0', 24), now() - make_interval(secs => (40000 - n) * 0.09)"
        " FROM generate_series(1, 40000) AS n, unnest(ARRAY['answers', 'tasks', 'figures']) AS topic,"
        " LATERAL (SELECT * FROM copy ORDER BY ids LIMIT 1) AS c"
    )
    connection.execute("UPDATE followers SET cursor = (SELECT max(id) FROM changes)")
