import torch

from model.throughput import THROUGHPUT, in_words, peak_memory, throughput

CPU = torch.device("cpu")


def test_figures_are_those_of_the_steps_since_the_last_report():
    found = throughput(steps=20, seconds=10.0, left=100, examples=80, device=CPU)
    assert found["step_seconds"] == 0.5 and found["left_seconds"] == 50 and found["examples_a_second"] == 8
    assert set(found) <= set(THROUGHPUT)


def test_examples_that_nobody_counts_are_left_out():
    assert "examples_a_second" not in throughput(1, 1.0, 0, None, CPU)


def test_the_peak_of_memory_grows_with_what_is_used():
    before = peak_memory(CPU)
    kept = torch.ones(64, 2**20)
    after = peak_memory(CPU)
    assert before is not None and after is not None and after >= kept.numel() * 4
    del kept
    assert peak_memory(CPU) == after


def test_figures_read_as_a_phrase():
    row = {"loss": 1.0, "step_seconds": 0.512, "left_seconds": 4000.0, "examples_a_second": 82.31, "memory_mb": 1234.0}
    assert in_words(row) == "82.3 examples/s, 0.512 s/step, 1 h 7 min left, 1.2 GB"
    assert in_words({"left_seconds": 200_000.0, "gpu_percent": 97.0}) == "2 d 7 h left, GPU 97%"
    assert in_words({"left_seconds": 20.0}) == "20 s left" and in_words({"loss": 1.0}) == ""
