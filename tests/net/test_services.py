# SPDX-License-Identifier: GPL-2.0-or-later
"""FRR's daemons under the keeper. services_selftest.c makes a namespace of its own; here is what must not be left of it."""
import pathlib
import re
import shutil
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
    shutil.rmtree(folder)


def commands_with(text):
    """The command lines of all processes that have this in them."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(text) in line:
            found.append(line)
    return found


def test_frr_daemons(run_dir, wait_until):
    done = netns.run(SELFTEST, run_dir, check=False, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.findall(r"PASSED  \] (\d+) test", said) == ["1", "8"], said
    assert wait_until(lambda: not commands_with(run_dir), 5), commands_with(run_dir)
