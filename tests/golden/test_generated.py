# SPDX-License-Identifier: GPL-2.0-or-later
"""What is generated from the schema and committed is what the schema says now; `make docs` writes it."""
import subprocess

import pytest

import oracles


@pytest.mark.parametrize("kind, file", [
    ("markdown", "reference.md"), ("json-schema", "fairway.schema.json"), ("yang", "fairway.yang")])
def test_is_fresh(kind, file):
    now = subprocess.run([oracles.ROOT / "build/gen_exports", kind], check=True, capture_output=True).stdout
    assert (oracles.ROOT / "docs" / file).read_bytes() == now, "stale; run `make docs`"


def test_reference_has_every_key():
    reference = (oracles.ROOT / "docs/reference.md").read_text()
    for file in oracles.GOOD:
        def walk(data):
            for key, value in data.items():
                assert f"| `{key}` |" in reference or key in ("ipv4", "ipv6")
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, dict):
                        walk(child)
        walk(oracles.load(file))
