#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench.py [--only PART|ROW] [--runs N]: speed and memory, as ratios against a named baseline in the same run.

One line a row: `bench: NAME value=... baseline=... ratio=... bar=... ok`, or SHORT. Ends with 1 if any row is SHORT.
The one idea: a row takes pairs (ours, baseline) that alternate, and is judged by the median of the pairs' ratios, so that a
machine whose speed drifts does not decide. A part is a module beside this file with a list ROWS.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import core  # noqa: E402

PARTS = {"core": core.ROWS}


class Row:
    """What a row measures. `measure(runs)` yields (value, baseline) pairs; baseline None: the bar is on the value itself.

    bar: ("max", x) or ("min", x), on the ratio, or on the value where there is no baseline."""

    def __init__(self, name, unit, bar, pairs):
        self.name, self.unit, self.bar = name, unit, bar
        self.value = statistics.median(v for v, _ in pairs)
        baselines = [b for _, b in pairs if b is not None]
        self.baseline = statistics.median(baselines) if baselines else None
        self.ratio = statistics.median(v / b for v, b in pairs) if baselines else None

    def ok(self):
        judged = self.value if self.ratio is None else self.ratio
        kind, limit = self.bar
        return judged <= limit if kind == "max" else judged >= limit

    def line(self):
        sign = "<=" if self.bar[0] == "max" else ">="
        baseline = "-" if self.baseline is None else f"{self.baseline:.4g}{self.unit}"
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        unit = self.unit if self.ratio is None else ""
        return (f"bench: {self.name} value={self.value:.4g}{self.unit} baseline={baseline} ratio={ratio} "
                f"bar={sign}{self.bar[1]}{unit} {'ok' if self.ok() else 'SHORT'}")


def wanted(only):
    for part, groups in PARTS.items():
        for group in groups:
            names = group.rows if only in (None, part) else [n for n in group.rows if n == only]
            if names:
                yield group, names


def main():
    parser = argparse.ArgumentParser(description="speed and memory against a baseline in the same run")
    parser.add_argument("--only", help="a part (" + ", ".join(PARTS) + ") or one row")
    parser.add_argument("--runs", type=int, default=5, help="paired runs (default 5)")
    args = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench: needs root, for network namespaces")
    groups = list(wanted(args.only))
    if not groups:
        sys.exit(f"bench: nothing is called {args.only}")
    short = 0
    for group, names in groups:
        # A group measures its rows together where they share a set-up.
        for name, unit, bar, pairs in group.measure(max(args.runs, 1)):
            if name not in names:
                continue
            row = Row(name, unit, bar, pairs)
            short += not row.ok()
            print(row.line(), flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
