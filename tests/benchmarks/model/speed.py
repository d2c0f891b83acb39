"""How long reading and asking take, where the time goes, and how much memory a process needs.

    python -m tests.benchmarks.model.speed [--words 500] [--pages 5] [--rounds 5] [--threads 1 2] [--ways]

Bars on two cores: a page of 500 words read in .7 s (median), a warm question in 80 ms (95 %), sixteen at once in 400 ms, 1.5 GB at the
peak of a process of its own. --ways compares ways to run the network (bfloat16, channels last, int8, torch.compile), each in
turn with the plain one, and says how far their answers agree.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch
from torch import nn

from model.inference import EncodedPage, Predictor
from model.masks import iou
from tests.benchmarks.markdown import table, verdict
from tests.benchmarks.model.busy_pages import QUESTIONS, BusyPage, busy_page

BARS = {"read a page": 700.0, "ask (95 %)": 80.0, "ask 16 at once": 400.0}
MEMORY_BAR = 1500.0  # MB
ASKED_PARTS = ("prompt_encoder", "word_head", "mask_decoder")
READ_PARTS = ("layout_bias", "text_encoder", "image_encoder", "fusion")


@contextmanager
def parts_timed(network: nn.Module, names: tuple[str, ...]) -> Iterator[dict[str, float]]:
    """Seconds in each of the network's parts while the block runs."""
    spent: dict[str, float] = defaultdict(float)
    began: dict[str, float] = {}
    hooks = []
    for name in names:
        part = network.get_submodule(name)

        def before(*_: object, name: str = name) -> None:
            began[name] = time.perf_counter()

        def after(*_: object, name: str = name) -> None:
            spent[name] += time.perf_counter() - began[name]

        hooks += [part.register_forward_pre_hook(before), part.register_forward_hook(after)]
    try:
        yield spent
    finally:
        for hook in hooks:
            hook.remove()


def milliseconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - began)


def read(predictor: Predictor, page: BusyPage) -> EncodedPage:
    return predictor.encode(page.image, page.words)


def timings(predictor: Predictor, pages: list[BusyPage], rounds: int) -> dict[str, float]:
    """Milliseconds: medians, and for warm questions the 95th percentile beside it."""
    reading, asking, together = [], [], []
    for page in pages:
        encoded = read(predictor, page)
        predictor.ask(encoded, QUESTIONS[0])
        for _ in range(rounds):
            reading.append(milliseconds(partial(read, predictor, page)))
            asking += [milliseconds(partial(predictor.ask, encoded, q)) for q in QUESTIONS]
            together.append(milliseconds(partial(predictor.ask_many, encoded, QUESTIONS * 2)))
    return {
        "read a page": statistics.median(reading),
        "ask": statistics.median(asking),
        "ask (95 %)": statistics.quantiles(asking, n=20)[-1],
        "ask 16 at once": statistics.median(together),
    }


def print_timings(predictor: Predictor, pages: list[BusyPage], rounds: int, threads: list[int]) -> None:
    rows = []
    for count in threads:
        torch.set_num_threads(count)
        for name, took in timings(predictor, pages, rounds).items():
            bar = BARS.get(name)
            rows.append(
                [name, str(count), f"{took:.0f}", f"{bar:.0f}" if bar else "", verdict(took, bar) if bar else ""]
            )
    print(table(["", "threads", "ms", "bar", ""], rows))


def print_parts(predictor: Predictor, pages: list[BusyPage]) -> None:
    """Shares of the time of reading and of asking, one thread."""
    torch.set_num_threads(1)
    network = predictor._network
    for title, names in (("read a page", READ_PARTS), ("ask", ASKED_PARTS)):
        whole = 0.0
        with parts_timed(network, names) as spent:
            for page in pages:
                if title == "read a page":
                    whole += milliseconds(partial(read, predictor, page))
                else:
                    encoded = read(predictor, page)
                    whole += sum(milliseconds(partial(predictor.ask, encoded, q)) for q in QUESTIONS)
        shares = {name: 1e3 * seconds / whole for name, seconds in spent.items()}
        shares["the rest (layout, anchors, links, masks)"] = 1 - sum(shares.values())
        print(f"\n{title}, share of each part: " + ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))


def peak_memory(words: int) -> float:
    """MB at the peak of a fresh process that loads the model, reads a page of so many words and answers sixteen questions."""
    program = f"from tests.benchmarks.model.speed import fresh_process; fresh_process({words})"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(found.stdout)


def fresh_process(words: int) -> None:
    torch.set_num_threads(2)
    page = busy_page(0, words)
    predictor = Predictor.load()
    predictor.ask_many(read(predictor, page), QUESTIONS * 2)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


class InBfloat16(Predictor):
    """Forward passes under autocast."""

    def encode(self, *given: object, **how: object) -> EncodedPage:
        with torch.autocast("cpu", torch.bfloat16):
            return super().encode(*given, **how)  # type: ignore[arg-type]


def ways() -> dict[str, Callable[[], Predictor]]:
    """Other ways to run the same weights."""

    def channels_last() -> Predictor:
        predictor = Predictor.load()
        predictor._network.image_encoder.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return predictor

    def int8() -> Predictor:
        predictor = Predictor.load()
        predictor._network = torch.ao.quantization.quantize_dynamic(predictor._network, {nn.Linear})
        return predictor

    def compiled() -> Predictor:
        predictor = Predictor.load()
        predictor._network.image_encoder.compile(dynamic=False)
        return predictor

    def bfloat16() -> Predictor:
        plain = Predictor.load()
        return InBfloat16(plain._network, plain.version)

    return {
        "bfloat16 reading": bfloat16,
        "channels last": channels_last,
        "int8 linears": int8,
        "compiled trunk": compiled,
    }


def print_ways(pages: list[BusyPage], rounds: int) -> None:
    torch.set_num_threads(1)
    plain = Predictor.load()
    rows = []
    for name, make in ways().items():
        try:
            other = make()
            pairs = [(read(plain, page), read(other, page)) for page in pages]
        except (RuntimeError, NotImplementedError, AttributeError) as error:
            rows.append([name, f"cannot: {str(error).splitlines()[0][:60]}", "", ""])
            continue
        reading, asking, agreed = [], [], []
        for page, (here, there) in zip(pages, pairs, strict=True):
            for _ in range(rounds):
                base = milliseconds(partial(read, plain, page))
                reading.append(milliseconds(partial(read, other, page)) / base)
            for question in QUESTIONS:
                base = milliseconds(partial(plain.ask, here, question))
                asking.append(milliseconds(partial(other.ask, there, question)) / base)
                agreed.append(iou(plain.ask(here, question).mask, other.ask(there, question).mask))
        rows.append(
            [
                name,
                f"{statistics.median(reading):.2f}",
                f"{statistics.median(asking):.2f}",
                f"{statistics.mean(agreed):.3f}",
            ]
        )
    print(
        "\nOther ways, time as a multiple of the plain one, taken in turns on one thread; agreement: mean IoU with its answers\n"
    )
    print(table(["", "read", "ask", "agreement"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--pages", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--ways", action="store_true", help="also other ways to run the network")
    parser.add_argument("--model", type=Path, help="a checkpoint instead of the shipped one")
    given = parser.parse_args()
    pages = [busy_page(seed, given.words) for seed in range(given.pages)]
    predictor = Predictor.load(given.model)
    print(f"{predictor.config.name}, pages of {given.words} words with their image\n")
    print_timings(predictor, pages, given.rounds, given.threads)
    print_parts(predictor, pages)
    memory = peak_memory(given.words)
    print(f"\npeak memory of a process: {memory:.0f} MB, bar {MEMORY_BAR:.0f}: {verdict(memory, MEMORY_BAR)}")
    if given.ways:
        print_ways(pages, given.rounds)


if __name__ == "__main__":
    main()
