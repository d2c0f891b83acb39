"""Measure how fast a run learns and what it uses. These figures are shown and never stored in a run's state."""

import contextlib
import sys
from collections.abc import Mapping

import torch

# Names of the figures beside the loss, for those who plot metrics.
THROUGHPUT = ("step_seconds", "left_seconds", "examples_a_second", "memory_mb", "gpu_percent")


def throughput(steps: int, seconds: float, left: int, examples: int | None, device: torch.device) -> dict[str, float]:
    """Return the figures of the steps since the last report.

    Args:
        steps: optimizer steps since then.
        seconds: time since then, saving and evaluation included.
        left: steps to the end of the run.
        examples: examples that all processes learned from since then; None where nobody counts them.
        device: of the network.

    Returns:
        Some of `THROUGHPUT`: seconds a step, seconds to the end at this pace, examples a second, the peak memory of
        this process in MB (on CUDA: that torch allocated on the device), and the use of the GPU in percent.
    """
    pace = seconds / max(1, steps)
    figures = {"step_seconds": pace, "left_seconds": pace * left}
    if examples is not None:
        figures["examples_a_second"] = examples / max(seconds, 1e-9)
    memory = peak_memory(device)
    if memory is not None:
        figures["memory_mb"] = memory / 1e6
    if device.type == "cuda":
        with contextlib.suppress(ImportError, RuntimeError):  # without NVIDIA's library it cannot be asked
            figures["gpu_percent"] = float(torch.cuda.utilization(device))
    return figures


def peak_memory(device: torch.device) -> int | None:
    """Return the most bytes that this process used so far: on CUDA torch's on the device, else its resident memory."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def in_words(metrics: Mapping[str, float]) -> str:
    """Return the figures of throughput among a row of metrics as a phrase; empty without any."""
    parts = []
    if "examples_a_second" in metrics:
        parts.append(f"{metrics['examples_a_second']:.3g} examples/s")
    if "step_seconds" in metrics:
        parts.append(f"{metrics['step_seconds']:.3g} s/step")
    if "left_seconds" in metrics:
        parts.append(f"{_duration(metrics['left_seconds'])} left")
    if "memory_mb" in metrics:
        parts.append(f"{metrics['memory_mb'] / 1000:.1f} GB")
    if "gpu_percent" in metrics:
        parts.append(f"GPU {metrics['gpu_percent']:.0f}%")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    days, hours_left = divmod(hours, 24)
    return f"{days} d {hours_left} h" if days else f"{hours} h {minutes} min"
