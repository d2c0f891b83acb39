"""The server and the browser of tests/browser, for the long campaigns too."""

from tests.browser.conftest import bench, browser, served, server

__all__ = ["bench", "browser", "served", "server"]
