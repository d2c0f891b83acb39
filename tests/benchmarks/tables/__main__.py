"""How many rows and cells of tables are proposed right, before and after corrections, beside two baselines.

python -m tests.benchmarks.tables [--data FOLDER] [--count 300] [--plots FOLDER]: generated tables of kinds that the
proposer was built on, of kinds held out, and with a folder of data the real tables of real_tables.json. The baselines
are told which grid of a page to take and how its columns are to be assigned; the proposer is not.
"""

import argparse
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from tests.benchmarks.markdown import table as markdown
from tests.benchmarks.plots import add_plots_argument, bars
from tests.benchmarks.tables.baselines import TUNED, Clusters, by_clusters, by_find_tables
from tests.benchmarks.tables.generated import COUNT, generated_tables
from tests.benchmarks.tables.kinds import DEVELOPMENT, HELD_OUT
from tests.benchmarks.tables.mistakes import describe_mistakes
from tests.benchmarks.tables.proposed import propose
from tests.benchmarks.tables.real import real_tables
from tests.benchmarks.tables.score import TableScore, score, total
from tests.benchmarks.tables.simulation import simulate
from tests.benchmarks.tables.truth import TrueTable

_HEADS = ("", "tables", "rows right", "mean by table", "rows too many", "cell precision", "recall", "F1", "mean F1")
_CORRECTIONS = (0, 1, 3)
_SEED = 1
_TUNING_SEED = 7  # other tables of the same kinds than those that are reported
_NAMES = {0: "proposer", 1: "after one corrected row", 3: "after three"}
Scores = dict[str, dict[str, TableScore]]  # method -> name of the table -> its score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with pdfs and unlabelled, for the real tables")
    parser.add_argument("--readings", type=Path, help="folder to keep the words of real pages in, between runs")
    parser.add_argument("--count", type=int, default=COUNT, help="generated tables of a group; 0 for none")
    parser.add_argument("--seed", type=int, default=_SEED)
    parser.add_argument("--group", choices=("development", "held out", "real"), action="append", help="default: all")
    parser.add_argument("--each", action="store_true", help="print kinds of generated tables, and each real table")
    parser.add_argument(
        "--mistakes",
        action="store_true",
        help="print the first wrong rows of tables for development, and no figures; those of the others would help to fit them",
    )
    parser.add_argument("--no-baselines", action="store_true", help="measure the proposer alone")
    parser.add_argument("--tune", action="store_true", help="choose the settings of the clusters, and print the best")
    add_plots_argument(parser)
    chosen = parser.parse_args()
    if chosen.tune:
        tune(list(generated_tables(DEVELOPMENT, chosen.count, _TUNING_SEED)))
        return
    if chosen.mistakes:
        for table in generated_tables(DEVELOPMENT, chosen.count, chosen.seed):
            for line in describe_mistakes(table, propose):
                print(line)
        return
    groups: dict[str, Iterable[TrueTable]] = {
        "development": generated_tables(DEVELOPMENT, chosen.count, chosen.seed),
        "held out": generated_tables(HELD_OUT, chosen.count, chosen.seed),
        "real": real_tables(chosen.data, chosen.readings) if chosen.data else (),
    }
    drawn: dict[str, dict[str, float]] = {}
    for name, tables in groups.items():
        if chosen.group and name not in chosen.group:
            continue
        kinds: dict[str, str] = {}
        scores = measured(tables, kinds, not chosen.no_baselines)
        if not kinds:
            print(f"\n{name}: no tables" + ("; --data FOLDER names the folder of real ones" if name == "real" else ""))
            continue
        print(f"\n{name}, {sum(s.rows for s in next(iter(scores.values())).values())} rows\n")
        print(markdown(_HEADS, [[method, *figures(list(of.values()))] for method, of in scores.items()]))
        if chosen.each or name == "real":
            print("\n" + by_kind(scores, kinds, each=chosen.each and name == "real"))
        drawn[name] = {method: total(of.values()).row_share for method, of in scores.items()}
    if chosen.plots and drawn:
        bars(chosen.plots / "tables.png", drawn, title="Rows of tables that are right", y="share of rows")


def measured(tables: Iterable[TrueTable], kinds: dict[str, str], baselines: bool) -> Scores:
    """Return the scores of each method on each table; `kinds` gets the kind of each."""
    scores: Scores = {}
    for table in tables:
        kinds[table.name] = table.kind
        if baselines:
            scores.setdefault("clusters of x and y", {})[table.name] = score(table.rows, by_clusters(table))
            if (rows := by_find_tables(table)) is not None:
                scores.setdefault("PyMuPDF find_tables", {})[table.name] = score(table.rows, rows)
        steps = simulate(table, propose, max(_CORRECTIONS))
        for number in _CORRECTIONS:
            scores.setdefault(_NAMES[number], {})[table.name] = steps[number].whole
            if number:
                scores.setdefault(f"{_NAMES[number]}, the others", {})[table.name] = steps[number].rest
    return scores


def figures(scores: Sequence[TableScore]) -> list[str]:
    """Return the figures of several tables, for a line of the report."""
    together = total(scores)
    mean_rows = sum(one.row_share for one in scores) / len(scores)
    mean_f1 = sum(one.f1 for one in scores) / len(scores)
    shares = (together.precision, together.recall, together.f1, mean_f1)
    return [
        str(len(scores)),
        f"{together.row_share:.3f}",
        f"{mean_rows:.3f}",
        str(together.rows_extra),
        *(f"{share:.3f}" for share in shares),
    ]


def by_kind(scores: Scores, kinds: dict[str, str], *, each: bool) -> str:
    """Return a table of the rows right by kind of table, or by table."""
    groups: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        groups.setdefault(name if each else kind, []).append(name)
    lines = []
    for group, names in groups.items():
        line = [group, str(len(names))]
        for of in scores.values():
            known = [of[name] for name in names if name in of]
            line.append(f"{total(known).row_share:.3f}" if known else "-")
        lines.append(line)
    return markdown(["rows right", "tables", *scores], lines)


def tune(tables: Sequence[TrueTable]) -> None:
    """Print the settings of the clusters with most rows right on tables of the kinds for development."""
    found: list[tuple[float, float, Clusters]] = []
    for gap, crossed, filled, apart in product(
        (0.7, 1.0, 1.5, 2.0), (0.15, 0.25, 0.35), (0.2, 0.3, 0.4), (2.0, 2.5, 3.0)
    ):
        settings = Clusters(gap=gap, crossed=crossed, filled=filled, apart=apart)
        together = total(score(table.rows, by_clusters(table, settings)) for table in tables)
        found.append((together.row_share, together.f1, settings))
    for share, f1, settings in sorted(found, key=lambda one: one[:2], reverse=True)[:5]:
        print(f"rows right {share:.3f}, cell F1 {f1:.3f}: {settings}")
    print(f"in use: {TUNED}")


if __name__ == "__main__":
    main()
