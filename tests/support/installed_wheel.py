"""A wheel installed in an environment of its own, outside the checkout, which borrows the packages it needs."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel without its dependencies into a new environment, and return the path of its Python.

    A line of a .pth file adds the packages of this interpreter behind its own. Their own .pth files are not read there,
    so an installation of the checkout with -e stays out of sight.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, env=environment)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True, env=environment, cwd=folder)
    [packages] = (folder / "lib").glob("python*/site-packages")
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python


def outside_environment(**more: str) -> dict[str, str]:
    """Return the environment of this process without what leads to the checkout or to settings."""
    left = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GLOSSATOR_") and name not in {"PYTHONPATH", "VIRTUAL_ENV"}
    }
    return {**left, **more}
