"""Uses of questions are kept: they equal what the answers say, whatever people ask, remove and restore."""

import threading

from sqlalchemy import update

from db import changes
from db.tables import Annotation, Question, User
from engine.annotation import removal
from engine.tasks.asked_questions import asked_questions
from engine.tasks.standard_questions import replace_standard_questions, suggestions
from engine.workspace import Workspace
from tests.support.drift import figures_adrift, find_drift, rebuild_all
from tests.support.office import Office

FREE = "Who signed it?"


def _asked(workspace: Workspace, office: Office, question: str, document: int, person: User) -> str:
    with workspace.database.write() as session:
        answer = Annotation(
            project_id=office.project.id,
            document_id=office.documents[document].id,
            question_id=question,
            author_id=person.id,
        )
        session.add(answer)
        session.flush()
        return answer.id


def _question(workspace: Workspace, office: Office) -> str:
    with workspace.database.write() as session:
        question = Question(project_id=office.project.id, text=FREE)
        session.add(question)
        session.flush()
        return question.id


def _uses(workspace: Workspace, office: Office, question: str) -> tuple[int, str]:
    assert not find_drift(workspace)
    with workspace.database.read() as session:
        kept = session.get_one(Question, question)
        return kept.documents, kept.last_asked


def test_uses_count_documents_whatever_is_removed_and_restored(workspace: Workspace) -> None:
    office = Office(workspace, bills=3)
    question = _question(workspace, office)
    assert _uses(workspace, office, question) == (0, "")
    first = _asked(workspace, office, question, 0, office.ann)
    second = _asked(workspace, office, question, 0, office.ben)  # the same document
    assert _uses(workspace, office, question) == (1, second)
    third = _asked(workspace, office, question, 1, office.ann)
    assert _uses(workspace, office, question) == (2, third)
    removal.remove(workspace, first, None, office.ann.id)
    assert _uses(workspace, office, question) == (2, third)
    removal.remove(workspace, second, None, office.ben.id)
    removal.remove(workspace, third, None, office.ann.id)
    assert _uses(workspace, office, question) == (0, "")
    assert suggestions(workspace, office.project.id, office.ann.id).recent == []
    removal.restore(workspace, second, office.ben.id)
    assert _uses(workspace, office, question) == (1, second)
    [recent] = suggestions(workspace, office.project.id, office.ann.id).recent
    assert (recent.id, recent.times) == (question, 1)
    replace_standard_questions(workspace, office.project.id, [FREE], office.rita.id)
    assert suggestions(workspace, office.project.id, office.ann.id).recent == []
    assert [each.documents for each in asked_questions(workspace, office.project.id) if each.standard] == [1]


def test_a_question_asked_by_all_at_once_is_counted_once(workspace: Workspace) -> None:
    office = Office(workspace, bills=2)
    question = _question(workspace, office)
    people = [office.ann, office.ben, office.rita]
    start = threading.Barrier(len(people) + 1)

    def ask(person: User) -> None:
        start.wait()
        for document in (0, 1):
            _asked(workspace, office, question, document, person)

    threads = [threading.Thread(target=ask, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    start.wait()
    replace_standard_questions(workspace, office.project.id, [FREE], office.rita.id)  # meanwhile
    for thread in threads:
        thread.join()
    assert _uses(workspace, office, question)[0] == 2


def test_a_drift_of_uses_is_found_and_repaired(workspace: Workspace) -> None:
    office = Office(workspace, bills=2)
    question = _question(workspace, office)
    answer = _asked(workspace, office, question, 0, office.ann)
    with workspace.database.write() as session:
        session.execute(update(Question).where(Question.id == question).values(documents=7, last_asked=""))
        changes.publish(session, "questions", office.project.id)
    assert figures_adrift(workspace, office.project.id) == [("question_uses", question)]
    rebuild_all(workspace, office.project.id)
    assert _uses(workspace, office, question) == (1, answer)
