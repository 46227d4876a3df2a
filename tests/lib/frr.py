# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain FRR in a namespace: the far end that is not Fairway, and the baseline of the benchmarks.

zebra, bfdd and bgpd in the foreground with a folder of their own, configured over their vty sockets. The client of these sockets also
reads the counters of a gateway's FRR: Vty(RUN/frr/bgpd.vty).
"""
import json
import os
import pathlib
import shutil
import socket

import child
import process

PROGRAMS = pathlib.Path("/usr/lib/frr")
DAEMONS = ("zebra", "bfdd", "bgpd")
BFDD_FIFO = 30  # as Fairway runs it: without it BFD is not a fair comparison, on a busy machine
FIRST = {"zebra": "no zebra nexthop kernel enable\n"}  # must be there before any route is


class VtyError(RuntimeError):
    """A daemon refused a command."""


class Vty:
    """A connection to a vty socket, in the enable node."""

    def __init__(self, path, timeout=30):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(str(path))
            self.run("enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.socket.close()

    def try_run(self, command):
        """(return code, text)"""
        self.socket.sendall(command.encode() + b"\0")
        reply = bytearray()
        while len(reply) < 4 or reply[-4:-1] != b"\0\0\0":
            more = self.socket.recv(1 << 16)
            if not more:
                raise VtyError(f"{command!r}: the daemon hung up")
            reply += more
        return reply[-1], reply[:-4].decode(errors="replace")

    def run(self, command):
        code, text = self.try_run(command)
        if code:
            raise VtyError(f"{command!r}: code {code}: {text.strip()}")
        return text

    def configure(self, text):
        """Configuration lines, as in a file; ends at the first that is refused."""
        self.run("configure terminal")
        try:
            for line in text.splitlines():
                if line.strip() and not line.lstrip().startswith("!"):
                    self.run(line.strip())
        finally:
            self.try_run("end")

    def json(self, command):
        return json.loads(self.run(command + " json"))


def answers(path):
    try:
        Vty(path, timeout=5).close()
        return True
    except (OSError, VtyError):
        return False


class Frr:
    """The daemons of one namespace. `config`: {daemon: text}, given to each when it starts, also after a restart."""

    def __init__(self, ns, folder, config=None, daemons=DAEMONS, zebra_keeps=60):
        self.ns, self.folder = ns, pathlib.Path(folder)
        self.config = dict(config or {})
        self.children = {d: self._child(d, zebra_keeps) for d in daemons}

    def _child(self, daemon, zebra_keeps):
        f = self.folder
        argv = [PROGRAMS / daemon, "-f", f / f"{daemon}.conf", "-z", f / "zserv.api", "--vty_socket", f, "-i", f / f"{daemon}.pid",
                "-A", "127.0.0.1", "-P", "0", "-u", "frr", "-g", "frr", "--log", "stdout", "--log-level", "notifications"]
        if daemon == "zebra":
            argv += ["-r", "-K", zebra_keeps]
        if daemon == "bfdd":
            argv += ["--bfdctl", f / "bfdd.sock"]
        return child.Child(self.ns, f, daemon, argv, fifo=BFDD_FIFO if daemon == "bfdd" else 0)

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.chown(self.folder, "frr", "frr")
        try:
            for daemon in self.children:
                self.start_daemon(daemon)
        except BaseException:
            self.stop()
            raise
        return self

    def start_daemon(self, daemon):
        """With its configuration read at the start, as after a restart by a service manager."""
        path = self.folder / f"{daemon}.conf"
        path.write_text(FIRST.get(daemon, "") + self.config.get(daemon, ""), encoding="utf-8")
        os.chmod(path, 0o644)
        self.children[daemon].start(lambda: answers(self.socket(daemon)))

    def stop(self):
        for daemon in reversed(self.children.values()):
            daemon.stop()

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    def socket(self, daemon):
        return self.folder / f"{daemon}.vty"

    def vty(self, daemon="bgpd"):
        return Vty(self.socket(daemon))

    def configure(self, text, daemon="bgpd"):
        with self.vty(daemon) as vty:
            vty.configure(text)

    def json(self, command, daemon="bgpd"):
        with self.vty(daemon) as vty:
            return vty.json(command)

    def wait_established(self, *peers, timeout=15):
        wait_established(self.socket("bgpd"), peers, timeout)
        return self


# --- what a bgpd says, the gateway's too ------------------------------------------------------------------------------


def zebra_clients(zebra_socket):
    """The daemons that are with zebra."""
    with Vty(zebra_socket) as v:
        return {line.split()[0] for line in v.run("show zebra client summary").splitlines() if line and line[0].isalpha()} - {"Name"}


def neighbors(bgpd_socket):
    with Vty(bgpd_socket) as vty:
        return vty.json("show bgp neighbors")


def established(bgpd_socket):
    """The peers with a session that is up."""
    return {peer for peer, n in neighbors(bgpd_socket).items() if isinstance(n, dict) and n.get("bgpState") == "Established"}


def wait_established(bgpd_socket, peers, timeout=15):
    """All of `peers`, and no others if none are named: all that there are."""
    def state():
        try:
            up = established(bgpd_socket)
            return set(peers or neighbors(bgpd_socket)) <= up
        except (OSError, VtyError, ValueError):
            return False
    if not process.wait_until(state, timeout, 0.05):
        raise VtyError(f"no session with {sorted(set(peers) - established(bgpd_socket)) or 'some peer'} of {bgpd_socket}")


def bfd_peers(bfdd_socket):
    """{peer: what bfdd says of it}"""
    with Vty(bfdd_socket) as vty:
        return {p["peer"]: p for p in vty.json("show bfd peers")}


def bfd_downs(bfdd_socket):
    """How often a session went down, by peer."""
    with Vty(bfdd_socket) as vty:
        return {p["peer"]: p["session-down"] for p in vty.json("show bfd peers counters")}
