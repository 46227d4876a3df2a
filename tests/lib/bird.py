# SPDX-License-Identifier: GPL-2.0-or-later
"""BIRD 2 in a namespace: a cloud's router that is not FRR."""
import pathlib
import subprocess

import child
import process


class Bird:
    """FOLDER/bird.conf, bird.ctl, bird.log."""

    def __init__(self, ns, folder, config):
        self.ns, self.folder, self.config = ns, pathlib.Path(folder), config
        self.control = self.folder / "bird.ctl"
        self.child = child.Child(ns, self.folder, "bird", ["/usr/sbin/bird", "-f", "-c", self.folder / "bird.conf", "-s", self.control,
                                                           "-P", self.folder / "bird.pid"])

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write()
        self.child.start(lambda: self.call("show", "status").returncode == 0)
        return self

    def stop(self):
        self.child.stop()

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    def _write(self):
        (self.folder / "bird.conf").write_text(self.config, encoding="utf-8")

    def call(self, *words):
        return subprocess.run(["/usr/sbin/birdc", "-s", str(self.control), *words], capture_output=True, text=True, timeout=20, check=False)

    def show(self, *words):
        done = self.call("show", *words)
        if done.returncode:
            raise child.ChildError(f"birdc show {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def reconfigure(self, config):
        """Softly: sessions that do not differ stay."""
        self.config = config
        self._write()
        done = self.call("configure")
        if "Reconfigured" not in done.stdout and "Reconfiguration in progress" not in done.stdout:
            raise child.ChildError(f"birdc configure: {done.stdout}{done.stderr}")

    def established(self):
        """Names of the BGP protocols that are up."""
        rows = [line.split() for line in self.show("protocols").splitlines()]
        return {r[0] for r in rows if len(r) > 5 and r[1] == "BGP" and r[-1] == "Established"}

    def wait_established(self, *names, timeout=15):
        if not process.wait_until(lambda: set(names) <= self.established(), timeout, 0.05):
            raise child.ChildError(f"BIRD has no session {set(names) - self.established()}:\n{self.show('protocols')}")
        return self

    def routes(self, *filters):
        """{prefix: the lines that BIRD prints of it}"""
        found, prefix = {}, None
        for line in self.show("route", *filters, "all").splitlines():
            first = line.split(" ", 1)[0]
            prefix = first if "/" in first else prefix
            if prefix:
                found.setdefault(prefix, []).append(line.strip())
        return found
