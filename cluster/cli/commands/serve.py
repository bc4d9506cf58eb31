"""Command that serves vectors over HTTP: `serve`."""

from typing import Annotated

import typer

from cluster.cli.dependencies import require_extra
from cluster.metavars import PATH


def serve(
    vectors: Annotated[str, typer.Argument(help="Build, or directory of vectors.", metavar=PATH)],
    host: Annotated[
        str,
        typer.Option(help="Name or address to listen on. 0.0.0.0 is all of this machine: see --token-file."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    version: Annotated[
        int | None,
        typer.Option(min=1, help="Version of the build.", show_default="newest, then each that is published"),
    ] = None,
    check_seconds: Annotated[
        float, typer.Option(min=0.1, help="Seconds between looks for a new version of the build.")
    ] = 10.0,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name by which clients may reach the server (header Host). Repeat for several. On a loopback address, "
            "localhost, 127.0.0.1 and [::1] are always allowed, and others only by this option.",
            metavar="NAME",
            show_default="on other addresses: any",
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(
            help="File with a token that requests must have: Authorization: Bearer TOKEN. GET /health needs none.",
            metavar=PATH,
        ),
    ] = None,
    requests_per_client: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of requests in progress per client.", show_default="any number"),
    ] = None,
    client_header: Annotated[
        str | None,
        typer.Option(
            help="Header by which a trusted proxy names the client, such as X-Forwarded-For.",
            metavar="NAME",
            show_default="the address of the connection",
        ),
    ] = None,
    explain_index: Annotated[
        str | None,
        typer.Option(
            help="Local directory for an index of explanations, which is written for each version: 8 bytes per "
            "weighted pair. Explanations then take milliseconds, in mode spectral.",
            metavar=PATH,
            show_default="explain from the counts",
        ),
    ] = None,
) -> None:
    """Serve neighbors, vectors and explanations over HTTP.

    A browser shows a page at the address. Programs get JSON: GET /neighbors?word=king, POST /vectors {"words":
    ["king"]}, GET /explain?word=king&other=queen, POST /encode {"texts": ["The king."]}, GET /health. GET /metrics is
    for Prometheus, and GET /openapi.json describes all arguments. A new version is loaded in the background, and then
    answers all requests. Ctrl-C and SIGTERM end the server after the requests in progress.

    For example: bitcipher serve vectors --port 8000
    """
    require_extra("serve", "`bitcipher serve`")
    from cluster.serve.server import ServerOptions
    from cluster.serve.server import serve as run

    run(
        ServerOptions(
            vectors=vectors,
            version=version,
            host=host,
            port=port,
            check_seconds=check_seconds,
            allowed_host=allowed_host or [],
            token_file=token_file,
            requests_per_client=requests_per_client,
            client_header=client_header,
            explain_index=explain_index,
        )
    )
