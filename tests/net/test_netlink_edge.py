# SPDX-License-Identifier: GPL-2.0-or-later
"""The netlink edge of the overlay on the real kernel: nl_selftest.c makes a namespace of its own for each of its tests."""
import re

import gateway
import netns

SELFTEST = gateway.BUILD / "tests/net/nl_selftest"


def test_netlink_edge():
    done = netns.run(SELFTEST, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"PASSED  \] \d+ test", done.stdout + done.stderr)
