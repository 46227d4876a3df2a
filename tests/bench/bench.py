#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench.py [--only PART|ROW] [--runs N]: speed and memory, as ratios against a named baseline in the same run.

One line a row: `bench: NAME value=... worst=... baseline=... ratio=... bar=... ok`, or SHORT. Ends with 1 if any row is SHORT.
The one idea: a row takes pairs (ours, baseline) that alternate, and is judged by the median of the pairs' ratios, so that a
machine whose speed drifts does not decide. A part is a module beside this file with a list ROWS.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import audit  # noqa: E402
import core  # noqa: E402
import policy  # noqa: E402
import routing  # noqa: E402
import topo  # noqa: E402

PARTS = {"core": core.ROWS, "routing": routing.ROWS, "audit": audit.ROWS, "policy": policy.ROWS}


class Row:
    """What a row measures. `measure(runs)` yields (value, baseline) pairs; baseline None: the bar is on the value itself.

    bar: ("max", x) or ("min", x), on the ratio, or on the value where there is no baseline; a third member is a bar on the value
    as well. x None: the ratio is only printed."""

    def __init__(self, name, unit, bar, pairs):
        self.name, self.unit = name, unit
        self.kind, self.ratio_bar, self.value_bar = (*bar, None)[:3]
        values, baselines = [v for v, _ in pairs], [b for _, b in pairs if b is not None]
        self.runs = len(pairs)
        self.value = statistics.median(values)
        self.worst = max(values) if self.kind == "max" else min(values)
        self.baseline = statistics.median(baselines) if baselines else None
        self.ratio = statistics.median(v / b if b else float("inf") for v, b in pairs) if baselines else None
        if not baselines:
            self.ratio_bar, self.value_bar = None, self.ratio_bar

    def ok(self):
        def holds(judged, limit):
            return limit is None or (judged <= limit if self.kind == "max" else judged >= limit)
        return holds(self.ratio, self.ratio_bar) and holds(self.value, self.value_bar)

    def line(self):
        sign = "<=" if self.kind == "max" else ">="
        baseline = "-" if self.baseline is None else f"{self.baseline:.4g}{self.unit}"
        ratio = "-" if self.ratio is None else f"{self.ratio:.3f}"
        bars = [f"{sign}{limit}{unit}" for limit, unit in ((self.ratio_bar, ""), (self.value_bar, self.unit)) if limit is not None]
        return (f"bench: {self.name} value={self.value:.4g}{self.unit} worst={self.worst:.4g}{self.unit} baseline={baseline} ratio={ratio} "
                f"bar={','.join(bars)} runs={self.runs} {'ok' if self.ok() else 'SHORT'}")


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
    topo.sweep()
    topo.terminate_cleanly()
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
