"""English pages, and archives of them as CommonCrawl publishes them."""

import gzip
import random

NOUNS = (
    "farmer teacher doctor sailor painter baker judge singer driver gardener soldier miller nurse boat letter garden "
    "bridge lantern basket window kettle ladder picture wagon blanket mirror clock river market church station harbor"
).split()
VERBS = "found sold painted carried forgot borrowed repaired described watched remembered cleaned hid wanted".split()
LINKS = "and with from to of that because before after under near behind without".split()
ARTICLES = "the a this every her our their his some no".split()


def page(number):
    """Return an English page that differs from the others, and has the statistics of prose."""
    draw = random.Random(number).choice

    def phrase():
        return f"{draw(ARTICLES)} {draw(NOUNS)} {draw(VERBS)} {draw(ARTICLES)} {draw(NOUNS)}"

    sentences = [f"The {draw(NOUNS)} {draw(VERBS)} {phrase()} {draw(LINKS)} {phrase()}." for _ in range(24)]
    return "\n".join(" ".join(sentences[start : start + 4]) for start in range(0, 24, 4))


def warc(*pages):
    """Return a gzipped WARC file with a response of each page."""
    members = []
    for number, text in enumerate(pages):
        paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
        html = f"<html><body><nav>Home | About</nav><article><h1>Page</h1>{paragraphs}</article></body></html>"
        http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}".encode()
        header = (
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://site{number % 3}.example/{number}\r\n"
            "WARC-Date: 2024-05-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(http)}\r\n\r\n"
        )
        members.append(gzip.compress(header.encode() + http + b"\r\n\r\n", mtime=0))
    return b"".join(members)


def wet(*pages):
    """Return a gzipped WET file with a conversion record of each page."""
    members = []
    for number, text in enumerate(pages):
        body = text.encode()
        header = (
            f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://site{number % 3}.example/{number}\r\n"
            f"WARC-Date: 2024-05-01T00:00:00Z\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        members.append(gzip.compress(header.encode() + body + b"\r\n\r\n", mtime=0))
    return b"".join(members)
