# SPDX-License-Identifier: GPL-2.0-or-later
"""What a start makes of what it finds: interfaces that are late, files that are missing or wrong, revisions that are spoilt."""
import os
import pathlib
import shutil
import tempfile

import pytest

import gateway
import netns
import process
import topo

GOOD = (pathlib.Path(gateway.ROOT) / "config" / "examples" / "good" / "idc-gateway.yaml").read_text(encoding="utf-8")
LATE = GOOD.replace("members: [eth2]", "members: [eth2, eth9]")
assert LATE != GOOD


@pytest.fixture(name="gw")
def fixture_gw():
    """A gateway that does not run yet, with the example's interfaces, but for eth2."""
    ns = f"{topo.PREFIX}boot-{os.getpid()}"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fairway-boot-"))
    netns.create(ns)
    for name in ("eth0", "eth1", "eth3"):
        add(ns, name)
    gw = gateway.Gateway(ns, folder, "boot")
    yield gw
    gw.stop()
    netns.delete(ns)
    shutil.rmtree(folder)


def add(ns, name):
    netns.ip(ns, f"link add {name} type veth peer name peer-{name}\nlink set peer-{name} up\n")


def delete(ns, name):
    netns.ip(ns, f"link del {name}\n")


def start(gw):
    gw.start()
    assert process.wait_until(gw.status, 10), gw.log()
    return gw.status()


def links(gw):
    return {line.split(":")[1].split("@")[0].strip() for line in netns.run("ip", "-o", "link", ns=gw.ns).stdout.splitlines()}


def test_the_first_start_waits_for_an_interface_and_then_goes_on(gw):
    gw.install(GOOD)
    status = start(gw)
    assert not status["configured"] and "eth2 does not exist" in status["trouble"][0]
    assert "vx10010" not in links(gw), "all or nothing"
    add(gw.ns, "eth2")
    status = gw.wait_converged(2).status()
    assert status["configured"] and status["trouble"] == [] and status["revision"] == 1
    assert gw.log().count("eth2 does not exist") == 1, "said once, however often it was tried"


def test_a_later_start_does_all_but_what_hangs_on_the_missing_interface(gw):
    add(gw.ns, "eth2")
    gw.install(GOOD)
    gw.boot()
    gw.stop()
    delete(gw.ns, "eth2")
    delete(gw.ns, "vx10020")
    status = start(gw)
    assert process.wait_until(lambda: "vx10020" in links(gw), 2)
    assert status["configured"] and not gw.status()["converged"]
    assert gw.status()["trouble"] == ["segment gpu: the interface eth2 does not exist"]
    add(gw.ns, "eth2")
    assert gw.wait_converged(2).status()["revision"] == 1


def test_a_new_file_that_has_to_wait_leaves_the_old_one_in_force(gw):
    add(gw.ns, "eth2")
    gw.install(GOOD)
    gw.boot()
    gw.stop()
    gw.install(LATE)
    status = start(gw)
    assert status["converged"] and status["revision"] == 1 and "eth9 does not exist" in status["trouble"][0]
    assert "vx10020" in links(gw)
    add(gw.ns, "eth9")
    assert process.wait_until(lambda: gw.status()["revision"] == 2, 2)
    assert gw.status()["trouble"] == []


@pytest.mark.parametrize("text", ["foo: 1\n", "", None], ids=["invalid", "empty", "missing"])
def test_a_file_of_no_use_leaves_the_last_revision_in_force_until_the_next_apply(gw, text):
    add(gw.ns, "eth2")
    gw.install(GOOD)
    gw.boot()
    gw.stop()
    if text is None:
        gw.config_file.unlink()
    else:
        gw.install(text)
    status = start(gw)
    assert status["converged"] and status["revision"] == 1 and str(gw.config_file) in status["trouble"][0]
    assert not gw.plan()
    gw.apply(GOOD)
    assert gw.status()["trouble"] == []
    assert gw.config_file.read_text(encoding="utf-8") == GOOD


def test_with_neither_file_nor_revision_it_answers_and_takes_an_apply(gw):
    add(gw.ns, "eth2")
    gw.folder.mkdir(exist_ok=True)
    status = start(gw)
    assert not status["configured"] and not status["converged"] and status["revision"] == 0
    assert gw.call("show", "mtu").returncode == gateway.REFUSED
    gw.apply(GOOD)
    assert gw.status()["converged"] and gw.config_file.read_text(encoding="utf-8") == GOOD


def test_a_spoilt_revision_and_file_fall_back_to_the_one_before(gw):
    add(gw.ns, "eth2")
    gw.install(GOOD)
    gw.boot()
    gw.apply(GOOD.replace("vni: 10020", "vni: 10030"))
    gw.stop()
    with open(gw.folder / "state" / "revisions" / "000002.yaml", "a", encoding="utf-8") as f:
        f.write("x")
    gw.install("foo: 1\n")
    status = start(gw)
    assert process.wait_until(lambda: gw.status()["converged"], 2)
    assert status["revision"] == 1 and "vx10020" in links(gw) and "vx10030" not in links(gw)


def test_a_pipe_is_no_config_file_and_keeps_nobody_waiting(gw):
    gw.folder.mkdir(exist_ok=True)
    os.mkfifo(gw.config_file)
    assert start(gw)["trouble"] == [f"{gw.config_file}: not a regular file"]
    add(gw.ns, "eth2")
    gw.apply(GOOD)
    assert gw.config_file.is_fifo() and "not a regular file" in gw.status()["trouble"][0]
    child = gw.child
    gw.stop()
    assert child.returncode == 0, "SIGTERM was enough"
