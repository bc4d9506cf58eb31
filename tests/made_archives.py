"""Records of web archives that tests write."""


def warc_record(record_type, body, length=None, headers=()):
    """Return a WARC record, with the true length by default."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {record_type}",
        "WARC-Target-URI: <http://example.org/>",
        "WARC-Date: 2024-05-06T07:08:09Z",
        *(["Content-Type: application/http; msgtype=response"] if record_type == "response" else []),
        *headers,
        f"Content-Length: {len(body) if length is None else length}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body + b"\r\n\r\n"


def arc_record(url, body, length=None, media_type="text/html"):
    """Return an ARC record, with the true length by default."""
    length = len(body) if length is None else length
    return f"{url} 192.0.2.1 20080430204825 {media_type} {length}\n".encode() + body + b"\n"


def http_response(body, status="200 OK", media_type="text/html", headers=()):
    """Return an HTTP response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def page(text):
    """Return a web page whose main text is one paragraph."""
    return (
        "<html><head><title>Title</title></head><body><nav><a href='/'>Home</a></nav>"
        f"<main><article><p>{text}</p></article></main><footer>Imprint</footer></body></html>"
    )
