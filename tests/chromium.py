"""Chromium of the system, in which tests open pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

DESKTOP, PHONE = {"width": 1280, "height": 820}, {"width": 390, "height": 844}


@contextmanager
def launched() -> Iterator[Browser]:
    """Start Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def cut_texts(tab: Page) -> list[str]:
    """Return the texts of elements that a reader has to scroll to: those that end right of the window."""
    return tab.evaluate(
        """() => [...document.querySelectorAll("h1, h2, h3, p, td, dt, dd, li, a, b, span:not(.unseen)")]
            .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.textContent)"""
    )
