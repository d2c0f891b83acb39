"""Web process, worker and PostgreSQL, killed again and again while eight people save: what is lost, and what is doubled.

`python -m tests.benchmarks.kills --rounds 30` kills each of them 30 times (`--database sqlite`: the web process and the
worker). Five people answer tasks of their own, three correct the same answers, and somebody uploads and copies
documents. The worker trains a small model, run after run. PostgreSQL is killed with all of its processes, or stopped by
`immediate`, in turn. Prints what was acknowledged, lost and doubled, and ends with 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

from tests.benchmarks.kills.campaign import campaign
from tests.benchmarks.markdown import table


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.kills", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="kills of each part")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no further round begins")
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    options = parser.parse_args()
    with campaign(options.database, options.rounds) as under_way:
        outcome = under_way.run(60 * options.minutes)
    rows = [
        [part, str(outcome.kills[part]), f"{statistics.median(away):.1f}", f"{max(away):.1f}"]
        for part, away in outcome.away.items()
        if away
    ]
    print(table(["killed", "times", "s until at work again, median", "most"], rows))
    heads = ["acknowledged", "lost", "doubled", "conflicts", "jobs", "answers of 503"]
    jobs = ", ".join(f"{number} {kind}" for kind, number in sorted(outcome.jobs.items()))
    counts = [outcome.acknowledged, len(outcome.lost), len(outcome.doubled), outcome.conflicts, jobs, outcome.put_off]
    print(table(heads, [[str(count) for count in counts]]))
    for sentence in outcome.wrong:
        print(sentence)
    sys.exit(not outcome.is_clean)


if __name__ == "__main__":
    main()
