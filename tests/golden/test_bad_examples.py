# SPDX-License-Identifier: GPL-2.0-or-later
"""`fairway check` on the examples: each bad file gives exactly its diagnostics, each good one is accepted.

A message is FILE:LINE:COL and its words, so all of stderr is compared. FAIRWAY_UPDATE=1 writes the .expected files.
"""
import json
import os
import pathlib
import re
import resource
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAIRWAY = ROOT / "build/fairway"
BAD = ROOT / "config/examples/bad"
GOOD = ROOT / "config/examples/good"
SECRETS = "/etc/fairway/secrets/"
GROUPS = "/etc/fairway/groups/"


def check(path, memory=None):
    """Runs beside the file, so that messages name it alone."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
    return subprocess.run([str(FAIRWAY), "check", path.name], cwd=path.parent, capture_output=True, text=True,
                          timeout=20, check=False, preexec_fn=limit)


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda p: p.stem)
def test_bad(path):
    expected = path.with_suffix(".expected")
    result = check(path)
    if os.environ.get("FAIRWAY_UPDATE"):
        expected.write_text(result.stderr)
    assert result.stderr == expected.read_text()
    assert result.returncode == 1
    assert result.stdout == ""
    assert re.search(r"(?m)^[^:]+(:\d+:\d+)?: error: ", result.stderr)


def test_bad_files_are_whole():
    assert {p.stem for p in BAD.glob("*.yaml")} == {p.stem for p in BAD.glob("*.expected")}
    assert len(list(BAD.glob("*.yaml"))) >= 50


def with_secrets(path, folder):
    """The example as it is, but its secrets and prefix files are files of this test."""
    text = path.read_bytes().decode()
    for name in re.findall(re.escape(SECRETS) + r"([\w.-]+)", text):
        secret = folder / name
        secret.write_text("secret\n")
        secret.chmod(0o600)
    for name in re.findall(re.escape(GROUPS) + r"([\w.-]+)", text):
        (folder / name).write_text("10.1.0.0/16\n")
    copy = folder / path.name
    copy.write_bytes(text.replace(SECRETS, f"{folder}/").replace(GROUPS, f"{folder}/").encode())
    return copy


@pytest.mark.parametrize("path", sorted(GOOD.glob("*.yaml")), ids=lambda p: p.stem)
def test_good(path, tmp_path):
    result = check(with_secrets(path, tmp_path))
    assert "error:" not in result.stderr
    assert result.returncode == 0


def keywords_of_schema(schema, node, path=()):
    node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node
    for key, value in node.get("properties", {}).items():
        yield path + (key,)
        inner = value.get("items", value)
        yield from keywords_of_schema(schema, inner, path + (key,))


def keywords_of_file(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + (key,)
            yield from keywords_of_file(inner, path + (key,))
    elif isinstance(value, list):
        for inner in value:
            yield from keywords_of_file(inner, path)


def test_good_files_use_every_keyword():
    schema = json.loads(subprocess.run([str(ROOT / "build/gen_exports"), "json-schema"], check=True,
                                       capture_output=True, text=True).stdout)
    wanted = set(keywords_of_schema(schema, schema))
    used = set()
    for path in GOOD.glob("*.yaml"):
        used.update(keywords_of_file(yaml.safe_load(path.read_text(encoding="utf-8-sig"))))
    assert len(wanted) > 60
    assert sorted(wanted - used) == []


@pytest.mark.parametrize("shape, message", [
    (b"[" * 10_000_000, "1:32: error: more than 32 levels of nesting"),
    (b"a: " + b"{" * 10_000_000, "1:35: error: more than 32 levels of nesting"),
    (b"- " * 1_000_000, "1:65: error: more than 32 levels of nesting"),
    (b"[\n" * 5_000_000, "32:1: error: more than 32 levels of nesting"),
    (b"[" + b"a, " * 3_000_000 + b"]", "1:1: error: a line of more than two million bytes"),
    (b"\0" * 10_000_000, "1:1: error: control character U+0000; the file must be text"),
    (b"# \n" * 6_000_000, None),
], ids=["brackets", "braces", "dashes", "bracket-lines", "long-line", "zeros", "too-large"])
def test_hostile(shape, message, tmp_path):
    path = tmp_path / "hostile.yaml"
    path.write_bytes(shape)
    result = check(path, memory=256 * 1024 * 1024)
    assert result.returncode == 1
    if message:
        assert result.stderr == f"hostile.yaml:{message}\n"
    else:
        assert result.stderr.startswith("hostile.yaml: error: ") and result.stderr.count("\n") == 1


SECRET_AT = "secret.yaml:6:38: error: lines[a].bgp.password-file: "


def secret_config(folder, name="line.md5"):
    path = folder / "secret.yaml"
    path.write_text("system: {hostname: gw}\nlines:\n  - name: a\n    interface: eth1\n    address: 172.31.0.1/30\n"
                    f"    bgp: {{peer-as: 1, password-file: {folder / name}}}\n    peer-address: 172.31.0.2\nbgp: {{as: 1, router-id: 10.0.0.1}}\n")
    return path


def secret_messages(result):
    return [line for line in result.stderr.splitlines() if "error:" in line]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_secret_open_to_others(mode, tmp_path):
    secret = tmp_path / "line.md5"
    secret.write_text("hunter2\n")
    secret.chmod(mode)
    result = check(secret_config(tmp_path))
    assert secret_messages(result) == [f"{SECRET_AT}{shown(secret)} is open to group or others (mode {mode:04o}); "
                                       "give it mode 0600"]
    assert "hunter2" not in result.stderr
    assert result.returncode == 1


def shown(path):
    """As messages show a path: one of more than 100 bytes is cut."""
    return path if len(str(path)) <= 100 else f'"{str(path)[:100]}..."'


@pytest.mark.parametrize("make, message", [
    (lambda p: None, "cannot read {}: No such file or directory"),
    (lambda p: p.mkdir(), "{} is not a regular file"),
    (lambda p: os.mkfifo(p, 0o600), "{} is not a regular file"),
    (lambda p: p.touch(0o600), "{} is empty"),
    (lambda p: (p.touch(0o600), p.write_bytes(b"x" * 4097)), "{} has more than 4096 bytes"),
], ids=["missing", "folder", "pipe", "empty", "large"])
def test_secret_unusable(make, message, tmp_path):
    make(tmp_path / "line.md5")
    result = check(secret_config(tmp_path))
    assert secret_messages(result) == [SECRET_AT + message.format(shown(tmp_path / "line.md5"))]
    assert result.returncode == 1


def test_secret_good(tmp_path):
    secret = tmp_path / "line.md5"
    secret.touch(0o600)
    secret.write_text("hunter2\n")
    result = check(secret_config(tmp_path))
    assert secret_messages(result) == []
    assert result.returncode == 0
