# SPDX-License-Identifier: GPL-2.0-or-later
"""VXLAN as somebody else makes it: by `ip link`, and by Open vSwitch's user-space datapath. The far end that is not Fairway."""
import contextlib
import os
import pathlib
import signal
import subprocess

import netns
import process


def bridged(ns, vni, local, remotes, member, mtu=1500, df="inherit"):
    """One bridged VXLAN segment with head-end replication to `remotes`, by hand."""
    lines = [
        f"link add br{vni} type bridge mcast_snooping 0",
        f"link add vx{vni} type vxlan id {vni} local {local} dstport 4789 ttl 64 tos inherit df {df}",
        f"link set vx{vni} mtu {mtu} addrgenmode none master br{vni} up",
        f"link set {member} master br{vni} mtu {mtu} up",
        f"link set br{vni} mtu {mtu} up",
    ]
    netns.ip(ns, "\n".join(lines) + "\n")
    for remote in remotes:
        netns.run("bridge", "fdb", "append", "00:00:00:00:00:00", "dev", f"vx{vni}", "dst", remote, "self", "permanent", ns=ns)
    for key in ("iptables", "ip6tables", "arptables"):
        netns.sysctl(ns, f"net/bridge/bridge-nf-call-{key}", 0)


def point_to_point(ns, vni, local, remote, member, mtu=1500):
    """One static tunnel, one VNI, the same subnet on both sides: a cloud's layer 2 connection gateway."""
    netns.ip(ns, f"""link add l2cg type bridge mcast_snooping 0
link add tunnel type vxlan id {vni} local {local} remote {remote} dstport 4789 df inherit
link set tunnel mtu {mtu} master l2cg up
link set {member} master l2cg up
link set l2cg up
""")


def underlay(ns, interface, line, vtep, far_line, far_vteps):
    """Addresses and routes of a line's end, by hand."""
    lines = [f"addr add {line} dev {interface}{' nodad' if ':' in line else ''}", f"addr add {vtep} dev lo"]
    lines += [f"route add {v} via {far_line}" for v in far_vteps]
    netns.ip(ns, "\n".join(lines) + "\n")


class OpenVSwitch:
    """ovsdb-server and ovs-vswitchd in a namespace, with a database and sockets of their own."""

    def __init__(self, ns, folder):
        self.ns, self.folder = ns, pathlib.Path(folder)
        self.children = []
        # Relative socket names are taken below OVS_RUNDIR; a unix socket's path is short.
        self.env = {**os.environ, "OVS_RUNDIR": str(self.folder), "OVS_LOGDIR": str(self.folder), "OVS_DBDIR": str(self.folder)}
        self.db = f"unix:{self.folder}/db.sock"

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        netns.run("ovsdb-tool", "create", self.folder / "conf.db", "/usr/share/openvswitch/vswitch.ovsschema")
        try:
            self._start("ovsdb-server", str(self.folder / "conf.db"), f"--remote=p{self.db}")
            process.wait_until((self.folder / "db.sock").exists, 10)
            self.vsctl("--no-wait", "init")
            self._start("ovs-vswitchd", self.db)
            self.vsctl("show")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        for child in reversed(self.children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(5)
            if child.poll() is None:
                child.kill()
                child.wait()

    def _start(self, program, *args):
        with netns.inside(self.ns), open(self.folder / f"{program}.out", "ab") as log:
            self.children.append(subprocess.Popen(
                [f"/usr/sbin/{program}", *args, "--pidfile", f"--log-file={self.folder}/{program}.log"], env=self.env,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def vsctl(self, *args):
        return netns.run("ovs-vsctl", f"--db={self.db}", "--timeout=15", *args, ns=self.ns).stdout

    def appctl(self, *args):
        with netns.inside(self.ns):
            return subprocess.run(["ovs-appctl", "-t", "ovs-vswitchd", *args], env=self.env, capture_output=True, text=True, timeout=15,
                                  check=True).stdout
