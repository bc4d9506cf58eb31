"""Files, variables and arguments that `submit` refuses, because everyone who sees a job can read them."""

import json
from pathlib import Path

import pytest

from bitcipher.errors import BitcipherError
from cluster.cli.main import all_commands
from cluster.jobs.known_secrets import describe_file, describe_variable
from cluster.jobs.submit import read_variables, submit
from cluster.jobs.working_dir import pack_files

COMMANDS = all_commands()
ARMOR = "-----BEGIN {}-----\nMIIEvQ\n-----END {}-----\n"
SERVICE_ACCOUNT = {"type": "service_account", "private_key": ARMOR.format(*["PRIVATE KEY"] * 2), "client_email": "x@y"}
KEYS = {
    "server.pem": ARMOR.format(*["RSA PRIVATE KEY"] * 2),
    "notes.txt": "first\r\n" + ARMOR.format(*["OPENSSH PRIVATE KEY"] * 2),
    "deep/er/key": ARMOR.format(*["ENCRYPTED PRIVATE KEY"] * 2),
    "pgp.asc": ARMOR.format(*["PGP PRIVATE KEY BLOCK"] * 2),
    "both.pem": ARMOR.format(*["CERTIFICATE"] * 2) + ARMOR.format(*["EC PRIVATE KEY"] * 2),
    "utf16": ARMOR.format(*["PRIVATE KEY"] * 2).encode("utf-16"),
    "der": bytes.fromhex("302e020100300506032b657004220420") + bytes(32),
    "id_rsa": "x",
    "ID_ED25519": "x",
    "id_ecdsa_sk.old": "x",
    "login.ppk": "x",
    "putty.txt": "PuTTY-User-Key-File-3: ssh-ed25519\n",
    "store.p12": "x",
    "store.PFX": "x",
    "store": bytes.fromhex("3082094a0201033082091006092a864886f70d010701"),
    "account.json": json.dumps(SERVICE_ACCOUNT),
    "netrc": "x",
    "logins": "machine example.org login me password hunter2\n",
    "kubeconfig": "apiVersion: v1\n",
    "cluster.yaml": "users:\n- user:\n    client-key-data: LS0tLS1CRUdJTg==\n",
    "aws": "[default]\naws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n",
    "credentials": "x",
    "prod.env": "x",
    "docker.json": json.dumps({"auths": {"registry": {"auth": "bWU6aHVudGVyMg=="}}}),
    "script.sh": "export X=ghp_" + "a1" * 18,
}
HARMLESS = {
    "chain.pem": ARMOR.format(*["CERTIFICATE"] * 2),
    "public.pem": ARMOR.format(*["PUBLIC KEY"] * 2),
    "id_rsa.pub": "ssh-rsa AAAAB3 me@host\n",
    "recipe.yaml": "bits: 3\n",
    "keys.txt": "the private key to the door\nsecret password token\n",
    "tokenizer.json": json.dumps({"model": {"vocab": {"ghp_": 0, "password": 1, "sk-": 2}}}),
    "environment.txt": "x",
    "binary": bytes(range(256)),
}


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


@pytest.mark.parametrize("name", KEYS)
def test_each_kind_of_secret_is_recognized(name):
    content = KEYS[name]
    assert describe_file(name, content if isinstance(content, bytes) else content.encode())


def test_all_secrets_are_named_in_one_sentence_and_nothing_is_sent(tmp_path, target):
    folder = fill(tmp_path / "extra", KEYS | HARMLESS)
    with pytest.raises(BitcipherError, match=r"everyone who sees the job could read.*`--include`") as error:
        pack_files(target, str(folder))
    assert all(f"{name} (" in str(error.value) for name in KEYS)
    assert not any(f"{name} (" in str(error.value) for name in HARMLESS)
    assert "hunter2" not in str(error.value)
    assert list(target.iterdir()) == []


def test_harmless_files_are_sent(tmp_path, target):
    pack_files(target, str(fill(tmp_path / "extra", HARMLESS)))
    assert all((target / name).is_file() for name in HARMLESS)


def test_included_files_are_sent(tmp_path, target):
    folder = fill(
        tmp_path / "extra", {"keys/id_rsa": "x", "server.pem": KEYS["server.pem"], ".env": "A=1", ".git/x": ""}
    )
    with pytest.raises(BitcipherError, match=r"has server\.pem \(a private key\), which") as error:
        pack_files(target, str(folder), ["keys/id_rsa", ".env"])
    assert "id_rsa" not in str(error.value)
    pack_files(target, str(folder), ["keys/id_rsa", "./server.pem", ".env"])
    assert all((target / name).is_file() for name in ("keys/id_rsa", "server.pem", ".env"))
    assert not (target / ".git").exists()


@pytest.mark.parametrize("name", ["absent", "../secret", "keys", "/etc/passwd"])
def test_included_names_are_files_of_the_directory(tmp_path, target, name):
    folder = fill(tmp_path / "extra", {"keys/id_rsa": "x"})
    (tmp_path / "secret").write_text("x")
    with pytest.raises(BitcipherError, match=r"has no file .*`--include` takes the path of a file in this directory"):
        pack_files(target, str(folder), ["keys/id_rsa", name])
    with pytest.raises(BitcipherError, match="give both"):
        pack_files(target, None, [name])


@pytest.mark.parametrize(
    "name",
    [
        "random.py",
        "typing/__init__.py",
        "numpy.py",
        "ray/__init__.py",
        "json.pyc",
        "yaml/x.py",
        "_bisect.so",
        "site.py",
    ],
)
def test_modules_that_shadow_others_are_refused(tmp_path, target, name):
    folder = fill(tmp_path / "extra", {name: "", "helpers.py": "", "other/random.py": "", "words/typing/x.py": ""})
    shown = f"{name.partition('/')[0]}/" if "/" in name else name
    with pytest.raises(BitcipherError, match=rf"extra has {shown}, which Python would import instead"):
        pack_files(target, str(folder))


def test_other_modules_and_data_are_sent(tmp_path, target):
    names = ["helpers.py", "other/random.py", "json/words.txt", "random.txt", "numpy.yaml", "setup/test.txt"]
    pack_files(target, str(fill(tmp_path / "extra", dict.fromkeys(names, ""))))
    assert all((target / name).is_file() for name in names)


@pytest.mark.parametrize(
    "item",
    [
        *("HF_TOKEN=abc", "AWS_SECRET_ACCESS_KEY=abc", "AWS_ACCESS_KEY_ID=abc", "DB_PASSWORD=abc", "WANDB_API_KEY=abc"),
        *("password=abc", "CLIENT_SECRET=abc", "GITHUB_PAT_TOKEN=abc", "KEY=abc", "MY_CREDENTIALS=abc"),
        *("URL=https://me:hunter2@host/x", "URL=https://host/x?sig=5e1f", "X=hf_" + "aB3" * 11, "X=ghp_" + "a1" * 18),
        "X=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln",
    ],
)
def test_secret_variables_are_refused(item):
    name, _, value = item.partition("=")
    with pytest.raises(
        BitcipherError, match=rf"`--env` has secrets.*{name} \(by its .*Set them in the environment"
    ) as e:
        read_variables(["COLUMNS=80", item])
    assert value not in str(e.value)
    assert "COLUMNS" not in str(e.value)


def test_other_variables_are_sent():
    items = ["BITCIPHER_LOG=json", "TOKENIZERS_PARALLELISM=false", "OMP_NUM_THREADS=2", "HF_TOKEN=", "MAX_TOKENS=3"]
    items += ["RAY_AUTH_MODE=token", "GOOGLE_APPLICATION_CREDENTIALS=/etc/key.json", "URL=https://host/x?part=1"]
    assert len(read_variables(items)) == len(items)
    assert describe_variable("HF_TOKEN", "") is None


def test_tokens_in_the_command_are_refused():
    with pytest.raises(BitcipherError, match="Argument 2 of the command has a token") as error:
        submit(COMMANDS, ["build", "hf_" + "aB3" * 11], None, None, [], False)
    assert "aB3" not in str(error.value)


def test_query_strings_in_the_command_are_warned_about(capsys):
    command = ["build", "https://host/a.txt?code=hunter2&part=1", "s3://bucket/what?.txt", "--out", "vectors"]
    with pytest.raises(BitcipherError, match="not the address of a Ray dashboard"):
        submit(COMMANDS, command, "ftp://nowhere", None, [], False)
    error = capsys.readouterr().err
    assert "the query parameters code, part of its command" in error
    assert "hunter2" not in error
    assert len(error.splitlines()) == 1
