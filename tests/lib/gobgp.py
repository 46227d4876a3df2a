# SPDX-License-Identifier: GPL-2.0-or-later
"""GoBGP 3 in a namespace: a cloud's router that is neither FRR nor BIRD. It has routes and no kernel to put them in."""
import json
import os
import pathlib
import subprocess

import child
import process


class GoBgp:
    """FOLDER/gobgpd.json, gobgp.sock, gobgpd.log. `config`: as GoBGP's configuration file, a mapping."""

    def __init__(self, ns, folder, config):
        self.ns, self.folder, self.config = ns, pathlib.Path(folder), config
        self.target = f"unix://{self.folder}/gobgp.sock"
        self.child = child.Child(ns, self.folder, "gobgpd", ["/usr/bin/gobgpd", "-t", "json", "-f", self.folder / "gobgpd.json",
                                                             "--api-hosts", self.target, "--pprof-disable", "-p"])

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "gobgpd.json").write_text(json.dumps(self.config), encoding="utf-8")
        self.child.start(lambda: self.call("global").returncode == 0)
        return self

    def stop(self):
        self.child.stop()

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    def call(self, *words):
        return subprocess.run(["/usr/bin/gobgp", "--target", self.target, *words], capture_output=True, text=True, timeout=20, check=False,
                              env={**os.environ, "GODEBUG": "netdns=go"})

    def run(self, *words):
        done = self.call(*words)
        if done.returncode:
            raise child.ChildError(f"gobgp {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def announce(self, prefix, *attributes, family="ipv4"):
        self.run("global", "rib", "add", prefix, *attributes, "-a", family)

    def withdraw(self, prefix, family="ipv4"):
        self.run("global", "rib", "del", prefix, "-a", family)

    def routes(self, family="ipv4"):
        """{prefix: its paths}"""
        return json.loads(self.run("-j", "global", "rib", "-a", family) or "{}")

    def established(self):
        """Addresses of the neighbors with a session that is up."""
        found = json.loads(self.run("-j", "neighbor"))
        return {n["state"].get("neighbor_address") or n["conf"].get("neighbor_address") for n in found
                if n["state"].get("session_state") in (6, "ESTABLISHED")}

    def wait_established(self, *peers, timeout=20):
        if not process.wait_until(lambda: set(peers) <= self.established(), timeout, 0.05):
            raise child.ChildError(f"GoBGP has no session with {set(peers) - self.established()}:\n{self.run('neighbor')}")
        return self
