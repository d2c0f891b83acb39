"""The head of the page: the front end's styles and modules, loaded before Gradio draws anything."""

from annotator.front_end_files import BASE, STATIC

STYLES = (
    "theme",
    "workspace",
    "panels",
    "uploads",
    "stage",
    "desk",
    "overlays",
    "gradio",
    "people",
    "jobs",
    "narrow",
    "touch",
)

# Without these links, a browser would learn of a module only from the module that imports it: ten round trips in a row.
_MODULES = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js"))

HEAD = "\n".join(
    [f'<link rel="icon" href="{BASE}/icon.svg" type="image/svg+xml">']
    + [f'<link rel="stylesheet" href="{BASE}/css/{name}.css">' for name in STYLES]
    + [f'<link rel="modulepreload" href="{BASE}/{module}">' for module in _MODULES]
    + [f'<script type="module" src="{BASE}/main.js"></script>']
)
