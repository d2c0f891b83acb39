"""HTML page of a report: one self-contained file without scripts."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from engine.training.evaluation.evaluate import ImageOf, opener_of
from engine.training.evaluation.metrics import Scored
from engine.training.evaluation.report import wording
from engine.training.evaluation.report.failures import MEANING, Failure, Failures, Kind
from engine.training.evaluation.report.pictures import picture
from engine.training.evaluation.report.plots import calibration, histogram, value_bars


def report_page(
    name: str,
    answer: Mapping[str, Any],
    scored: Sequence[Scored],
    failures: Failures,
    *,
    images_from: Path | ImageOf | None,
    on_picture: Callable[[int], None] | None = None,
) -> str:
    """Return the HTML of an evaluation of the set `name`.

    `answer` is the result of `Evaluation.to_json`; `images_from` as in `evaluate`. Pages without image are drawn from
    their words. `on_picture(done)` is called after each picture.
    """
    open_image = opener_of(images_from)
    worst = failures.worst()
    sections, done = [], 0
    for kind, shown in worst.items():
        cards = []
        for failure in shown:
            cards.append(_card(failure, picture(failure, open_image(failure.page))))
            done += 1
            if on_picture is not None:
                on_picture(done)
        sections.append(_section(kind, failures.counts[kind], cards))
    template = Template(files("engine.training.evaluation.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(f"Evaluation: {name}"),
        name=escape(name),
        described=escape(wording.describe_questions(answer)),
        model=escape(str(answer["model"])[:12]),
        tiles="".join(_tile(answer, key, title) for key, title in wording.figures_with_values(answer).items()),
        rest=_remaining_figures(answer),
        histogram=_figure(histogram(scored), "Questions by IoU; the grey line is the lexical baseline."),
        calibration=_figure(
            calibration(scored),
            "Predicted IoU against true IoU; a calibrated model lies on the dashed line.",
        ),
        values=_figure(
            value_bars(wording.of_types(answer)),
            "Answers with an equal value by type: bars for the model, dashes for the lexical baseline.",
        ),
        types=_types(answer),
        slices=_slices(answer),
        kinds=_kinds(failures, worst),
        failures="".join(sections) or "<p>No answer was wrong.</p>",
    )


def _tile(answer: Mapping[str, Any], key: str, title: str) -> str:
    ours, baseline, difference = wording.side_by_side(answer, key)
    value, _, interval = ours.partition(" ")
    return (
        f'<div class="tile"><h3>{title}</h3><p class="value">{value}</p><p class="interval">{interval or "&nbsp;"}</p>'
        f"<dl><dt>baseline</dt><dd>{baseline}</dd><dt>difference</dt><dd>{difference}</dd></dl></div>"
    )


def _remaining_figures(answer: Mapping[str, Any]) -> str:
    """Return the remaining figures as a list."""
    rows = [(title, wording.format_share(answer[key])) for key, title in wording.OF_THE_MODEL.items()]
    rows += [(title, wording.format_share(answer[key])) for key, title in wording.REACHABLE.items() if key in answer]
    rows += wording.of_repeated(answer)
    rows += wording.of_ocr(answer)
    clicks = answer.get("mean_iou_after") or []
    rows += [
        (f"mean IoU after {at} click{'s' if at > 1 else ''}", wording.format_share(value))
        for at, value in enumerate(clicks, 1)
    ]
    rows += [(title, f"{answer[key]:.0f}") for key, title in wording.TIMES.items() if answer[key] is not None]
    return "".join(f"<div><dt>{title}</dt><dd>{value}</dd></div>" for title, value in rows)


def _figure(plot: str, caption: str) -> str:
    return f"<figure>{plot}<figcaption>{caption}</figcaption></figure>" if plot else ""


def _slices(answer: Mapping[str, Any]) -> str:
    columns = wording.figures_of(answer)
    head = "".join(f'<th colspan="2">{title}</th>' for title in columns.values())
    second = '<th class="ours">model</th><th>baseline</th>' * len(columns)
    bodies = []
    for part in wording.slices_of(answer):
        rows = []
        for title, figures in part:
            cells = "".join(
                f'<td class="ours">{wording.format_share(figures[key])}</td>'
                f"<td>{wording.format_share(figures[f'floor_{key}'])}</td>"
                for key in columns
            )
            pixels = wording.format_share(figures["pixel_mean_iou"])
            rows.append(
                f'<tr><th scope="row">{escape(title)}</th><td>{figures["questions"]:,}</td>{cells}'
                f"<td>{pixels}</td></tr>"
            )
        bodies.append(f"<tbody>{''.join(rows)}</tbody>")
    return (
        f'<thead><tr><th rowspan="2"></th><th rowspan="2">questions</th>{head}'
        '<th rowspan="2">pixels alone,<br>mean IoU</th></tr>'
        f"<tr>{second}</tr></thead>{''.join(bodies)}"
    )


def _types(answer: Mapping[str, Any]) -> str:
    """Return a table of the figures of values by type; empty where no value is known."""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{figures["questions"]:,}</td>'
        + "".join(
            f'<td class="ours">{wording.format_share(figures[key])}</td>'
            f"<td>{wording.format_share(figures[f'floor_{key}'])}</td>"
            for key in wording.FIGURES_OF_VALUES
        )
        + "</tr>"
        for name, figures in wording.of_types(answer)
    )
    if not rows:
        return ""
    head = "".join(f'<th colspan="2">{title}</th>' for title in wording.FIGURES_OF_VALUES.values())
    second = '<th class="ours">model</th><th>baseline</th>' * len(wording.FIGURES_OF_VALUES)
    return (
        '<h2>Values by type</h2><p class="meaning">Equal: the same date, amount or other value, however it is '
        "printed.</p>"
        '<div class="panel wide"><table><thead><tr><th rowspan="2"></th><th rowspan="2">questions</th>'
        f"{head}</tr><tr>{second}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _kinds(failures: Failures, worst: Mapping[Kind, Sequence[Failure]]) -> str:
    """Return a bar for each kind of failure, with a link to its pictures."""
    most = max(failures.counts.values(), default=1)
    return "".join(
        f'<a class="kind" href="#{kind.name}"><span>{kind.value}</span>'
        f'<i><b style="width:{100 * failures.counts[kind] / most:.1f}%"></b></i><em>{failures.counts[kind]:,}</em></a>'
        for kind in worst
    )


def _section(kind: Kind, count: int, cards: Sequence[str]) -> str:
    return (
        f'<section id="{kind.name}"><h2>{kind.value[0].upper()}{kind.value[1:]}</h2>'
        f'<p class="meaning">{MEANING[kind]} The worst {len(cards):,} of {count:,}.</p>'
        f'<div class="cards">{"".join(cards)}</div></section>'
    )


def _card(failure: Failure, drawn: str) -> str:
    scored = failure.scored
    rows = [
        ("IoU", wording.format_share(scored.iou if scored.answerable else None, 2)),
        ("word F1", wording.format_share(scored.word_f1, 2)),
        ("predicted IoU", wording.format_share(scored.predicted_iou, 2)),
        ("answered", f"{scored.answered:.0%}"),
        ("baseline\u2019s IoU", wording.format_share(scored.baseline_iou if scored.answerable else None, 2)),
    ]
    figures = "".join(f"<div><dt>{title}</dt><dd>{value}</dd></div>" for title, value in rows)
    return (
        f'<article class="card"><h3>{escape(failure.question)}</h3>{drawn}'
        '<p class="text"><span class="key gold-key">right</span>'
        f"{escape(failure.gold_text) or '<i>not on this page</i>'}</p>"
        '<p class="text"><span class="key marked-key">model</span>'
        f"{escape(failure.marked_text) or '<i>no words</i>'}</p>"
        f'<dl class="strip">{figures}</dl>'
        f'<p class="where">{escape(failure.page.page_id)} &middot; {escape(scored.question_id)}</p></article>'
    )
