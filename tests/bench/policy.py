# SPDX-License-Identifier: GPL-2.0-or-later
"""The policy's rows: a group of 100,000 prefixes replaced and grown by one, counters read beside it, one rule among 10,000, packets
through 10,000 rules.

Baselines: `nft -f` and `nft add element` of the same set; `nft list counters`; the ruleset as nft text; the same policy as linear rules,
and none.
"""
import contextlib
import pathlib
import random
import socket
import struct
import tempfile
import time

from core import ROOT, Group, gateway, kpps, namespaces, run, timed, wire  # first: it says where tests/lib is

import netns  # noqa: E402
import process  # noqa: E402

PREFIXES = 100000
RULES = 10000
COUNTED_RULES = 1000


# --- the kernel's own answer, without a tool that reads all sets first ------------------------------------------------


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


class Kernel:
    """Is this address the first of a range of the map?"""

    def __init__(self, ns, table, which):
        self.table, self.which = table.encode() + b"\0", which.encode() + b"\0"
        with netns.inside(ns):
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)

    def has(self, address):
        key = attr(0x8000 | 1, attr(0x8000 | 1, attr(1, socket.inet_aton(address))))  # elements, one, its key
        body = struct.pack("=BBH", 1, 0, 0) + attr(1, self.table) + attr(2, self.which) + attr(0x8000 | 3, attr(0x8000 | 1, key[4:]))
        self.socket.send(struct.pack("=IHHII", 16 + len(body), 10 << 8 | 13, 1, 0, 0) + body)
        answer = self.socket.recv(65536)
        # A range that begins elsewhere, or the end of one, has another key; none is an error.
        return struct.unpack_from("=H", answer, 4)[0] == 10 << 8 | 12 and socket.inet_aton(address) in answer and b"\0\4\0\0\0\1" not in answer

    def close(self):
        self.socket.close()


def prefixes(n, seed):
    """Of many lengths and apart from each other in most cases, as a list of a provider is."""
    generator = random.Random(seed)
    found = set()
    while len(found) < n:
        length = generator.choice((20, 22, 23, 24, 24, 24, 28, 32))
        found.add(((generator.getrandbits(32) | 0x40000000) & 0x7FFFFFFF & (0xFFFFFFFF << (32 - length)), length))
    return [f"{socket.inet_ntoa(struct.pack('>I', a))}/{length}" for a, length in sorted(found)]


def put(path, lines):
    """As one would replace it: another file, renamed over it."""
    new = path.with_suffix(".new")
    new.write_text("\n".join(lines) + "\n")
    start = time.monotonic()
    new.rename(path)
    return start


def policy(rules, groups=""):
    return ("system: {hostname: bench-gw}\ninterfaces:\n  - {name: near, addresses: [10.1.0.1/24]}\n  - {name: far, addresses: [10.2.0.1/24]}\n"
            f"policy:\n  default: drop\n  own-addresses: accept\n{groups}  rules:\n" + "".join(f"    - {{{r}}}\n" for r in rules))


@contextlib.contextmanager
def idle(names, folder, text):
    """A gateway with two interfaces that lead to two hosts."""
    with namespaces("near", "gw", "far", "hand", *names) as spaces:
        near, gw, far, hand = spaces[:4]
        wire(near, "e0", gw, "near")
        wire(far, "e0", gw, "far")
        netns.ip(near, "addr add 10.1.0.2/24 dev e0\nroute add default via 10.1.0.1\n")
        netns.ip(far, "addr add 10.2.0.2/24 dev e0\nroute add default via 10.2.0.1\n")
        with gateway(gw, folder, text) as running:
            yield running, near, far, hand


def quiet(gw):
    """No look is due any more because of what was done before."""
    def settled():
        return gw.status()["converged"] and not gw.plan()
    assert process.wait_until(settled, 30)


def set_text(lines):
    return "table inet hand\ndelete table inet hand\ntable inet hand {\n set big {\n  type ipv4_addr\n  flags interval\n  auto-merge\n  elements = {\n" \
        + ",\n".join(lines) + "\n  }\n }\n}\n"


# --- one large group --------------------------------------------------------------------------------------------------


def measure_group(runs):
    replaced, one_more = [], []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        path, text = pathlib.Path(folder) / "big.txt", pathlib.Path(folder) / "set.nft"
        lists = [prefixes(PREFIXES, seed) for seed in (1, 2)]
        put(path, lists[0])
        rule = "seq: 10, from: [big], to: [far], services: [tcp/443], action: accept"
        with idle((), folder, policy([rule], f"  groups: [{{name: big, file: {path}}}]\n")) as (gw, _, _, hand):
            classes, recent = (Kernel(gw.ns, "fairway_policy", n) for n in ("class4", "recent4"))
            for i in range(runs):
                lines = lists[1 - i % 2]
                # The last of the file, and nothing before: all of it is one transaction.
                lines = lines + [f"192.0.{2 * i}.0/24"]
                quiet(gw)
                start = put(path, lines)
                assert process.wait_until(lambda i=i: classes.has(f"192.0.{2 * i}.0"), 60, 0.002)
                ours = time.monotonic() - start
                text.write_text(set_text(lines))
                replaced.append((ours, timed("ip", "netns", "exec", hand, "nft", "-f", text)))
                quiet(gw)
                start = put(path, lines + [f"198.51.{2 * i}.0/24"])
                assert process.wait_until(lambda i=i: recent.has(f"198.51.{2 * i}.0"), 60, 0.0002)
                ours = time.monotonic() - start
                one_more.append((ours, timed("ip", "netns", "exec", hand, "nft", "add", "element", "inet", "hand", "big", f"{{ 198.51.{2 * i}.0/24 }}")))
            classes.close()
            recent.close()
    yield "policy-replace-100000", "s", ("max", 1.0), replaced
    yield "policy-one-more", "s", ("max", 0.05, 0.01), one_more


# --- counters ---------------------------------------------------------------------------------------------------------


def measure_counters(runs):
    """The whole command, with what it says of each rule, against a tool that only lists."""
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        path = pathlib.Path(folder) / "big.txt"
        put(path, prefixes(PREFIXES, 1))
        rules = [f"seq: {i + 1}, from: [big], to: [far], services: [tcp/{i + 1}], action: accept" for i in range(COUNTED_RULES)]
        with idle((), folder, policy(rules, f"  groups: [{{name: big, file: {path}}}]\n")) as (gw, _, _, _):
            quiet(gw)
            for _ in range(runs):
                start = time.monotonic()
                shown = gw.show("policy")
                ours = time.monotonic() - start
                assert len(shown["rules"]) == COUNTED_RULES
                pairs.append((ours, timed("ip", "netns", "exec", gw.ns, "nft", "list", "counters")))
    yield "policy-counters-1000", "s", ("max", 0.05), pairs


# --- many rules -------------------------------------------------------------------------------------------------------


def host(i):
    return f"10.{100 + (i >> 16)}.{i >> 8 & 255}.{i & 255}"


def many_rules(n, last):
    """Each of two hosts and a port of its own; what is measured matches the last one."""
    rules = [f"seq: {10 * (i + 1)}, from: [{host(i)}/32], to: [{host(i + n)}/32], services: [udp/{1024 + i % 60000}], action: accept" for i in range(n - 1)]
    return rules + [f"seq: {10 * n}, {last}"]


FLOW = ("10.2.0.2", 9000)
MEASURED = "from: [10.1.0.0/24], to: [10.2.0.0/24], services: [udp/9000], action: accept"


def linear_rules(n):
    lines = [f"ip saddr {host(i)} ip daddr {host(i + n)} udp dport {1024 + i % 60000} accept" for i in range(n - 1)]
    lines.append("ip saddr 10.1.0.0/24 ip daddr 10.2.0.0/24 udp dport 9000 accept")
    return ("table inet linear\ndelete table inet linear\ntable inet linear {\n chain forward {\n  type filter hook forward priority 0; policy drop;\n"
            "  ct state established,related accept\n  " + "\n  ".join(lines) + "\n }\n}\n")


def measure_one_rule(runs):
    """One rule among 10,000 becomes another and back; the baseline loads what such a policy is as nft text, all of it."""
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        rules = many_rules(RULES, MEASURED)
        files = [pathlib.Path(folder) / f"{i}.yaml" for i in range(2)]
        files[0].write_text(policy(rules))
        rules[RULES // 2] = rules[RULES // 2].replace("action: accept", "action: drop")
        files[1].write_text(policy(rules))
        with idle((), folder, policy([MEASURED.replace("from", "seq: 1, from", 1)])) as (gw, _, _, hand):
            run(*gw.command("apply", files[0]))
            whole = pathlib.Path(folder) / "all.nft"
            for i in range(runs):
                whole.write_text(run("ip", "netns", "exec", gw.ns, "nft", "list", "table", "inet", "fairway_policy"))
                ours = timed(*gw.command("apply", files[1 - i % 2]))
                pairs.append((ours, timed("ip", "netns", "exec", hand, "nft", "-f", whole)))
                run("ip", "netns", "exec", hand, "nft", "flush", "ruleset")
    yield "policy-one-rule-of-10000", "s", ("max", 0.3), pairs


# --- packets ----------------------------------------------------------------------------------------------------------


def measure_packets(runs):
    """Of one gateway, in turn: our policy, the same as linear rules, and none. What is not answered is new to the policy, packet by packet."""
    linear, none = [], []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        blast, ours, nothing = (pathlib.Path(folder) / n for n in ("udp_blast", "ours.yaml", "nothing.yaml"))
        run("gcc", "-O2", "-D_GNU_SOURCE", "-o", blast, ROOT / "tests/bench/udp_blast.c")
        ours.write_text(policy(many_rules(RULES, MEASURED)))
        nothing.write_text(policy([]).partition("policy:")[0])
        with idle((), folder, nothing.read_text()) as (gw, near, far, _):
            run("ip", "netns", "exec", near, "ping", "-c", "1", "-W", "2", "10.2.0.2")
            for _ in range(runs):
                without = kpps(near, far, blast, *FLOW, answered=True)
                netns.nft(gw.ns, linear_rules(RULES))
                slow = kpps(near, far, blast, *FLOW)
                netns.nft(gw.ns, "delete table inet linear\n")
                run(*gw.command("apply", ours))
                none.append((kpps(near, far, blast, *FLOW, answered=True), without))
                linear.append((kpps(near, far, blast, *FLOW), slow))
                run(*gw.command("apply", nothing))
    yield "policy-packets-linear", "kpps", ("min", 5), linear
    yield "policy-packets-none", "kpps", ("min", 0.7), none


ROWS = [Group(["policy-replace-100000", "policy-one-more"], measure_group), Group(["policy-counters-1000"], measure_counters),
        Group(["policy-one-rule-of-10000"], measure_one_rule), Group(["policy-packets-linear", "policy-packets-none"], measure_packets)]
