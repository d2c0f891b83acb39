"""Routes of Gradio that the page does not use are closed: uploads, cached files, proxies, monitoring, code, agents.

Gradio offers no option to leave them out; annotator.login_gate asks here before it passes a request.
"""

GRADIO = "/app"
_NEEDED = frozenset(
    {
        "/app",
        "/app/",
        "/app/config",
        "/app/theme.css",
        "/app/gradio_api/queue/join",
        "/app/gradio_api/queue/data",
    }
)
_NEEDED_BELOW = ("/app/assets/", "/app/static/", "/app/gradio_api/heartbeat/")


def is_closed(path: str) -> bool:
    """Return whether a path is a closed route of Gradio."""
    if path != GRADIO and not path.startswith(f"{GRADIO}/"):
        return False
    return path not in _NEEDED and not path.startswith(_NEEDED_BELOW)
