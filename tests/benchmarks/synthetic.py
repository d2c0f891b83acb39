"""Generated pages a second, of each kind and of the whole mix, words only and rendered: python -m tests.benchmarks.synthetic."""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from engine.synthetic import KINDS, SyntheticPage, generate, generate_kind
from tests.benchmarks.markdown import table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=60, help="pages a run, words only")
    parser.add_argument("--rendered", type=int, default=6, help="pages a run, rendered")
    parser.add_argument("--runs", type=int, default=5, help="the median of so many is shown")
    chosen = parser.parse_args()
    sources: dict[str, Callable[[int], Iterator[SyntheticPage]]] = {"mix": generate}
    for kind in KINDS:
        sources[kind] = partial(generate_kind, kind)
    rows = []
    for name, source in sources.items():
        # Every run makes other pages: the median is of pages as much as of moments.
        many = 3 if name == "mix" else 1
        read = [rate(source(seed), chosen.words * many, render=False) for seed in range(chosen.runs)]
        drawn = [rate(source(seed), chosen.rendered * many, render=True) for seed in range(chosen.runs)]
        rows.append([name, f"{statistics.median(read):.0f}", f"{statistics.median(drawn):.1f}"])
    print(table(["kind", "words only, pages/s", "rendered, pages/s"], rows))


def rate(pages: Iterator[SyntheticPage], count: int, *, render: bool) -> float:
    """Pages a second."""
    start = time.perf_counter()
    for made in islice(pages, count):
        if render:
            made.render()
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
