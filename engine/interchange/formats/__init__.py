"""Formats of datasets, a module each: whatever a module of this folder lists in its FORMATS is known everywhere."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from engine.interchange.format import Format


def _load_formats() -> Iterator[Format]:
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").FORMATS


# By name; first those that hold everything, last those without pages.
FORMATS = {
    form.name: form for form in sorted(_load_formats(), key=lambda form: (form.lossy != "", not form.pages, form.name))
}
EXPORTED = tuple(FORMATS)
IMPORTED = tuple(name for name, form in FORMATS.items() if form.open_set is not None)
DEFAULT = "coco"  # of exports
