"""Where the repository lies, for tests that start programs from it or read its files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
