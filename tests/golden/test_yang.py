# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/fairway.yang before yanglint: every good example is valid, every fault that YANG can express is refused."""
import subprocess

import pytest

import oracles

# Bad examples whose fault is in one value and yet beyond YANG, each with the reason.
BEYOND_YANG = {
}


def test_module_is_valid():
    r = subprocess.run(["yanglint", "-f", "yang", str(oracles.YANG)], capture_output=True, text=True)
    assert r.returncode == 0 and not r.stderr, r.stderr


@pytest.mark.parametrize("file", oracles.GOOD, ids=lambda f: f.stem)
def test_good(file, tmp_path):
    assert oracles.yang_refusal(oracles.load(file), tmp_path) is None


@pytest.mark.parametrize("file", oracles.BAD, ids=lambda f: f.stem)
def test_bad(file, tmp_path):
    of_schema, every = oracles.faults(file)
    assert every, "no error expected of a bad example"
    try:
        data = oracles.load(file)
    except oracles.Unreadable:
        assert not of_schema, "a fault of the text, which no data model sees"
        return
    refusal = oracles.yang_refusal(data, tmp_path)
    if file.stem in BEYOND_YANG:
        assert of_schema and refusal is None, "no longer an exception"
    elif of_schema:
        assert refusal
    else:
        assert refusal is None, "only a subsystem's rule is broken"


def test_there_are_some():
    assert len(oracles.GOOD) >= 1 and sum(bool(oracles.faults(f)[0]) for f in oracles.BAD) >= 20


def test_exceptions_exist():
    assert set(BEYOND_YANG) <= {f.stem for f in oracles.BAD}


@pytest.mark.parametrize("name", oracles.VARIATIONS)
def test_variation(name, tmp_path):
    data = oracles.example_with(oracles.VARIATIONS[name])
    assert oracles.fairway_refusal(data, tmp_path) is None
    assert oracles.yang_refusal(data, tmp_path) is None


@pytest.mark.parametrize("name", oracles.FAULTS)
def test_fault(name, tmp_path):
    change, refused, _ = oracles.FAULTS[name]
    data = oracles.example_with(change)
    assert oracles.fairway_refusal(data, tmp_path)
    assert bool(oracles.yang_refusal(data, tmp_path)) == refused
