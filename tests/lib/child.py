# SPDX-License-Identifier: GPL-2.0-or-later
"""Daemons that a test starts in a namespace and that are no gateways: known by their Popen, ended by it, never by name."""
import os
import pathlib
import signal
import subprocess

import netns
import process


class ChildError(RuntimeError):
    """A daemon did not come up, or did not do what it was told."""


class Child:
    """One program in namespace `ns`, in the foreground, its output in FOLDER/NAME.log."""

    def __init__(self, ns, folder, name, argv, fifo=0):
        self.ns, self.folder, self.name, self.argv, self.fifo = ns, pathlib.Path(folder), name, [str(a) for a in argv], fifo
        self.popen = None

    @property
    def log_file(self):
        return self.folder / f"{self.name}.log"

    @property
    def pid(self):
        return self.popen.pid

    def running(self):
        return self.popen is not None and self.popen.poll() is None

    def start(self, ready, timeout=10):
        """Until ready() is true."""
        with netns.inside(self.ns), open(self.log_file, "ab") as log:
            self.popen = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if not process.wait_until(lambda: ready() or not self.running(), timeout, 0.005) or not self.running():
            self.stop()
            raise ChildError(f"{self.name} in {self.ns} did not come up:\n{self.log()[-2000:]}")
        if self.fifo:
            for tid in os.listdir(f"/proc/{self.pid}/task"):
                os.sched_setscheduler(int(tid), os.SCHED_FIFO, os.sched_param(self.fifo))
        return self

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        """kill -9, and gone."""
        self.end(signal.SIGKILL, 5)

    def stop(self, patience=5):
        """SIGTERM, and SIGKILL for one that does not go. Fine if it does not run."""
        self.end(signal.SIGTERM, patience)

    def end(self, number, patience):
        if not self.running():
            return
        self.signal(number)
        self.signal(signal.SIGCONT)
        try:
            self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
