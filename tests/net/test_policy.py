# SPDX-License-Identifier: GPL-2.0-or-later
"""The policy by packets: a matrix of places, families and services, every packet that is allowed arrives and no other does.

    gpu1, gpu2 --- segment gpu, bridged and filtered ---+
    store      --- segment store, bridged --------------+--- gw
    office     --- interface office --------------------+
    cloud      --- line ali-a --------------------------+

What is expected is said by a few lines of Python here, from the same rules. Nothing is waited for that does not come: behind
the packets of a round goes one that a rule always lets through, and what is not there when it arrives does not come.
"""
import contextlib
import errno
import itertools
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest
import yaml

import audit_record
import netns
import probe
import process
import topo

FENCE = 9999
HOSTS = {
    "gpu1": ("gpu", "10.99.1.11", "fd00:99:1::11"),
    "gpu2": ("gpu", "10.99.1.12", "fd00:99:1::12"),
    "store": ("store", "10.99.8.7", "fd00:99:8::7"),
    "office": ("office", "10.20.0.9", "fd00:20::9"),
    "cloud": ("ali-a", "172.31.0.2", "fd00:31::2"),
}
GROUPS = [
    # A host inside a network of the same group: neither is an error, in both families.
    {"name": "storage", "prefixes": ["10.99.8.0/24", "10.99.8.7/32", "fd00:99:8::/64", "fd00:99:8::7/128"]},
    {"name": "first", "prefixes": ["10.99.1.11/32", "fd00:99:1::11/128"]},
]
IN_GROUP = {"storage": {"store"}, "first": {"gpu1"}}
SERVICES = [{"name": "nfs", "ports": ["tcp/2049", "udp/111", "tcp/5000-6000"]}]
RULES = [
    {"seq": 5, "services": [f"tcp/{FENCE}", f"udp/{FENCE}"], "action": "accept"},
    {"seq": 10, "from": ["gpu"], "to": ["store"], "services": ["nfs"], "action": "accept"},
    {"seq": 20, "from": ["gpu"], "to": ["store"], "action": "drop"},
    {"seq": 30, "from": ["gpu"], "to": ["gpu"], "services": ["tcp/22"], "action": "drop"},
    {"seq": 40, "from": ["first"], "to": ["segment:gpu"], "services": ["udp/7000"], "action": "drop"},
    {"seq": 50, "from": ["office"], "to": ["storage"], "services": ["icmp/echo-request", "icmpv6/echo-request", "tcp/443"],
     "action": "accept"},
    {"seq": 60, "from": ["line:ali-a"], "to": ["10.20.0.0/16", "fd00:20::/64"], "services": ["udp"], "action": "accept"},
    {"seq": 70, "from": ["storage", "first"], "to": ["line:ali-a"], "action": "accept"},
    {"seq": 80, "from": ["office"], "to": ["gpu"], "services": ["tcp/1-100"], "action": "reject"},
    {"seq": 90, "from": ["office"], "to": ["gpu"], "services": ["tcp", "udp/7000"], "action": "accept"},
]
PROBES = [("tcp", 22), ("tcp", 443), ("tcp", 2049), ("tcp", 5000), ("tcp", 6000), ("tcp", 6001), ("udp", 111), ("udp", 112), ("udp", 7000),
          ("icmp", 0)]


def policy(**changes):
    return {"default": "drop", "groups": GROUPS, "services": SERVICES, "rules": RULES, **changes}


def config(the_policy):
    cfg = {
        "system": {"hostname": "gw"},
        "interfaces": [{"name": "office", "addresses": ["10.20.0.1/24", "fd00:20::1/64"]}],
        "lines": [{"name": "ali-a", "interface": "wan", "address": "172.31.0.1/30", "peer-address": "172.31.0.2",
                   "address6": "fd00:31::1/64", "peer-address6": "fd00:31::2"}],
        "vtep": {"address": "10.255.0.1"},
        "segments": [
            {"name": "gpu", "vni": 10010, "mode": "bridged", "members": ["gpu1", "gpu2"], "filter": True,
             "gateway": ["10.99.1.1/24", "fd00:99:1::1/64"]},
            {"name": "store", "vni": 10020, "mode": "bridged", "members": ["store"], "gateway": ["10.99.8.1/24", "fd00:99:8::1/64"]},
        ],
    }
    return {**cfg, "policy": the_policy} if the_policy else cfg


def text(the_policy):
    return yaml.safe_dump(config(the_policy), sort_keys=False)


def topology():
    def host(name):
        _, v4, v6 = HOSTS[name]
        bits = 30 if name == "cloud" else 24
        gateways = (v4.rsplit(".", 1)[0] + ".1", v6.rsplit("::", 1)[0] + "::1")
        return {"addresses": {"eth0": [f"{v4}/{bits}", f"{v6}/64"]}, "routes": [f"default via {g}" for g in gateways]}
    return {
        "name": "policy",
        "nodes": {**{name: host(name) for name in HOSTS}, "gw": {"kind": "gateway", "config": text(policy())}},
        "links": [{"name": name, "ends": [f"{name}:eth0", f"gw:{'wan' if name == 'cloud' else name}"]} for name in HOSTS],
    }


# --- what the rules say -----------------------------------------------------------------------------------------------


def is_end(names, host, groups):
    if not names:
        return True
    place = HOSTS[host][0]
    prefixes = {"10.20.0.0/16": {"office"}, "fd00:20::/64": {"office"}}
    return any(n.split(":")[-1] == place or (n in groups and host in IN_GROUP[n]) or host in prefixes.get(n, ()) for n in names)


def is_service(services, proto, port, v6):
    if not services:
        return True
    for s in itertools.chain.from_iterable(x["ports"] if (x := next((y for y in SERVICES if y["name"] == s), None)) else [s] for s in services):
        kind, _, which = s.partition("/")
        if proto == "icmp":
            if kind == ("icmpv6" if v6 else "icmp"):
                return True
        elif kind == proto:
            low, _, high = which.partition("-")
            if not which or int(low) <= port <= int(high or low):
                return True
    return False


def allowed(the_policy, src, dst, proto, port, v6):
    if not the_policy:
        return True
    groups = [g["name"] for g in the_policy["groups"]]
    for rule in sorted(the_policy["rules"], key=lambda r: r["seq"]):
        if is_end(rule.get("from"), src, groups) and is_end(rule.get("to"), dst, groups) and is_service(rule.get("services"), proto, port, v6):
            return rule["action"] == "accept"
    return HOSTS[src][0] == HOSTS[dst][0] or the_policy["default"] == "accept"


# --- packets ----------------------------------------------------------------------------------------------------------


class Host:
    """Listens on all that is probed, in both families."""

    def __init__(self, ns, name):
        self.ns, self.name = ns, name
        self.addresses = HOSTS[name][1:]
        self.tcp, self.udp, self.icmp = {}, {}, []
        for address in self.addresses:
            for proto, port in PROBES + [("tcp", FENCE), ("udp", FENCE)]:
                if proto == "tcp":
                    self.tcp[address, port] = self.listener(address, port)
                elif proto == "udp":
                    self.udp[address, port] = probe.udp_socket(ns, address, port)
            with netns.inside(ns):
                v6 = probe.is_v6(address)
                s = socket.socket(probe.family(address), socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
            s.setblocking(False)
            self.icmp.append((v6, s))

    def listener(self, address, port):
        s = probe.new_socket(self.ns, address, socket.SOCK_STREAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        s.listen(64)
        s.setblocking(False)
        return s

    def close(self):
        for s in [*self.tcp.values(), *self.udp.values(), *(s for _, s in self.icmp)]:
            s.close()

    def drain(self):
        """What came since the last call: {(source address, protocol, port)}; UDP by its payload."""
        seen = set()
        for (address, port), s in self.udp.items():
            while probe.readable(s, 0):
                data, (source, *_) = s.recvfrom(2048)
                seen.add((source, "udp", port, data))
        for (address, port), s in self.tcp.items():
            while probe.readable(s, 0):
                c, (source, sport, *_) = s.accept()
                c.close()
                seen.add((source, "tcp", port, sport))
        for v6, s in self.icmp:
            while probe.readable(s, 0):
                data, (source, *_) = s.recvfrom(2048)
                icmp = data if v6 else data[(data[0] & 15) * 4:]
                if icmp[0] == (128 if v6 else 8):
                    seen.add((source, "icmp", 0, icmp[8:]))
        return seen


def echo_request(v6, payload):
    head = struct.pack("!BBHHH", 128 if v6 else 8, 0, 0, os.getpid() & 0xffff, 1)
    data = head + payload
    if not v6:  # the kernel fills in the checksum of ICMPv6 only
        words = struct.unpack(f"!{len(data) // 2}H", data)
        total = sum(words)
        total = (total & 0xffff) + (total >> 16)
        total = (total & 0xffff) + (total >> 16)
        data = head[:2] + struct.pack("!H", ~total & 0xffff) + data[4:]
    return data


class Site:
    def __init__(self, lab):
        self.lab, self.gw = lab, lab.gateways["gw"]
        self.hosts = {name: Host(lab.ns(name), name) for name in HOSTS}
        self.rounds = itertools.count(1)

    def pairs(self):
        for src, dst in itertools.permutations(HOSTS, 2):
            for v6 in (False, True):
                yield src, dst, v6

    def apply(self, the_policy):
        self.gw.apply(text(the_policy))
        self.gw.wait_converged()

    def resolve(self):
        """Each host knows its neighbors, so that no packet of a round waits for them."""
        for src, dst, v6 in self.pairs():
            assert process.wait_until(lambda s=src, d=dst, v=v6: self.fence(s, d, v, b"resolve"), 10), (src, dst, v6)

    def fence(self, src, dst, v6, what, timeout=0.3):
        address, mine = HOSTS[dst][1 + v6], HOSTS[src][1 + v6]
        receiver = self.hosts[dst].udp[address, FENCE]
        with probe.udp_socket(self.hosts[src].ns, mine) as s:
            s.sendto(what, (address, FENCE))
        while probe.readable(receiver, timeout):
            if receiver.recv(2048) == what:
                return True
        return False

    def send(self, src, dst, v6, token, sockets):
        address, mine = HOSTS[dst][1 + v6], HOSTS[src][1 + v6]
        ns = self.hosts[src].ns
        for proto, port in PROBES:
            kind = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}.get(proto)
            with netns.inside(ns):
                if proto == "icmp":
                    s = socket.socket(probe.family(address), socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
                else:
                    s = socket.socket(probe.family(address), kind)
            sockets.append(s)
            s.bind((mine, 0))
            if proto == "tcp":
                s.setblocking(False)
                # One that is rejected gives its port back at once, and another may get it.
                self.ports.setdefault((s.getsockname()[1], mine), set()).add((src, dst, proto, port, v6))
                assert s.connect_ex((address, port)) == errno.EINPROGRESS
            elif proto == "udp":
                s.sendto(token, (address, port))
            else:
                s.sendto(echo_request(v6, token), (address, 0))

    def arrived(self, token):
        got = set()
        for dst, host in self.hosts.items():
            for source, proto, port, what in host.drain():
                src = next(n for n, h in HOSTS.items() if source in h[1:])
                probed = (src, dst, proto, port, probe.is_v6(source))
                if what == token or (proto == "tcp" and probed in self.ports.get((what, source), ())):
                    got.add(probed)
        return got

    def round(self, the_policy):
        """One packet of everything from everywhere to everywhere. {(src, dst, proto, port, v6)}: too few, too many."""
        number = next(self.rounds)
        token = b"round %08d" % number
        self.ports, sockets, got = {}, [], set()
        for host in self.hosts.values():
            host.drain()
        wanted = {(s, d, proto, port, v6) for s, d, v6 in self.pairs() for proto, port in PROBES
                  if allowed(the_policy, s, d, proto, port, v6)}
        for src, dst, v6 in self.pairs():
            self.send(src, dst, v6, token, sockets)
        for src, dst, v6 in self.pairs():
            assert self.fence(src, dst, v6, b"fence %d" % number, 2), f"what is always allowed does not arrive: {src} {dst} {v6}"

        def all_there():
            got.update(self.arrived(token))
            return wanted <= got
        process.wait_until(all_there, 2, 0.01)
        for s in sockets:
            s.close()
        return wanted - got, got - wanted


@pytest.fixture(scope="module")
def site_lab():
    with topo.temporary(topology()) as lab:
        site = Site(lab)
        site.resolve()
        yield site
        for host in site.hosts.values():
            host.close()


@pytest.fixture
def site(site_lab):
    yield site_lab
    if not site_lab.gw.running():
        site_lab.gw.boot()
    site_lab.apply(policy())
    site_lab.gw.wait_converged()


NOTHING = (set(), set())


def test_matrix(site):
    assert site.round(policy()) == NOTHING
    assert site.gw.plan() == []


def test_matrix_with_another_default(site):
    the_policy = policy(default="accept")
    site.apply(the_policy)
    assert site.round(the_policy) == NOTHING


def test_without_a_policy_nothing_is_filtered(site):
    site.apply(None)
    assert site.round(None) == NOTHING


@pytest.mark.parametrize("seq", [10, 30, 40, 50, 60, 90])
def test_the_matrix_sees_a_rule_that_is_missing(site, seq):
    """The test of the test: what this rule alone decides, and nothing else, is found."""
    less = policy(rules=[r for r in RULES if r["seq"] != seq])
    site.apply(less)
    few, many = site.round(policy())
    expected = {True: set(), False: set()}
    for s, d, v6 in site.pairs():
        for proto, port in PROBES:
            before, after = allowed(policy(), s, d, proto, port, v6), allowed(less, s, d, proto, port, v6)
            if before != after:
                expected[before].add((s, d, proto, port, v6))
    assert (few, many) == (expected[True], expected[False])
    assert few or many


# --- while things happen ----------------------------------------------------------------------------------------------


def test_matrix_during_commits(site):
    """A hundred commits: rules come and go that decide none of these packets, but stand before all that do."""
    stop, failed, commits = threading.Event(), [], []

    def commit():
        while not stop.is_set():
            commits.append(1)
            n = len(commits)
            extra = [{"seq": 2, "from": ["203.0.113.0/24"], "services": [f"tcp/{n % 1000 + 1}"], "action": "drop"}] if n % 2 else []
            done = site.gw.apply(text(policy(rules=extra + RULES)), expect=None)
            if done.returncode != 0:
                failed.append(done.stderr)
    thread = threading.Thread(target=commit)
    thread.start()
    try:
        rounds = []
        while len(commits) < 100:
            rounds.append(site.round(policy()))
    finally:
        stop.set()
        thread.join()
    assert not failed
    assert rounds == [NOTHING] * len(rounds)


def test_matrix_while_fairwayd_is_dead(site):
    site.gw.kill()
    assert site.round(policy()) == NOTHING
    site.gw.boot()
    assert site.round(policy()) == NOTHING


def table_is_there(ns):
    return netns.run("nft", "list", "chain", "inet", "fairway_policy", "forward", ns=ns, check=False).returncode == 0


def test_matrix_after_a_flush_by_hand(site):
    for _ in range(3):
        netns.run("nft", "flush", "ruleset", ns=site.gw.ns)
        assert process.wait_until(lambda: table_is_there(site.gw.ns), 1), "not repaired within a second"
        assert site.round(policy()) == NOTHING


def test_the_rules_of_others_are_left_alone(site):
    """Case 38."""
    netns.nft(site.gw.ns, "table inet others {\n set s {\n type ipv4_addr\n elements = { 192.0.2.1 }\n}\n chain c {\n"
              " type filter hook forward priority 5;\n ip saddr @s counter drop\n}\n}\n")
    before = netns.run("nft", "-s", "list", "table", "inet", "others", ns=site.gw.ns).stdout
    try:
        for n in range(3):
            site.apply(policy(rules=[{"seq": 1, "services": [f"tcp/{n + 1}"], "action": "drop"}] + RULES))
        site.apply(None)
        site.apply(policy())
        assert netns.run("nft", "-s", "list", "table", "inet", "others", ns=site.gw.ns).stdout == before
    finally:
        netns.nft(site.gw.ns, "delete table inet others\n")


# --- flows that are there already ---------------------------------------------------------------------------------------


class Flow:
    """A TCP connection or a UDP flow, kept open; alive() sends something there and back."""

    def __init__(self, site, src, dst, proto, port, v6):
        address, mine = HOSTS[dst][1 + v6], HOSTS[src][1 + v6]
        self.proto, self.n = proto, 0
        if proto == "tcp":
            listener = site.hosts[dst].tcp[address, port]
            self.client = probe.connect(site.hosts[src].ns, mine, (address, port), timeout=2)
            assert probe.readable(listener, 2)
            self.server, self.owned = listener.accept()[0], True
        else:
            self.client = probe.udp_socket(site.hosts[src].ns, mine)
            self.server, self.owned, self.to = site.hosts[dst].udp[address, port], False, (address, port)

    def there(self, timeout=1.0):
        self.n += 1
        what = b"%08d" % self.n
        if self.proto == "tcp":
            self.client.send(what)
        else:
            self.client.sendto(what, self.to)
        deadline = time.monotonic() + timeout
        while probe.readable(self.server, deadline - time.monotonic()):
            data, source = self.server.recvfrom(2048)
            if what in data:
                self.back_to = source
                return True
            if not data:
                return False
        return False

    def back(self, timeout=1.0):
        what = b"back%08d" % self.n
        if self.proto == "tcp":
            self.server.send(what)
        else:
            self.server.sendto(what, self.back_to)
        deadline = time.monotonic() + timeout
        while probe.readable(self.client, deadline - time.monotonic()):
            with contextlib.suppress(ConnectionError):
                if what in self.client.recv(2048):
                    return True
        return False

    def alive(self):
        return self.there() and self.back()

    def close(self):
        self.client.close()
        if self.owned:
            self.server.close()


FLOWS = [("gpu1", "store", "tcp", 2049), ("gpu1", "store", "udp", 111), ("cloud", "office", "udp", 112), ("gpu1", "gpu2", "udp", 112),
         ("gpu1", "gpu2", "tcp", 443)]


@contextlib.contextmanager
def flows(site):
    made = [(f, v6, Flow(site, *f, v6)) for f in FLOWS for v6 in (False, True)]
    try:
        for what, v6, flow in made:
            assert flow.alive(), (what, v6)
        yield made
    finally:
        for _, _, flow in made:
            flow.close()


def test_flows_outlive_commits_and_flushes(site):
    with flows(site) as made:
        for n in range(3):
            site.apply(policy(rules=[{"seq": 1, "services": [f"tcp/{n + 1}"], "action": "drop"}] + RULES))
            assert [(w, v) for w, v, f in made if not f.alive()] == []
        netns.run("nft", "flush", "ruleset", ns=site.gw.ns)
        assert process.wait_until(lambda: table_is_there(site.gw.ns), 1)
        assert [(w, v) for w, v, f in made if not f.alive()] == []
        site.gw.kill()
        site.gw.boot()
        assert [(w, v) for w, v, f in made if not f.alive()] == []


def test_flows_that_are_forbidden_are_cut(site):
    """TCP, UDP; routed, bridged; from either end, whoever speaks first."""
    less = [r for r in RULES if r["seq"] not in (10, 60)] + [{"seq": 35, "from": ["gpu"], "to": ["gpu"], "services": ["udp/112", "tcp/443"],
                                                             "action": "drop"}]
    with flows(site) as made:
        site.apply(policy(rules=less))
        assert process.wait_until(lambda: [w for w, _, f in made if f.back(0.05)] == [], 2), "what answers still passes"
        assert [(w, v) for w, v, f in made if f.there(0.1)] == []
        assert [(w, v) for w, v, f in made if f.back(0.1)] == []
        site.apply(policy())
    with flows(site):
        pass


# --- prefix files -------------------------------------------------------------------------------------------------------


def with_file(path, **changes):
    groups = [{"name": "storage", "file": str(path)}, GROUPS[1]]
    return policy(groups=groups, **changes)


def replace(path, content):
    path.with_suffix(".new").write_text(content, encoding="utf-8", newline="")
    os.replace(path.with_suffix(".new"), path)


STORAGE = "# the stores\r\n10.99.8.0/24\r\n10.99.8.7   # once more\nfd00:99:8::/64\n"


def test_a_prefix_file_is_followed(site, tmp_path):
    path = tmp_path / "storage.txt"
    path.write_text(STORAGE, encoding="utf-8", newline="")
    the_policy = with_file(path)
    site.apply(the_policy)
    assert site.round(the_policy) == NOTHING
    log = len(site.gw.log())
    replace(path, "192.0.2.0/24\n")
    without = {**the_policy, "groups": [GROUPS[1]]}  # storage is nobody here
    assert process.wait_until(lambda: not reaches_store(site), 2), site.gw.log()[log:]
    # Flows that were there before are looked at a moment later.
    assert process.wait_until(lambda: site.round(without) == NOTHING, 5)
    assert "replace" not in site.gw.log()[log:], "elements, and not the table"
    replace(path, STORAGE)
    assert process.wait_until(lambda: reaches_store(site), 2)
    assert process.wait_until(lambda: site.round(the_policy) == NOTHING, 5)


def reaches_store(site):
    try:
        probe.connect(site.hosts["office"].ns, HOSTS["office"][1], (HOSTS["store"][1], 443), timeout=0.2).close()
        return True
    except OSError:
        return False


def test_junk_in_a_prefix_file_changes_nothing(site, tmp_path):
    path = tmp_path / "storage.txt"
    path.write_text(STORAGE, encoding="utf-8", newline="")
    the_policy = with_file(path)
    site.apply(the_policy)
    replace(path, STORAGE + "10.99.8.0/24 junk\n")
    assert process.wait_until(lambda: any(f"{path}:5:1:" in t for t in site.gw.status()["trouble"]), 2), site.gw.status()
    assert site.round(the_policy) == NOTHING
    refused = site.gw.apply(text(with_file(path, default="accept")), expect=1)
    assert f'group storage: {path}:5:1: "10.99.8.0/24 junk" is not a network' in refused.stderr
    site.gw.kill()
    site.gw.boot()  # what was good last is kept
    assert site.round(the_policy) == NOTHING
    replace(path, STORAGE)
    assert process.wait_until(lambda: not site.gw.status()["trouble"], 2)


# --- questions -----------------------------------------------------------------------------------------------------------


QUESTIONS = [
    ("gpu", "store", "nfs", "rule 10 accepts it"),
    ("gpu", "store", "tcp/443", "rule 20 drops it"),
    ("10.99.1.11", "gpu@10.99.1.12", "udp/7000", "rule 40 drops it"),
    ("10.99.1.12", "10.99.1.11", "udp/7000", "no rule decides; inside one segment everything is accepted"),
    ("office", "segment:gpu", "tcp/80", "rule 80 rejects it"),
    ("office", "gpu", "tcp/443", "rule 90 accepts it"),
    ("fd00:20::9", "storage", "icmpv6/echo-request", "rule 50 accepts it"),
    ("cloud", "office", "udp/1", None),
    ("line:ali-a", "office", "udp/1", "rule 60 accepts it"),
    ("office", "line:ali-a", "udp/1", "no rule decides; the default drops it"),
    ("office", "gateway", "tcp/22", "no rule decides; what is for the gateway itself is denied"),
]


@pytest.mark.parametrize("a, b, service, verdict", QUESTIONS)
def test_policy_test(site, a, b, service, verdict):
    done = site.gw.call("policy", "test", "from", a, "to", b, "service", service)
    if verdict is None:
        assert done.returncode == 1 and "is no address, and no name" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert {line.split(": ", 1)[1] for line in done.stdout.splitlines()} == {verdict}


def test_policy_test_says_what_packets_do(site):
    """Every pair and probe of the matrix, asked instead of sent."""
    for src, dst, v6 in site.pairs():
        for proto, port in PROBES:
            service = f"{proto}/{port}" if port else ("icmpv6/echo-request" if v6 else "icmp/echo-request")
            asked = site.gw.call("--json", "policy", "test", "from", HOSTS[src][1 + v6], "to", HOSTS[dst][1 + v6], "service", service)
            accepted = [v["accepted"] for v in yaml.safe_load(asked.stdout)["verdicts"]]
            assert accepted == [allowed(policy(), src, dst, proto, port, v6)], (src, dst, v6, service)


def test_show_policy_counts_by_rule_and_keeps_the_counts(site):
    shadowed = {"seq": 95, "from": ["office"], "to": ["gpu"], "services": ["tcp/443"], "action": "drop"}
    unused = {"seq": 96, "from": ["203.0.113.0/24"], "action": "drop"}
    the_policy = policy(rules=RULES + [shadowed, unused])
    site.apply(the_policy)
    before = {r["rule"]: r for r in site.gw.show("policy")["rules"]}
    assert before[95]["state"] == "shadowed" and before[96]["state"] == "unused"
    assert site.round(the_policy) == NOTHING
    after = {r["rule"]: r for r in site.gw.show("policy")["rules"]}
    for rule in (10, 20, 30, 40, 50, 60, 70, 80, 90):
        assert after[rule]["flows"] > before[rule]["flows"] and after[rule]["state"] == "used", after[rule]
    assert after[95]["flows"] == after[96]["flows"] == 0
    site.apply(policy())
    kept = {r["rule"]: r for r in site.gw.show("policy")["rules"]}
    assert all(kept[r["seq"]]["flows"] >= after[r["seq"]]["flows"] for r in RULES)


def test_plan_names_flows_that_it_would_cut(site):
    less = policy(rules=[r for r in RULES if r["seq"] != 10])
    path = site.gw.folder / "less.yaml"
    path.write_text(text(less), encoding="utf-8")
    with flows(site):
        said = site.gw.call("plan", path).stdout
        assert "the policy cuts " in said and ":2049: rule 20 drops it" in said, said
        cuts = yaml.safe_load(site.gw.call("--json", "plan", path).stdout)["cuts"]
        assert cuts["denied"] >= 4 and cuts["unknown"] == 0 and len(cuts["named"]) <= 10
    assert "cuts" not in yaml.safe_load(site.gw.call("--json", "plan").stdout)


def test_a_shadowed_rule_is_warned_of(site):
    the_policy = policy(rules=RULES + [{"seq": 95, "from": ["office"], "to": ["gpu"], "services": ["tcp/443"], "action": "drop"}])
    done = site.gw.apply(text(the_policy))
    assert "warning: rule 95: it never decides: rule 90" in done.stderr
