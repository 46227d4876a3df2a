# SPDX-License-Identifier: GPL-2.0-or-later
"""The golden nft commands, judged by nft itself: they load, twice, and what is listed then has every rule and element."""
import os
import pathlib
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).parent / "plans"
FILES = sorted(FOLDER.glob("*.nft"))


@pytest.fixture(scope="module")
def netns():
    name = f"golden-nft-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    yield name
    subprocess.run(["ip", "netns", "del", name], check=True)


def nft(netns, *args):
    return subprocess.run(["ip", "netns", "exec", netns, "nft", *args], capture_output=True, text=True)


def test_there_are_some():
    assert len(FILES) >= 5


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_nft_takes_it(netns, file):
    text = file.read_text()
    nft(netns, "flush", "ruleset")
    for _ in range(2):  # on nothing, and over itself
        r = nft(netns, "-f", str(file))
        assert r.returncode == 0, r.stderr
    listed = nft(netns, "list", "ruleset").stdout
    for word in ("comment", "table", "jump", "drop", "notrack"):
        assert listed.count(word) == text.replace("delete table", "").count(word) - (
            text.count("delete table") if word == "table" else 0), word
    for line in text.splitlines():
        if line.strip().startswith('"vx'):
            assert line.strip(' \t,') in listed
