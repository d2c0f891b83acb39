"""Programs in a network namespace of their own: there is a loopback, and nothing else to reach."""

import os
import subprocess

import pytest


def without_network(command: list[str]) -> list[str]:
    """Return the command that runs another in a network namespace of its own, or skip the test where none is given."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    prefix = ["unshare", "--net", *as_root]
    try:
        tried = subprocess.run([*prefix, "true"], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("`unshare` of util-linux is not installed, so no process can be kept from the network.")
    if tried.returncode:
        pytest.skip(f"This machine gives no network namespaces: {tried.stderr.strip()}")
    return [*prefix, *command]
