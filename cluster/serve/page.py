"""The page of the server: a search for neighbors and explanations, which asks the other paths of the server."""

from pathlib import Path

from fastapi import FastAPI, Response

import pipelines.reports

HERE = Path(__file__).parent
REPORTS = Path(pipelines.reports.__file__).parent

PATHS = frozenset({"/", "/page.js", "/page.css"})

# The style sheets of the explore page come first.
STYLES = (REPORTS / "pages" / "base.css", REPORTS / "explore" / "page.css", HERE / "page.css")

# A browser loads nothing from other servers.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"


def add_page(app: FastAPI) -> None:
    """Add the paths of the page to an application."""
    styles = "".join(path.read_text("utf-8") for path in STYLES)
    page, script = ((HERE / f"page.{ending}").read_text("utf-8") for ending in ("html", "js"))

    @app.get("/", include_in_schema=False)
    async def show_page() -> Response:
        return Response(page, headers={"Content-Security-Policy": POLICY}, media_type="text/html")

    @app.get("/page.js", include_in_schema=False)
    async def show_script() -> Response:
        return Response(script, media_type="text/javascript")

    @app.get("/page.css", include_in_schema=False)
    async def show_styles() -> Response:
        return Response(styles, media_type="text/css")
