# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/fairway.schema.json before jsonschema: every good example is valid, every fault that it can express is refused."""
import pytest

import oracles

# Bad examples whose fault is the schema's and yet beyond JSON Schema, each with the reason.
BEYOND_JSON_SCHEMA = {
    "bgp-no-section-reference": "it has no references between values",
    "duplicate-entry": "it compares whole items of a list, not their keys",
    "mixed-references": "it has no references between values",
    "unknown-reference": "it has no references between values",
}


@pytest.mark.parametrize("file", oracles.GOOD, ids=lambda f: f.stem)
def test_good(file):
    assert oracles.json_schema_refusal(oracles.load(file)) is None


@pytest.mark.parametrize("file", oracles.BAD, ids=lambda f: f.stem)
def test_bad(file):
    of_schema, _ = oracles.faults(file)
    try:
        data = oracles.load(file)
    except oracles.Unreadable:
        assert not of_schema, "a fault of the text, which no data model sees"
        return
    refusal = oracles.json_schema_refusal(data)
    if file.stem in BEYOND_JSON_SCHEMA:
        assert of_schema and refusal is None, "no longer an exception"
    elif of_schema:
        assert refusal
    else:
        assert refusal is None, "only a subsystem's rule is broken"


def test_exceptions_exist():
    assert set(BEYOND_JSON_SCHEMA) <= {f.stem for f in oracles.BAD}


@pytest.mark.parametrize("name", oracles.VARIATIONS)
def test_variation(name):
    assert oracles.json_schema_refusal(oracles.example_with(oracles.VARIATIONS[name])) is None


@pytest.mark.parametrize("name", oracles.FAULTS)
def test_fault(name):
    change, _, refused = oracles.FAULTS[name]
    assert bool(oracles.json_schema_refusal(oracles.example_with(change))) == refused
