# SPDX-License-Identifier: GPL-2.0-or-later
"""The golden tests' helpers are in tests/lib."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
