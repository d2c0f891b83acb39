"""Run the program as a person does in a shell, for benchmarks of whole commands."""

import os
import resource
import subprocess
import sys


def glossator(*arguments: str) -> str:
    """Run a command of the program on one thread and return what it printed; CalledProcessError if it failed."""
    one_thread = {"GLOSSATOR_THREADS": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "engine.cli", *arguments],
        env={**os.environ, **one_thread},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return ran.stdout


def processor_seconds() -> float:
    """Return the processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
