# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that a lab started, known across runs of the lab command: a pid with the time at which it started.

A pid alone may by now be somebody else's. Nothing is ever killed by name.
"""
import contextlib
import os
import pathlib
import signal
import time


def start_time(pid):
    """In clock ticks since boot; None if there is no such process, or it is a zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def identity(pid):
    return {"pid": pid, "started": start_time(pid)}


def alive(who):
    return who["started"] is not None and start_time(who["pid"]) == who["started"]


def stop(who, child=None, patience=10):
    """SIGTERM, then SIGKILL for one that does not go. `child` is the Popen, if it is ours to reap."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        if not alive(who):
            break
        try:
            os.kill(who["pid"], sig)
        except ProcessLookupError:
            break
        wait_until(lambda: gone(who, child), patience)
    if child:
        child.wait()


def stop_all(pids, patience=3):
    """Ends all processes that pids() names, until it names none."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sig)
                os.kill(pid, signal.SIGCONT)  # one that was stopped hears it too
        if wait_until(lambda: not pids(), patience):
            break


def gone(who, child=None):
    if child:
        child.poll()
    return not alive(who)


def wait_until(state, timeout, step=0.01):
    """Waits for state() to be true; returns its value, or the last false one at the timeout."""
    deadline = time.monotonic() + timeout
    while True:
        value = state()
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(step)


def cpu_seconds(pid):
    """What a process has used so far, its children not counted."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
