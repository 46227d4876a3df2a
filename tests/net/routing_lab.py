# SPDX-License-Identifier: GPL-2.0-or-later
"""The routing lab (tests/lib/routing.yaml) and what its tests ask of it: sessions and their counters, routes of the kernel, packets."""
import copy
import ipaddress
import json
import pathlib
import re
import time

import yaml

import frr
import gateway
import netns
import probe
import process
import sites
import topo

SPEC = yaml.safe_load((pathlib.Path(topo.__file__).parent / "routing.yaml").read_text(encoding="utf-8"))
VTEPS = {"bj-gw1": "10.255.0.1", "ali-gw1": "10.255.1.1", "hw-rt": "10.255.2.1"}
HOSTS = {"h1": "10.30.1.11", "h2": "10.30.2.11", "ali-h1": "10.101.1.11", "hw-h1": "10.201.1.11"}
PEERS = {"leaf1": "10.20.1.2", "leaf2": "fab2", "c1-a": "172.31.1.2", "c1-b": "172.31.1.6", "c2-a": "172.31.2.2", "c2-b": "172.31.2.6"}
COUNTERS = ("opensSent", "opensRecv", "notificationsSent", "notificationsRecv", "updatesSent", "updatesRecv", "routeRefreshSent",
            "routeRefreshRecv")
QUIET = 1.5  # seconds
BGP, OURS, FLIP = "186", "250", "1"  # rtm_protocol


# --- of any gateway or FRR --------------------------------------------------------------------------------------------


def vty(gw, daemon="bgpd"):
    """The socket of a gateway's daemon."""
    return gw.folder / "run/frr" / f"{daemon}.vty"


def daemon_pid(gw, daemon):
    return int((gw.folder / "run/frr" / f"{daemon}.pid").read_text(encoding="ascii"))


def sessions(bgpd_socket):
    """{peer: how often it came and went, and its messages but for keepalives}"""
    return {peer: {"state": n["bgpState"], "established": n["connectionsEstablished"], "dropped": n["connectionsDropped"],
                   "since": n.get("bgpTimerUpEstablishedEpoch"), **{c: n["messageStats"][c] for c in COUNTERS}}
            for peer, n in frr.neighbors(bgpd_socket).items() if isinstance(n, dict)}


def moved(before, after, touched=()):
    """What is different between two looks at sessions, but for the `touched` peers. FRR computes the time of establishment from the
    clock's second, so that it may be off by one."""
    found = []
    for peer in sorted({*before, *after} - set(touched)):
        old, new = before.get(peer), after.get(peer)
        if not old or not new:
            found.append(f"{peer}: {'appeared' if new else 'is gone'}")
            continue
        found += [f"{peer}: {k}: {old[k]} -> {new[k]}" for k in old
                  if (abs((old[k] or 0) - (new[k] or 0)) > 1 if k == "since" else old[k] != new[k])]
    return found


def bounced(before, after, touched=()):
    """As moved(), and only of the session itself: whose routes are asked for again has other counters, and has not moved."""
    return [line for line in moved(before, after, touched)
            if line.split(": ")[-2] in ("state", "established", "dropped", "since", "opensSent", "opensRecv", "notificationsSent",
                                        "notificationsRecv") or "appeared" in line or "is gone" in line]


def routes(ns, prefix):
    """Of the kernel, best first: [{"protocol", "metric", "hops": [(via, dev, weight)]}]; hops without carrier left out."""
    family = "-6" if ":" in prefix else "-4"
    out = netns.run("ip", family, "-j", "-N", "route", "show", "exact", prefix, ns=ns, check=False).stdout
    found = []
    for r in sorted(json.loads(out or "[]"), key=lambda r: r.get("metric", 0)):
        hops = [(h.get("via", {}).get("host") or h.get("gateway"), h.get("dev"), h.get("weight", 1)) for h in r.get("nexthops") or [r]
                if not {"dead", "linkdown"} & set(h.get("flags", []))]
        found.append({"protocol": str(r["protocol"]), "metric": r.get("metric", 0), "hops": sorted(hops, key=str)})
    return found


def carriers(ns, prefix):
    """The interfaces that carry a prefix."""
    found = routes(ns, prefix)
    return [dev for _, dev, _ in found[0]["hops"]] if found else []


def has(ns, *prefixes):
    return all(carriers(ns, p) for p in prefixes)


def impacts(gw, config):
    """What a change would interrupt, as the plan says before it is made: {impact}, without "none"."""
    path = gw.folder / "plan.yaml"
    path.write_text(sites.text(config), encoding="utf-8")
    done = gw.call("--json", "plan", path)
    assert done.returncode == gateway.OK, done.stdout + done.stderr
    return {s["impact"] for s in gateway.plan_steps(json.loads(done.stdout))} - {"none", None}


def policy(name, *rules):
    return {"name": name, "rules": [{"seq": 10 * (n + 1), **r} for n, r in enumerate(rules)]}


def prefix_list(name, *entries):
    return {"name": name, "entries": [{"seq": 10 * (n + 1), **e} for n, e in enumerate(entries)]}


def prefixes(first, n, length=24):
    """n prefixes from `first` on."""
    network = ipaddress.ip_network(first)
    step = 1 << (network.max_prefixlen - length)
    return [f"{network.network_address + i * step}/{length}" for i in range(n)]


# --- the lab ----------------------------------------------------------------------------------------------------------


class World:
    def __init__(self, lab):
        self.lab = lab
        self.bj, self.ali = lab.gateways["bj-gw1"], lab.gateways["ali-gw1"]

    @property
    def leaf1(self):
        return self.lab.speakers["leaf1"]

    @property
    def leaf2(self):
        return self.lab.speakers["leaf2"]

    @property
    def hw(self):
        return self.lab.speakers["hw-rt"]

    def ns(self, node):
        return self.lab.ns(node)

    @staticmethod
    def config(node="bj-gw1"):
        return copy.deepcopy(SPEC["nodes"][node]["config"])

    def sessions(self):
        return sessions(vty(self.bj))

    def settled(self):
        """The sessions, when what was said last has been answered: no counter has moved for longer than FRR waits with anything."""
        last, since = self.sessions(), time.monotonic()

        def quiet():
            nonlocal last, since
            now = self.sessions()
            if moved(last, now):
                last, since = now, time.monotonic()
            return time.monotonic() > since + QUIET
        assert process.wait_until(quiet, 30, 0.1), "the sessions do not come to rest"
        return last

    def flow(self, a, b):
        """For probe.Stream, from host to host or vtep to vtep."""
        where = {**HOSTS, **VTEPS}
        return (f"{a}-{b}", self.ns(a), where[a], self.ns(b), where[b])

    def flows(self, n=4):
        """Between vteps, n of each cloud: they differ by their ports, so that both lines are used."""
        return [(f"{b}-{i}", *self.flow("bj-gw1", b)[1:]) for b in ("ali-gw1", "hw-rt") for i in range(n)]

    def attached(self):
        """bgpd and bfdd have found their zebra: they look for a new one every 10 s, and sessions bounce then."""
        try:
            return all({"bgp", "bfd"} <= frr.zebra_clients(vty(gw, "zebra")) for gw in (self.bj, self.ali))
        except (OSError, frr.VtyError):
            return False

    def established(self):
        """Every session of every side."""
        try:
            return frr.established(vty(self.bj)) == set(PEERS.values()) and len(frr.established(vty(self.ali))) == 2 \
                and self.hw.established() == {"c2_a", "c2_b"} and frr.established(self.leaf1.socket("bgpd")) == {"10.20.1.1"} \
                and frr.established(self.leaf2.socket("bgpd")) == {"spine"}
        except (OSError, frr.VtyError):
            return False

    def bfd_up(self):
        try:
            return all(p["status"] == "up" for p in frr.bfd_peers(vty(self.bj, "bfdd")).values()) \
                and len(frr.bfd_peers(vty(self.bj, "bfdd"))) == 4
        except (OSError, frr.VtyError):
            return False

    def shared(self):
        """Both lines of both clouds carry, in both directions, by BGP alone."""
        bj, ali, hw = self.bj.ns, self.ali.ns, self.ns("hw-rt")
        ways = ((bj, "10.101.1.0/24", 1), (bj, "10.255.1.1/32", 1), (bj, "10.201.1.0/24", 2), (bj, "10.255.2.1/32", 2),
                (ali, "10.30.1.0/24", 1), (ali, "10.255.0.1/32", 1), (hw, "10.30.1.0/24", 2), (hw, "10.255.0.1/32", 2))
        return all(carriers(ns, p) == [f"c{n}-a", f"c{n}-b"] for ns, p, n in ways) \
            and FLIP not in [r["protocol"] for ns, p, _ in ways for r in routes(ns, p)]

    def wait_ready(self, timeout=30):
        for what in (self.attached, self.established, self.bfd_up, self.shared):
            assert process.wait_until(what, timeout, 0.05), f"{what.__name__}: not within {timeout} s:\n{self.describe()}"
        for a, b in (("h1", "ali-h1"), ("h1", "hw-h1"), ("h2", "ali-h1"), ("h2", "hw-h1")):
            # ping gives up at the first ICMP error, and the fabric hears of it a moment later.
            assert process.wait_until(lambda a=a, b=b: probe.ping(self.ns(a), HOSTS[b], timeout=1), 5), f"{a} does not reach {b}:\n{self.describe()}"
        return self

    def describe(self):
        """For the message of a failure."""
        parts = []
        for gw in (self.bj, self.ali):
            parts += [f"{gw.instance}: {gw.status()}"]
            for daemon, command in (("bgpd", "show bgp summary"), ("bfdd", "show bfd peers brief")):
                try:
                    with frr.Vty(vty(gw, daemon)) as v:
                        parts.append(v.run(command))
                except (OSError, frr.VtyError) as e:
                    parts.append(f"{daemon}: {e}")
            parts.append(netns.run("ip", "route", ns=gw.ns).stdout)
        parts.append(self.hw.show("protocols"))
        return "\n".join(parts)

    def reset(self):
        for name in self.lab.topology.links:
            self.lab.heal(name)
        try:
            for name, gw in self.lab.gateways.items():
                text = sites.text(self.config(name))
                if not gw.running():
                    gw.install(text)
                    gw.boot()
                gw.apply(text)
                gw.wait_converged()
            self.hw.reconfigure(SPEC["nodes"]["hw-rt"]["bird"])
            self.wait_ready()
        except (AssertionError, gateway.GatewayError, netns.CommandError):
            self.rebuild()
            raise

    def rebuild(self):
        self.lab.up()
        self.wait_ready()


def lab():
    spec = copy.deepcopy(SPEC)
    for node in spec["nodes"].values():
        if node.get("kind") == "gateway":
            node["config"] = sites.text(node["config"])
    return topo.temporary(spec)


def says(text, pattern):
    return re.search(pattern, text, re.I | re.S)
