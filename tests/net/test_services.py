# SPDX-License-Identifier: GPL-2.0-or-later
"""FRR's daemons under the keeper. services_selftest.c makes a namespace of its own; here is what must not be left of it."""
import os
import pathlib
import re
import shutil
import signal
import tempfile

import gateway
import netns
import pytest

SELFTEST = gateway.BUILD / "tests/net/services_selftest"


@pytest.fixture
def run_dir():
    """A folder that FRR's user can reach, unlike those of pytest."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fairway-services-"))
    folder.chmod(0o755)
    yield folder
    for pid in processes_with(folder):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder)


def processes_with(text):
    """Those that have this in their command line: {pid: line}."""
    found = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(text) in line:
            found[int(file.parent.name)] = line
    return found


def test_frr_daemons(run_dir, wait_until):
    done = netns.run(SELFTEST, run_dir, check=False, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.findall(r"PASSED  \] (\d+) test", said) == ["1", "8"], said
    assert wait_until(lambda: not processes_with(run_dir), 5), processes_with(run_dir)
