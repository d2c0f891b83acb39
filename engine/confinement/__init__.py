"""Confinement of a process that opens untrusted files: no network, no files but its own, no programs, no signals.

The process confines itself, by Landlock (files, TCP, signals to others) and a seccomp filter (system calls); no
helper program and no privilege is needed. What is given up cannot be taken back, and holds for programs that it
starts, too.
"""

from engine.confinement.confine import Confinement, NotConfined, Reach, confine, not_confined_sentence
from engine.confinement.kernel import missing_parts
from engine.confinement.python_files import python_files

__all__ = ["Confinement", "NotConfined", "Reach", "confine", "missing_parts", "not_confined_sentence", "python_files"]
