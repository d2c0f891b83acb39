"""The tab Questions: fields of a project, its questions one a line, and settings of its queue."""

from collections.abc import Sequence
from html import escape
from typing import Any

import gradio as gr

from annotator.gradio import front_end_tabs
from annotator.gradio.event_user import current_user, require, role_of
from annotator.gradio.hidden_value import place_hidden_value
from annotator.gradio.live_tab import QUIET, LiveTab
from annotator.gradio.notices import inform, warn
from annotator.gradio.table_pages import TablePages
from annotator.ui import task_changes as following
from annotator.ui.table import NO_PROJECT, Markup, empty, table
from engine.annotation.answer_service import AnswerService
from engine.errors import Conflict, Refused
from engine.plurals import count
from engine.projects import project_settings, projects
from engine.tasks.asked_questions import ListedQuestion, Sort, asked_questions, count_asked
from engine.tasks.opening.task_changes import ORDER, OVERLAP, QUESTIONS
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions, standard_questions

NO_QUESTIONS = empty(
    "No standard questions yet.",
    "Write one question per line and save. Each becomes a task for every document, including later ones.",
)
SETTINGS = (
    "review_required",
    "overlap_share",
    "overlap_people",
    "unaided_share",
    "gold_share",
    "selection",
    "selection_random_share",
)
SHARES = ("overlap_share", "unaided_share", "gold_share", "selection_random_share")  # shown in percent
ROWS = 50  # of one page of the table
COLUMNS = ["Question", "Kind", "Documents"]
_BIN = '<glossator-question-bin class="g-people" data-project="{project}"></glossator-question-bin>'
SORTS: list[tuple[str, Sort]] = [("Most documents first", "-documents"), ("Text", "text")]
ORDERS = [("Order of arrival", "arrival"), ("Random order", "random"), ("Most uncertain for the model first", "model")]
# Unsaved input on the page is kept; see annotator/static/gradio/form_sync.js.
_KEEP_INPUT = "(...values) => window.Glossator.keepInput(...values)"
HINT = (
    "The quick way: one question per line, in order. Taking a question out closes its tasks; its answers are kept. "
    "An admin removes a question with its answers below, under Questions asked."
)


def build(service: AnswerService) -> None:
    """Place the tab Questions into the current Gradio context.

    Fields without unsaved input follow what others save.

    Args:
        service: answer service with the workspace.
    """
    with gr.Column(elem_classes=["glossator-tab"]):
        tab = LiveTab(service, "questions", "Questions")
        with gr.Row(elem_classes=["glossator-actions"]):
            project = tab.place_project_choice()
        content = gr.HTML()
        # The values that the page received, to tell which ones the person has changed. Kept on the page: it outlives
        # the server.
        began = place_hidden_value()
        newer = place_hidden_value()
        with gr.Row(equal_height=False):
            with gr.Column(scale=3, min_width=320):
                front_end_tabs.build_fields()
                # Nobody writes here before the stored values have come: they would replace what was written.
                questions = gr.Textbox(
                    label="Standard questions",
                    info=HINT,
                    lines=10,
                    max_lines=24,
                    interactive=False,
                    placeholder="What is the invoice number?\nWhat is the total?\nWho is the customer?",
                )
                save_questions = gr.Button("Save questions", variant="primary", size="md", visible=False)
            with gr.Column(scale=2, min_width=320):
                review_required = gr.Checkbox(
                    label="Review required",
                    info="Answers of annotators are submitted. They count after a reviewer has accepted them.",
                    interactive=False,
                )
                overlap_share = gr.Slider(
                    0,
                    100,
                    step=5,
                    interactive=False,
                    label="Tasks answered by several people (%)",
                    info="Used to measure agreement.",
                )
                overlap_people = gr.Radio([2, 3], label="People per overlapping task", interactive=False)
                unaided_share = gr.Slider(
                    0,
                    100,
                    step=5,
                    interactive=False,
                    label="Of these, without the model's proposal (%)",
                    info="People who start from one proposal agree too easily. The tab Quality shows both figures.",
                )
                gold_share = gr.Slider(
                    0,
                    100,
                    step=5,
                    interactive=False,
                    label="Hidden check questions (%)",
                    info="Gold questions: inserted unannounced to measure accuracy. Share of all tasks.",
                )
                selection = gr.Radio(
                    ORDERS,
                    label="Document order",
                    info="The worker updates the order after each survey.",
                    interactive=False,
                )
                random_share = gr.Slider(
                    0,
                    100,
                    step=5,
                    interactive=False,
                    label="Random documents mixed in (%)",
                    info="The tab Quality compares them with the model's selection.",
                )
                save_settings = gr.Button("Save settings", size="md", visible=False)
        removed = gr.HTML(apply_default_css=False)
        with gr.Column(visible=False) as listing:
            gr.HTML("<h2>Questions asked</h2>", apply_default_css=False)
            with gr.Row(elem_classes=["glossator-actions"]):
                search = gr.Textbox(label="Search questions", placeholder="Part of a question", max_length=200)
                order = gr.Dropdown(SORTS, value="-documents", label="Order")
            listed = gr.HTML()
        pages = TablePages("questions")

    def show(request: gr.Request, project_id: str | None, seen: Any, *given: Any) -> list[Any]:
        role = role_of(service, request, project_id)
        lists, chooses = role in ("reviewer", "admin"), role == "admin"
        # Annotators read, reviewers edit the list, admins the settings too.
        allowed = [gr.update(interactive=lists), *(gr.update(interactive=chooses) for _ in settings)]
        allowed += [gr.update(visible=lists), gr.update(visible=chooses)]
        if project_id is None or role is None:
            return [NO_PROJECT, {}, *allowed, "", gr.update(visible=False), "", *pages.hide()]
        # The values that the page had when it asked tell it which ones were changed meanwhile.
        stored = {**_load_values(service, project_id), "seen": seen}
        progress = following.draw_progress(service.workspace, project_id, (QUESTIONS, OVERLAP, ORDER))
        return [
            progress + figures(project_id, current_user(service, request).id),
            stored,
            *allowed,
            _BIN.format(project=escape(project_id)) if chooses else "",
            *list_asked(project_id, current_user(service, request).id, chooses, *given[-3:]),
        ]

    def list_asked(
        project_id: str, user_id: str, removes: bool, query: str | None, sort: Sort | None, place: Any
    ) -> list[Any]:
        query, sort = query or "", sort or "-documents"
        total = count_asked(service.workspace, project_id, query, user_id)
        if not total and not query:
            return [gr.update(visible=False), "", *pages.hide()]
        asked = {"project": project_id, "query": query, "sort": sort}
        trail = pages.read_trail(place, **asked)
        cursor = trail[-1] if trail else None
        page = asked_questions(
            service.workspace, project_id, query=query, sort=sort, limit=ROWS, cursor=cursor, viewer_id=user_id
        )
        before = len(trail) * ROWS
        return [
            gr.update(visible=True),
            _list_page(page, before, total, removes),
            *pages.show(trail, page.next, **asked),
        ]

    def figures(project_id: str, user_id: str) -> str:
        view = queue_view(service.workspace, project_id, user_id)
        if view.total == 0:
            if standard_questions(service.workspace, project_id):
                return empty(
                    "No documents yet.", "Add documents on the tab Annotate. Each gets a task for every question."
                )
            return NO_QUESTIONS
        sums = (
            ("open", view.open - view.in_progress),
            ("in progress", view.in_progress),
            ("to review", view.submitted),
            *([("skipped", view.skipped)] if view.skipped else []),
            ("done", view.done),
            *([("cannot be answered", view.dismissed)] if view.dismissed else []),
            *([("automatic", view.automatic)] if view.automatic else []),
            ("in total", view.total),
        )
        shown = "".join(f"<div><b>{count:,}</b> {what}</div>" for what, count in sums)
        return f'<div class="glossator-figures">{shown}</div>'

    def keep_questions(project_id: str | None, seen: Any, text: str, request: gr.Request) -> dict[str, Any]:
        user_id = require(service, request, project_id, "reviewer").id
        seen = _of_this(seen, project_id)
        try:
            stored = replace_standard_questions(
                service.workspace, project_id or "", _lines(text), user_id, before=seen["questions"]
            )
        except Conflict as conflict:
            # The page now shows the other person's list: saving again replaces it on purpose.
            warn(str(conflict))
            theirs = _load_values(service, project_id or "")["questions"]
            return {"project": project_id, "questions": theirs, "sent": {}}
        progress = following.progress_sentence(service.workspace, project_id or "")
        inform(f"{count(len(stored), 'standard question')} saved.{progress}")
        return {"project": project_id, "questions": [question.text for question in stored], "sent": {"text": text}}

    def keep_settings(
        project_id: str | None,
        seen: Any,
        review: bool,
        share: float,
        people: int,
        unaided: float,
        gold: float,
        order: str,
        drawn: float,
        request: gr.Request,
    ) -> dict[str, Any]:
        by = require(service, request, project_id, "admin").id
        seen = _of_this(seen, project_id)
        stored = _load_values(service, project_id or "")["settings"]
        sent: list[Any] = [review, share, people, unaided, gold, order, drawn]
        changed = {
            name: value for name, value, before in zip(SETTINGS, sent, seen["settings"], strict=True) if value != before
        }
        if any(stored[SETTINGS.index(name)] != seen["settings"][SETTINGS.index(name)] for name in changed):
            warn(
                "Somebody else has changed the same setting. The page now shows their value; change it again if needed."
            )
            return {"project": project_id, "settings": stored, "sent": {"settings": sent}}
        projects.change_settings(
            service.workspace,
            project_id or "",
            by=by,
            **{name: value / 100 if name in SHARES else value for name, value in changed.items()},
        )
        inform(f"Settings saved.{following.progress_sentence(service.workspace, project_id or '')}")
        stored = _load_values(service, project_id or "")["settings"]
        return {"project": project_id, "settings": stored, "sent": {"settings": sent}}

    def save(button: gr.Button, keep: Any, parts: list[Any]) -> None:
        saved = place_hidden_value()
        saving = button.click(keep, [project, began, *parts], saved, **QUIET)
        placed = saving.success(None, [project, saved, began, *shown], [began, *shown], js=_KEEP_INPUT, **QUIET)
        tab.show_result_of(placed.then)

    settings = [
        review_required,
        overlap_share,
        overlap_people,
        unaided_share,
        gold_share,
        selection,
        random_share,
    ]
    shown = [questions, *settings]
    tab.follow(
        show,
        [search, order, pages.place],
        [content, newer, *shown, save_questions, save_settings, removed, listing, listed, *pages.outputs],
        newer=[newer],
        form=[began, *shown],
    )
    tab.fetch_again_on(search.change, order.input)
    pages.fetch_when_turned(tab)
    save(save_questions, keep_questions, [questions])
    save(save_settings, keep_settings, settings)


def _list_page(page: Sequence[ListedQuestion], before: int, total: int, removes: bool) -> str:
    """Return a page of the questions that were asked (HTML).

    Args:
        page: the page.
        before: number of questions on the pages before it.
        total: number of questions on all pages.
        removes: whether the person may remove questions.
    """
    if not page:
        return empty("No questions found.", "No question contains all of these words.")
    columns = [*COLUMNS, *(["Removal"] if removes else [])]
    rows = [
        [
            question.text,
            "standard" if question.standard else "free",
            question.documents,
            *([_removal(question)] if removes else []),
        ]
        for question in page
    ]
    last = before + len(rows)
    shown = f"Questions {before + 1:,} to {last:,} of {max(total, last):,}"
    return f'<p class="glossator-range">{shown}</p>{table(columns, rows)}'


def _removal(question: ListedQuestion) -> Markup:
    """Return the button that asks for the removal of a question (static/tabs/removed_questions.js)."""
    label = escape(f"Remove the question {question.text}", quote=True)
    names = f'class="glossator-quiet" aria-label="{label}" data-remove-question="{question.id}"'
    return Markup(f'<button type="button" {names}>Remove</button>')


def _load_values(service: AnswerService, project_id: str) -> dict[str, Any]:
    """Return a project's stored questions and settings as the page shows them: shares in percent."""
    chosen = project_settings.settings_of(projects.project_by_id(service.workspace, project_id))
    return {
        "project": project_id,
        "questions": [question.text for question in standard_questions(service.workspace, project_id)],
        "settings": [
            chosen.review_required,
            round(100 * chosen.overlap_share),
            chosen.overlap_people,
            round(100 * chosen.unaided_share),
            round(100 * chosen.gold_share),
            chosen.selection,
            round(100 * chosen.selection_random_share),
        ],
    }


def _of_this(seen: Any, project_id: str | None) -> dict[str, Any]:
    """Return the values that the page received for this project.

    Raises:
        Refused: the page received none, or those of another project.
    """
    if not seen or seen.get("project") != project_id:
        raise Refused("The project's questions are not loaded yet. Open the tab again, then save.")
    return dict(seen)


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
