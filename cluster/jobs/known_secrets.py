"""Recognition of secrets: files with keys, names of variables, and well-known forms of tokens.

What a job gets can be read by everyone who sees the job, so `bitcipher submit` refuses these.
"""

import re
from pathlib import PurePath

from bitcipher.redaction import is_secret_name, redact

# Names of files with keys or passwords, without regard to case. Public keys (`id_rsa.pub`) have other names.
_FILE_NAME = re.compile(
    r"(?!.*\.pub$)id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?([._-].*)?"
    r"|.+\.(ppk|p12|pfx|jks|keystore|kdbx|pkcs12|agekey)"
    r"|[._]?(netrc|pgpass|htpasswd|git-credentials|pypirc|s3cfg|boto|auth_token|kubeconfig)(\.(txt|conf|bak|old))?"
    r"|(.+\.)?env|(.*[-_.])?(secrets?|credentials?|passwords?)(\.(json|ya?ml|toml|ini|cfg|csv|txt|env))?",
    re.IGNORECASE,
)

# Content of files with keys, with what it is.
_CONTENTS = {
    re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"): "a private key",
    re.compile(rb"---- BEGIN SSH2 (?:[A-Z]+ )*PRIVATE KEY ----"): "a private key",
    re.compile(rb"PuTTY-User-Key-File-\d"): "a private key",
    # Keys in DER: the version of PKCS#1, PKCS#8, SEC 1 or PKCS#12, and the tag after it.
    re.compile(rb"\A0(?:[\0-\x7f]|\x81.|\x82..)\x02\x01(?:\0[0\x02]|\x01\x04|\x030)", re.DOTALL): "a private key",
    re.compile(rb"\A\xfe\xed\xfe\xed"): "a Java key store",
    re.compile(rb"\bclient-key-data[\"']?\s*:\s*[\"']?\w"): "the key of a kubeconfig",
    re.compile(rb"\"private_key\"\s*:\s*\"[^\"]"): "the key of a service account",
    re.compile(rb"\"(?:refresh_token|client_secret)\"\s*:\s*\"[^\"]"): "an OAuth secret",
    re.compile(rb"(?i)\baws_?secret_?access_?key[\"']?\s*[=:]\s*[\"']?[\w/+]{16}"): "an access key",
    re.compile(rb"(?i)\bSecretAccessKey\"\s*:\s*\"[\w/+]{16}"): "an access key",
    re.compile(rb"(?m)^[ \t]*machine\s+\S+\s+(?:login\s+\S+\s+)?password\s+\S"): "a password",
    re.compile(rb"\"auths\"\s*:.{0,4096}?\"auth\"\s*:\s*\"\w", re.DOTALL): "the password of a registry",
}

# Tokens whose form names their service: GitHub, GitLab, Hugging Face, Slack, Stripe, OpenAI, Google, AWS, npm, PyPI,
# Databricks, DigitalOcean, and JSON Web Tokens.
_TOKEN = re.compile(
    rb"(?<![\w-])(?:gh[pousr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|(?:hf|api_org)_[A-Za-z0-9]{30,}"
    rb"|xox[abeoprs]-[\w-]{10,}|[rs]k_(?:live|test)_\w{16,}|sk-(?:[a-z]+-)*[A-Za-z0-9_]{32,}[\w-]*|AIza[\w-]{35}"
    rb"|(?:AKIA|ASIA)[A-Z2-7]{16}|npm_\w{36}|pypi-[\w-]{50,}|dapi[0-9a-f]{32}|dop_v1_[0-9a-f]{64}"
    rb"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*)"
)


def describe_file(name: str, content: bytes) -> str | None:
    """Return what a file holds that must stay secret, such as "a private key", or None.

    Args:
        name: name or path of the file.
        content: its bytes.
    """
    texts = (content, content.replace(b"\0", b"")) if b"\0" in content else (content,)  # UTF-16 has NUL characters
    for text in texts:
        found = next((kind for pattern, kind in _CONTENTS.items() if pattern.search(text)), None)
        found = found or ("a URI with a password" if _has_secret_uri(text) else None)
        if found or _TOKEN.search(text):
            return found or "a token"
    return "a secret by its name" if _FILE_NAME.fullmatch(PurePath(name).name) else None


def _has_secret_uri(content: bytes) -> bool:
    """Return whether a text has a URI with a password, or with a parameter that grants access."""
    lines = (line.decode(errors="replace") for line in content.splitlines() if b"://" in line)
    return any(redact(line) != line for line in lines)


def describe_variable(name: str, value: str) -> str | None:
    """Return why an environment variable is a secret, or None. An empty value is none."""
    if not value or name in _PATHS:
        return None
    if is_secret_name(name) or is_secret_name(name.replace("_", "")):
        return "its name"
    return "its value" if has_token(value) or redact(value) != value else None


# Variables whose values are paths of files, and whose names are those of secrets.
_PATHS = ("GOOGLE_APPLICATION_CREDENTIALS", "PWD")


def has_token(text: str) -> bool:
    """Return whether a text has a token of a well-known form."""
    return _TOKEN.search(text.encode(errors="replace")) is not None
