"""The tab Questions: what a project asks of every document, who answers it, and whether a reviewer has the last word."""

from typing import Any

import gradio as gr

from annotator.ui.choice import NO_PROJECT, QUIET, current_user, offer, project_choice, require, role_of
from annotator.ui.notices import inform, warn
from annotator.ui.table import empty
from engine.annotation.answer_service import AnswerService
from engine.errors import Conflict, Refused
from engine.projects import project_settings, projects
from engine.tasks.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions, standard_questions

NO_QUESTIONS = empty(
    "No standard questions yet.",
    "Write one a line and save: each becomes a task for every document, also for those that come later.",
)
SETTINGS = ("review_required", "overlap_share", "overlap_people", "gold_share", "selection", "selection_random_share")
SHARES = ("overlap_share", "gold_share", "selection_random_share")  # shown in percent
ORDERS = [("As they came", "arrival"), ("Drawn", "random"), ("What the model is unsure of", "model")]
# What somebody is writing meanwhile stays.
_FRESHENED = "(...given) => window.Glossator?.freshened(...given) ?? given.slice(2)"
_FOLLOWED = "(...given) => window.Glossator?.followed(...given) ?? given[0]"
_KEPT = "(...given) => window.Glossator.kept(...given)"
HINT = "One a line, in the order in which they are to be answered. What you take out closes its tasks; answers stay."


def build(service: AnswerService, tab: gr.Tab) -> None:
    """Place the tab into the Gradio context around the call; what nobody is writing in is read anew whenever it is opened."""
    with gr.Column(elem_classes=["glossator-tab"]):
        with gr.Row(elem_classes=["glossator-actions"]):
            project = project_choice()
        content = gr.HTML()
        # What the page was given, to tell what somebody has changed on it since. On the page: it outlives the server.
        began = gr.JSON(visible="hidden")
        newer = gr.JSON(visible="hidden")
        with gr.Row(equal_height=False):
            with gr.Column(scale=3, min_width=320):
                questions = gr.Textbox(
                    label="Standard questions",
                    info=HINT,
                    lines=10,
                    max_lines=24,
                    placeholder="What is the invoice number?\nWhat is the total?\nWho is the customer?",
                )
                save_questions = gr.Button("Save questions", variant="primary", size="md")
            with gr.Column(scale=2, min_width=320):
                review_required = gr.Checkbox(
                    label="Answers need a review",
                    info="What an annotator accepts is submitted, and counts once a reviewer has accepted it.",
                )
                overlap_share = gr.Slider(
                    0, 100, step=5, label="Answered by several people, % of tasks", info="Their agreement is measured."
                )
                overlap_people = gr.Radio([2, 3], label="How many people then")
                gold_share = gr.Slider(
                    0, 100, step=5, label="Known answers, % of tasks", info="Asked again without saying so."
                )
                selection = gr.Radio(
                    ORDERS, label="Which documents come next", info="The worker puts them in order by a survey."
                )
                random_share = gr.Slider(
                    0,
                    100,
                    step=5,
                    label="Drawn beside the model's choice, % of documents",
                    info="What its choice is worth shows on the tab Quality.",
                )
                save_settings = gr.Button("Save settings", size="md")
    refresh = gr.Timer(5)

    def show(project_id: str | None, request: gr.Request) -> str:
        if project_id is None or role_of(service, request, project_id) is None:
            return NO_PROJECT
        view = queue_view(service.workspace, project_id, current_user(service, request).id)
        if view.total == 0:
            if standard_questions(service.workspace, project_id):
                return empty("No documents yet.", "Every document that comes in is asked these questions.")
            return NO_QUESTIONS
        sums = (
            ("open", view.open),
            ("at work", len(view.held)),
            ("wait for review", view.submitted),
            ("done", view.done),
            *([("automatic", view.automatic)] if view.automatic else []),
            ("in all", view.total),
        )
        figures = "".join(f"<div><b>{count:,}</b> {what}</div>" for what, count in sums)
        return f'<div class="glossator-figures">{figures}</div>'

    def newest(project_id: str | None, seen: Any, request: gr.Request) -> dict[str, Any]:
        """What there is now, and what the page was given when it asked: where it was given something else since, that is newer."""
        if project_id is None or role_of(service, request, project_id) is None:
            return {}
        return {**_there(service, project_id), "seen": seen}

    def keep_questions(project_id: str | None, seen: Any, text: str, request: gr.Request) -> dict[str, Any]:
        user_id = require(service, request, project_id, "reviewer").id
        seen = _of_this(seen, project_id)
        try:
            kept = replace_standard_questions(
                service.workspace, project_id or "", _lines(text), user_id, before=seen["questions"]
            )
        except Conflict as conflict:
            # It was told what others did: from here on the list is put in place of theirs knowingly.
            warn(str(conflict))
            theirs = _there(service, project_id or "")["questions"]
            return {"project": project_id, "questions": theirs, "sent": {}}
        inform(f"{len(kept)} standard question{'' if len(kept) == 1 else 's'} saved.")
        return {"project": project_id, "questions": [each.text for each in kept], "sent": {"text": text}}

    def keep_settings(
        project_id: str | None,
        seen: Any,
        review: bool,
        share: float,
        people: int,
        gold: float,
        order: str,
        drawn: float,
        request: gr.Request,
    ) -> dict[str, Any]:
        by = require(service, request, project_id, "admin").id
        seen = _of_this(seen, project_id)
        there = _there(service, project_id or "")["settings"]
        sent: list[Any] = [review, share, people, gold, order, drawn]
        changed = {
            name: value for name, value, before in zip(SETTINGS, sent, seen["settings"], strict=True) if value != before
        }
        if any(there[SETTINGS.index(name)] != seen["settings"][SETTINGS.index(name)] for name in changed):
            warn("Somebody else changed the same setting meanwhile: this is theirs now. Set it anew.")
            return {"project": project_id, "settings": there, "sent": {"settings": sent}}
        projects.change_settings(
            service.workspace,
            project_id or "",
            by=by,
            **{name: value / 100 if name in SHARES else value for name, value in changed.items()},
        )
        inform("Settings saved.")
        there = _there(service, project_id or "")["settings"]
        return {"project": project_id, "settings": there, "sent": {"settings": sent}}

    def allow(project_id: str | None, request: gr.Request) -> list[object]:
        """Who may only look finds the list and the settings, but nothing to save."""
        role = role_of(service, request, project_id)
        lists, chooses = role in ("reviewer", "admin"), role == "admin"
        return [
            gr.update(interactive=lists),
            *(gr.update(interactive=chooses) for _ in settings),
            gr.update(visible=lists),
            gr.update(visible=chooses),
        ]

    def save(button: gr.Button, keep: Any, parts: list[Any]) -> None:
        saved = gr.JSON(visible="hidden")
        button.click(keep, [project, began, *parts], saved, **QUIET).success(
            None, [project, saved, began, *shown], [began, *shown], js=_KEPT, **QUIET
        ).then(show, project, content, **QUIET)

    settings = [review_required, overlap_share, overlap_people, gold_share, selection, random_share]
    shown = [questions, *settings]
    offer(service, project, tab, [began, *shown], _FOLLOWED)
    for event in (project.change, tab.select):
        event(newest, [project, began], newer, **QUIET).success(
            None, [project, newer, began, *shown], [began, *shown], js=_FRESHENED, **QUIET
        )
    for event in (project.change, refresh.tick):
        event(show, project, content, **QUIET)
    allowed = [questions, *settings, save_questions, save_settings]
    project.change(allow, project, allowed, **QUIET)
    tab.select(allow, project, allowed, **QUIET)
    gr.on(None, show, project, content, **QUIET)
    gr.on(None, allow, project, allowed, **QUIET)
    save(save_questions, keep_questions, [questions])
    save(save_settings, keep_settings, settings)


def _there(service: AnswerService, project_id: str) -> dict[str, Any]:
    """What a project's list and settings are now, as the page shows them: shares in percent."""
    chosen = project_settings.settings_of(projects.project_by_id(service.workspace, project_id))
    return {
        "project": project_id,
        "questions": [each.text for each in standard_questions(service.workspace, project_id)],
        "settings": [
            chosen.review_required,
            round(100 * chosen.overlap_share),
            chosen.overlap_people,
            round(100 * chosen.gold_share),
            chosen.selection,
            round(100 * chosen.selection_random_share),
        ],
    }


def _of_this(seen: Any, project_id: str | None) -> dict[str, Any]:
    """Return what the page was given, if it was for this project."""
    if not seen or seen.get("project") != project_id:
        raise Refused("This page was not given the project's list yet. Open the tab again, then save.")
    return dict(seen)


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
