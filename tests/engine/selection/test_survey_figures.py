"""Figures of a survey that are kept in memory equal those that are read anew, whatever happens."""

import random
from contextlib import suppress

from db.tables import Document
from engine.annotation import removal
from engine.errors import Refused
from engine.projects.projects import change_settings
from engine.selection import auto_accept, survey_figures
from engine.selection.precision import THRESHOLDS
from engine.tasks import tasks as all_tasks
from engine.tasks.opening.open_tasks import open_missing
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, tasks_of
from tests.support.automatic_project import QUESTIONS, RIGHT, WRONG, Works
from tests.support.factories import bill, make_document
from tests.support.survey_rows import say


def figures(works: Works, *, anew: bool) -> survey_figures.SurveyFigures:
    if anew:
        survey_figures._remembered.clear()
    with works.workspace.database.read() as session:
        return survey_figures.survey_figures(session, works.project.id, works.version.id)


def check(works: Works, done: list[str]) -> None:
    kept = figures(works, anew=False)
    again = figures(works, anew=True)
    assert kept.measured == again.measured, done
    assert kept.surveyed == again.surveyed, done
    assert [kept.acceptable[each] for each in THRESHOLDS] == [again.acceptable[each] for each in THRESHOLDS], done


def test_kept_figures_equal_those_read_anew_after_each_act(workspace: Workspace) -> None:
    works, rng, done = Works(workspace, holdouts=6), random.Random(3), ["begin"]
    works.model_says()
    check(works, done)
    documents: list[Document] = [*works.holdouts, *works.waiting]
    given: list[str] = []

    def answered() -> None:
        open_ones = [each for each in tasks_of(workspace, works.project.id) if each.answered < each.wanted]
        if open_ones:
            given.append(answer(workspace, rng.choice(open_ones).id, works.ann, [rng.randrange(6)]).id)

    def removed() -> None:
        if given:
            removal.remove(workspace, given.pop(), None, works.boss.id)

    def surveyed() -> None:
        question = rng.choice(QUESTIONS)
        said = rng.choice((RIGHT[question], WRONG))
        say(workspace, works.version, rng.choice(documents), question, said, answered=rng.uniform(0.4, 1))

    def arrived() -> None:
        made = make_document(workspace, works.project.id, [bill(500 + len(done))], name=f"{len(done)}.png")
        with workspace.database.write() as session:
            open_missing(session, works.project.id, made.id)
        documents.append(made)

    def asked() -> None:
        wanted = rng.sample(QUESTIONS, rng.randint(1, 3))
        replace_standard_questions(workspace, works.project.id, wanted, works.rita.id)

    def known() -> None:
        for task in tasks_of(workspace, works.project.id):
            if given and task.answered and task.gold_revision_id is None:
                try:
                    all_tasks.set_gold(workspace, task.id, rng.choice(given), works.boss.id)
                except Refused:
                    continue
                return

    def drawn() -> None:
        change_settings(workspace, works.project.id, overlap_share=rng.choice((0.0, 0.5)))

    def withdrawn() -> None:
        auto_accept.undo(workspace, works.project.id, by=works.boss)

    for _ in range(60 if workspace.database.dialect == "sqlite" else 25):
        act = rng.choice((answered, answered, removed, surveyed, surveyed, arrived, asked, known, drawn, withdrawn))
        done.append(act.__name__)
        with suppress(Refused):
            act()
        check(works, done)
