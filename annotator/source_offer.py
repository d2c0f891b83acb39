"""Offer of the program's source to its users (GNU AGPL, section 13), with version and licence.

Without a configured address, the installed packages are served as one zip file, so a modified version offers its
changes too. The shipped weights, larger than everything else, are served under /source/weights. Trained models are data
of a project and not offered.
"""

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import RedirectResponse, Response

from annotator.root_path import ELSEWHERE
from engine.settings import MEGABYTE, Settings
from engine.version import release

PACKAGES = ("annotator", "engine", "model", "db", "migrations")
# Files of a checkout beside the packages: build, tests and licence.
BESIDE = ("LICENSE", "README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "constraints.txt")
INSTALLED = ("METADATA", "entry_points.txt", "LICENSE")
KINDS = frozenset({".py", ".pyi", ".js", ".css", ".html", ".svg", ".json", ".md", ".mako", ".txt", ".typed"})
LARGEST = 4 * MEGABYTE  # of one file; no source file is larger
_BUILDING = threading.Lock()


@cache
def version() -> str:
    """Return the version of the program that runs."""
    return release()


@cache
def licence() -> str:
    """Return the licence's SPDX name."""
    return distribution("glossator").metadata["License-Expression"] or "AGPL-3.0-or-later"


def source_of(settings: Settings) -> str:
    """Return the address of the source: the configured one, else this server's copy."""
    return settings.source_url or f"{settings.root_path}/source"


def line(settings: Settings) -> str:
    """Return the footer of a page as HTML: name, version, licence, link to the source."""
    address = escape(source_of(settings), quote=True)
    return (
        f'<p class="glossator-about">Glossator {escape(version())}, {escape(licence())}. '
        f'<a href="{address}" rel="noreferrer">Source</a></p>'
    )


def head(settings: Settings) -> str:
    """Return the same facts as a meta element, for annotator/static/settings/about.js."""
    facts = {"version": version(), "licence": licence(), "source": source_of(settings)}
    attributes = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in facts.items())
    return f'<meta name="glossator-about" {attributes}>'


def router(settings: Settings) -> APIRouter:
    """Return the route that serves the source, without a login: the login page is part of the program too.

    Args:
        settings: address of the source, if one is set.
    """
    routes = APIRouter(include_in_schema=False)

    @routes.get("/source")
    def source(request: Request, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        if settings.source_url:
            setattr(request.state, ELSEWHERE, True)
            return RedirectResponse(settings.source_url)
        with _BUILDING:  # built once, also for simultaneous requests
            packed, tag = archive()
        headers = {"etag": tag, "cache-control": "no-cache"}
        if if_none_match == tag:
            return Response(status_code=304, headers=headers)
        headers["content-disposition"] = f'attachment; filename="glossator-{version()}-source.zip"'
        return Response(packed, media_type="application/zip", headers=headers)

    return routes


@cache
def archive() -> tuple[bytes, str]:
    """Return the program's files as a zip file (about 2 MB, cached), and its ETag."""
    packed = io.BytesIO()
    left_out = []
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        for name, path in sorted(_files()):
            if path.stat().st_size > LARGEST:
                left_out.append(name)
                continue
            into.writestr(_entry(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
        into.writestr(_entry("SOURCE.txt"), _about(left_out))
    content = packed.getvalue()
    return content, f'"{hashlib.sha256(content).hexdigest()}"'


def weights() -> Path:
    """Return the folder of the shipped weights."""
    return _folder("model") / "weights"


def _entry(name: str) -> zipfile.ZipInfo:
    """Return a zip entry that everybody can read, without a time: the same files give the same bytes."""
    entry = zipfile.ZipInfo(f"glossator/{name}")
    entry.external_attr = 0o644 << 16
    return entry


def _about(left_out: list[str]) -> str:
    files = "\n".join(f"  {name}: /source/weights/{Path(name).name} of the same server" for name in left_out)
    return (
        f"Glossator {version()}, {licence()}: the source of the program that served this file.\n"
        "If this folder contains a pyproject.toml, install it with pip. Otherwise the program was installed as a "
        "wheel;\n"
        "its METADATA is included.\n" + (f"Not included because of their size:\n{files}\n" if left_out else "")
    )


def _files() -> Iterator[tuple[str, Path]]:
    """Yield (name in the archive, file) of the program's files, never of users' data."""
    for package in PACKAGES:
        folder = _folder(package)
        for path in folder.rglob("*"):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
            wanted = path.suffix in KINDS or path.parent == weights()
            if wanted and not hidden and path.is_file() and not path.is_symlink():
                yield f"{package}/{inside.as_posix()}", path
    root = _folder("annotator").parent
    if (root / "pyproject.toml").is_file():
        yield from ((name, root / name) for name in BESIDE if (root / name).is_file())
        return
    for file in distribution("glossator").files or ():
        if file.parts[0].endswith(".dist-info") and file.name in INSTALLED:
            yield file.name, Path(str(file.locate()))


def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])
