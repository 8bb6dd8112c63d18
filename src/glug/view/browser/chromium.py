"""A headless Chromium that draws without a graphics card, for tests and benches of the page."""

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

from glug.errors import InputError
from glug.extras import require

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox: build machines run as root or in containers that forbid it, and only our own page is opened.
_FLAGS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def require_chromium() -> tuple[Any, str]:
    """Playwright's module and the program; InputError that says how to get what is missing."""
    playwright = require("playwright.sync_api", "browser", "driving a browser")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise InputError("no Chromium on this machine; add it with: apt-get install chromium")
    return playwright, program


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Playwright's browser object; InputError as `require_chromium` raises it."""
    playwright, program = require_chromium()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()
