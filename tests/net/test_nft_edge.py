# SPDX-License-Identifier: GPL-2.0-or-later
"""The nft edge on the real kernel: load, read back, every kind of drift, strangers' tables, events; and packets through tables of
the same shape as the guard's and the clamp's. nft_selftest.c is the other half: it makes the model, these tests disturb it."""
import json
import os
import re
import struct
import subprocess
import time

import pytest

import gateway
import netns
import probe

SELFTEST = gateway.BUILD / "tests/net/nft_selftest"
SEGMENTS, MSS = 2, 1410
NOTHING = "nothing to do\n"

# The last has a comment as Fairway would give it, but not a name of ours.
STRANGER = """
table inet strangers {
    comment "not ours"
    set s {
        type ifname
        counter
        elements = { "vx10001" }
    }
    chain c {
        type filter hook input priority 0; policy accept;
        udp dport 4789 counter accept comment "fw:0123456789abcdef"
    }
}
table ip fair {
    chain c {
        tcp dport 22 accept
    }
}
table inet marked {
    comment "fw:8a0371aa308b0a19"
}
"""


@pytest.fixture
def ns():
    name = f"fwnft{os.getpid()}"
    netns.delete(name)
    netns.create(name)
    yield name
    netns.delete(name)


def selftest(ns, *args, check=True):
    return netns.run(SELFTEST, *args, ns=ns, check=check)


def plan(ns, segments=SEGMENTS, mss=MSS):
    return selftest(ns, "plan", segments, mss).stdout


def apply(ns, segments=SEGMENTS, mss=MSS):
    return selftest(ns, "apply", segments, mss).stdout


def listing(ns, *what):
    return json.loads(netns.run("nft", "-j", "list", *what, ns=ns).stdout)["nftables"][1:]


def handle(ns, family, table, chain, index):
    rules = [o["rule"] for o in listing(ns, "chain", family, table, chain) if "rule" in o]
    return rules[index]["handle"]


def element_packets(ns, family, table, name):
    (found,) = [o["set"] for o in listing(ns, "set", family, table, name) if "set" in o]
    return {e["elem"]["val"]: e["elem"]["counter"]["packets"] for e in found.get("elem", [])}


# --- load and read back -----------------------------------------------------------------------------------------------


def test_load_and_converge(ns):
    assert plan(ns).count("create") == 3
    apply(ns)
    assert plan(ns) == NOTHING
    assert apply(ns) == NOTHING
    selftest(ns, "down")
    assert listing(ns, "ruleset") == []


@pytest.mark.parametrize("segments", [1, 300])
def test_keys_are_the_kernels(ns, segments):
    """IPv4 and IPv6 with a 24-bit VNI, interface names up to 15 characters: wanted and observed are the same bytes."""
    apply(ns, segments)
    out = selftest(ns, "keys", segments, MSS).stdout
    # Per segment two sources and two devices; one IPv6 source, and the long name in both clamp tables.
    assert out == f"{4 * segments + 3} keys, 0 differ\n"


def test_commands_are_valid_nft(ns):
    text = selftest(ns, "text", SEGMENTS, MSS).stdout
    netns.run("nft", "-c", "-f", "-", ns=ns, stdin=text)
    netns.nft(ns, text)
    assert plan(ns) == NOTHING


# --- drift ------------------------------------------------------------------------------------------------------------

G, M = "inet fairway_guard", "bridge fairway_mss"

DRIFT = {
    "table deleted": (f"delete table {G}", "table inet fairway_guard: create"),
    "ruleset flushed": ("flush ruleset", "table bridge fairway_mss: create"),
    "table flushed": (f"flush table {G}", "the rules of chain input differ"),
    "table dormant": (f"add table {M} {{ flags dormant; }}", "it is dormant"),
    "chain flushed": (f"flush chain {M} forward", "the rules of chain forward differ"),
    "chain deleted": (f"flush chain {M} forward\ndelete chain {M} forward", "chain forward is missing"),
    "chain made anew": (f"flush chain {G} input\ndelete chain {G} input\n"
                        f"add chain {G} input {{ type filter hook prerouting priority -10; }}", "chain input is another"),
    "policy changed": (f"chain {G} input {{ policy drop; }}", "the policy of chain input is drop"),
    "chain added": (f"add chain {G} more", "it has more sets, chains or counters"),
    "set added": (f"add set {G} more {{ type ifname; }}", "it has more sets, chains or counters"),
    "set made anew": (f"flush chain {G} input\ndelete set {G} sources4\nadd set {G} sources4 {{ typeof ip saddr . @th,96,24; }}",
                      "set sources4 is another"),
    "rule appended": (f"add rule {G} input counter", "the rules of chain input differ"),
    "rule put in front": (f"insert rule {G} input udp dport 4789 accept", "the rules of chain input differ"),
    "element added": (f"add element {G} sources4 {{ 192.0.2.1 . 16777215 }}", "remove 192.0.2.1 . 16777215"),
    "IPv6 element added": (f"add element {G} sources6 {{ 2001:db8::9 . 7 }}", "remove 2001:db8::9 . 7"),
    "interface added": (f'add element {M} in_1410 {{ "ABCDEFGHIJKLMNO" }}', 'remove "ABCDEFGHIJKLMNO"'),
    "element removed": (f"delete element {G} sources4 {{ 10.255.1.1 . 10001 }}", "add 10.255.1.1 . 10001"),
    "IPv6 element removed": (f"delete element {G} sources6 {{ fd00:255::1:1 . 10001 }}", "add fd00:255::1:1 . 10001"),
    "set flushed": (f"flush set {M} in_1410", 'add "vx10001", "vx10002"'),
}


@pytest.mark.parametrize("kind", DRIFT)
def test_drift(ns, kind):
    commands, said = DRIFT[kind]
    apply(ns)
    before = without_handles(listing(ns, "ruleset"))
    netns.nft(ns, commands)
    assert without_handles(listing(ns, "ruleset")) != before
    assert said in plan(ns)
    apply(ns)
    assert plan(ns) == NOTHING
    assert without_handles(listing(ns, "ruleset")) == before


@pytest.mark.parametrize("text", ["counter", 'udp dport 4789 accept comment "mine"'])
def test_drift_rule_replaced(ns, text):
    apply(ns)
    netns.nft(ns, f"replace rule {G} input handle {handle(ns, 'inet', 'fairway_guard', 'input', 0)} {text}")
    assert "the rules of chain input differ" in plan(ns)
    apply(ns)
    assert plan(ns) == NOTHING


def test_drift_rule_deleted(ns):
    apply(ns)
    netns.nft(ns, f"delete rule {M} forward handle {handle(ns, 'bridge', 'fairway_mss', 'forward', 2)}")
    assert "the rules of chain forward differ" in plan(ns)
    apply(ns)
    assert plan(ns) == NOTHING


def without_handles(objects):
    """Comparable: no handles and no counts, and in an order of its own (the kernel's is that of creation)."""
    text = json.dumps(objects, sort_keys=True)
    text = re.sub(r'"handle": \d+|"packets": \d+|"bytes": \d+', '"": 0', text)
    return sorted(json.dumps(o) for o in json.loads(text))


# --- changes ----------------------------------------------------------------------------------------------------------


def test_change_of_elements_only(ns):
    """One more segment, then one less: elements come and go, no table is touched, counters of the others stay."""
    apply(ns)
    handles = [o["table"]["handle"] for o in listing(ns, "ruleset") if "table" in o]
    netns.nft(ns, f'delete element {M} in_1410 {{ "vx10001" }}\n'
                  f'add element {M} in_1410 {{ "vx10001" counter packets 7 bytes 700 }}')
    assert plan(ns) == NOTHING
    assert "add 10.255.1.1 . 10003, 10.255.2.1 . 10003" in apply(ns, SEGMENTS + 1)
    assert plan(ns, SEGMENTS + 1) == NOTHING
    assert element_packets(ns, "bridge", "fairway_mss", "in_1410") == {"vx10001": 7, "vx10002": 0, "vx10003": 0}
    assert "- the VXLAN sources: remove 10.255.1.1 . 10003, 10.255.2.1 . 10003" in apply(ns)
    assert plan(ns) == NOTHING
    assert [o["table"]["handle"] for o in listing(ns, "ruleset") if "table" in o] == handles


def test_change_of_the_clamp_moves_elements(ns):
    apply(ns)
    apply(ns, SEGMENTS, 1390)
    assert plan(ns, SEGMENTS, 1390) == NOTHING
    assert element_packets(ns, "bridge", "fairway_mss", "in_1410") == {}
    assert set(element_packets(ns, "bridge", "fairway_mss", "in_1390")) == {"vx10001", "vx10002", "abcdefghijklmno"}


def test_replaced_table_keeps_element_counters(ns):
    apply(ns)
    netns.nft(ns, f'delete element {M} in_1410 {{ "vx10001" }}\n'
                  f'add element {M} in_1410 {{ "vx10001" counter packets 7 bytes 700 }}\nflush chain {M} forward')
    assert "replace" in apply(ns)
    assert element_packets(ns, "bridge", "fairway_mss", "in_1410") == {"vx10001": 7, "vx10002": 0}


def test_refused_transaction_leaves_all_as_it_was(ns):
    apply(ns)
    before = listing(ns, "ruleset")
    out = selftest(ns, "refuse", SEGMENTS, MSS).stdout
    assert out.startswith("failed: table inet fairway_b: create (1 rule, 0 elements): nft: ")
    assert len(out.strip().split("nft: ")[1]) > 10
    assert listing(ns, "ruleset") == before


def test_refused_elements_leave_all_as_it_was(ns):
    apply(ns)
    before = listing(ns, "ruleset")
    out = selftest(ns, "refuse-elems", SEGMENTS, MSS).stdout
    assert out == ("failed: the VXLAN sources: add 10.255.1.1 . 10003, 10.255.2.1 . 10003: "
                   "the kernel refused it: No such file or directory\n")
    assert listing(ns, "ruleset") == before
    assert plan(ns) == NOTHING


def test_more_elements_than_fit_in_a_message(ns):
    apply(ns, 1)
    apply(ns, 2500)
    assert plan(ns, 2500) == NOTHING
    apply(ns, 1)
    assert plan(ns, 1) == NOTHING


def test_look_while_others_make_changes(ns):
    """A dump that a change runs into is a mixture; it must never be taken for drift."""
    apply(ns, 1000)
    netns.nft(ns, "table ip strangers {\n set s {\n type mark\n }\n}\n")
    with netns.inside(ns):
        changes = subprocess.Popen(["nft", "-i"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        for i in range(30):
            changes.stdin.writelines(f"add element ip strangers s {{ {n} }}\n" for n in range(20 * i, 20 * i + 20))
            changes.stdin.flush()
            assert plan(ns, 1000) == NOTHING
    finally:
        changes.kill()
        changes.wait()
    assert len(listing(ns, "set", "ip", "strangers", "s")[0]["set"]["elem"]) > 20


def test_elements_beside_a_strangers_large_set(ns):
    """What other people have in their tables does not slow an element down."""
    addresses = ",".join(f"10.{i >> 16}.{i >> 8 & 255}.{i & 254}" for i in range(0, 60000, 2))
    netns.nft(ns, f"table ip strangers {{\n set s {{\n type ipv4_addr\n flags interval\n elements = {{ {addresses} }}\n }}\n"
                  " set other {\n type mark\n }\n}\n")
    by_nft = best_of_three("nft", "add element ip strangers other { 1 }", ns=ns)
    best = bench(ns, 10)
    assert best["one-more apply"] <= 0.1 * by_nft, (best, by_nft)


# --- strangers --------------------------------------------------------------------------------------------------------


def test_strangers_are_untouched(ns):
    netns.nft(ns, STRANGER)

    def strangers():
        return listing(ns, "table", "inet", "strangers") + listing(ns, "table", "ip", "fair") + listing(ns, "table", "inet", "marked")
    before = strangers()
    apply(ns)
    assert strangers() == before
    for segments, mss in ((SEGMENTS + 1, MSS), (1, 1390)):
        apply(ns, segments, mss)
        assert plan(ns, segments, mss) == NOTHING
        assert strangers() == before
    netns.nft(ns, f"flush table {G}")
    apply(ns)
    selftest(ns, "down")
    assert strangers() == before


def test_a_strangers_table_of_our_name_is_a_conflict(ns):
    netns.nft(ns, 'table inet fairway_guard {\n comment "mine"\n chain input {\n }\n}\ntable inet fairway_else {\n}\n')
    before = listing(ns, "ruleset")
    out = selftest(ns, "apply", SEGMENTS, MSS, check=False)
    assert out.returncode == 1
    assert "! table inet fairway_guard: there is a table of this name that Fairway did not make" in out.stdout
    assert listing(ns, "ruleset") == before
    assert selftest(ns, "down").stdout == NOTHING
    assert listing(ns, "ruleset") == before


# --- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commands, said", [
    (f"flush table {G}", "ours"),
    ("flush ruleset", "ours"),
    (f"add element {G} sources4 {{ 192.0.2.1 . 1 }}", "ours"),
    ("add table inet strangers", "other"),
    ("add table inet fair", "other"),
])
def test_events(ns, commands, said):
    apply(ns)
    with netns.inside(ns):
        watch = subprocess.Popen([SELFTEST, "watch", "5000"], stdout=subprocess.PIPE, text=True)
    with watch:
        assert watch.stdout.readline() == "ready\n"
        netns.nft(ns, commands)
        assert watch.stdout.readline() == f"{said}\n"


# --- packets ----------------------------------------------------------------------------------------------------------

VNI_KNOWN, VNI_UNKNOWN = 10001, 10050


@pytest.fixture
def guarded(ns):
    """A sender with many addresses, and a gateway with a VXLAN device for a known and for an unknown VNI."""
    far = f"{ns}far"
    netns.delete(far)
    netns.create(far)
    netns.ip(ns, f"link add up0 type veth peer name down0 netns {far}\nlink set up0 up\n"
                 "addr add 10.255.0.9/16 dev up0\naddr add fd00:255::9/64 dev up0 nodad\n")
    netns.ip(far, "link set down0 up\naddr add fd00:255::1:1/64 dev down0 nodad\naddr add fd00:255::1:2/64 dev down0 nodad\n"
                  + "".join(f"addr add 10.255.{n}.1/16 dev down0\n" for n in (1, 2, 3)))
    for name, local in (("vx", "10.255.0.9"), ("vy", "fd00:255::9")):
        netns.ip(ns, "".join(f"link add {name}{vni} type vxlan id {vni} local {local} dstport 4789\nlink set {name}{vni} up\n"
                             for vni in (VNI_KNOWN, VNI_UNKNOWN)))
    yield ns, far
    netns.delete(far)


def send_vxlan(far, source, to, vni, marker):
    """One VXLAN packet; its frame carries the marker."""
    frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01" + struct.pack("!H", probe.ETH_P_TEST) + marker.encode().ljust(46, b"\0")
    with probe.udp_socket(far, source) as s:
        s.sendto(struct.pack("!II", 0x08000000, vni << 8) + frame, (to, 4789))


def arrived(captures):
    return {f.data[14:].rstrip(b"\0").decode() for c in captures for f in c.frames(0.2) if f.ethertype == probe.ETH_P_TEST}


@pytest.mark.parametrize("device, to, known, unknown", [
    ("vx", "10.255.0.9", "10.255.1.1", "10.255.3.1"),
    ("vy", "fd00:255::9", "fd00:255::1:1", "fd00:255::1:2"),
])
def test_guard(guarded, device, to, known, unknown):
    ns, far = guarded

    def send_all():
        with probe.Capture(ns, f"{device}{VNI_KNOWN}") as a, probe.Capture(ns, f"{device}{VNI_UNKNOWN}") as b:
            send_vxlan(far, unknown, to, VNI_KNOWN, "spoofed")
            send_vxlan(far, known, to, VNI_UNKNOWN, "other VNI")
            send_vxlan(far, unknown, to, VNI_UNKNOWN, "both")
            send_vxlan(far, known, to, VNI_KNOWN, "right")  # the last: when it has come, the others would have
            return arrived([a, b])

    assert send_all() == {"spoofed", "other VNI", "both", "right"}
    apply(ns)
    assert send_all() == {"right"}
    counted = [o["rule"]["expr"] for o in listing(ns, "chain", "inet", "fairway_guard", "input") if "rule" in o]
    assert sum(e["counter"]["packets"] for expr in counted for e in expr if "counter" in e) == 3


@pytest.fixture
def bridged(ns):
    """Two hosts with a bridge between them; the port of the second is called like a VXLAN device of ours."""
    hosts = [f"{ns}h{n}" for n in (1, 2)]
    netns.ip(ns, "link add br0 type bridge\nlink set br0 up\n")
    for n, (host, port) in enumerate(zip(hosts, ("port1", "vx10001")), 1):
        netns.delete(host)
        netns.create(host)
        netns.ip(ns, f"link add {port} type veth peer name e0 netns {host}\nlink set {port} master br0 up\n")
        netns.ip(host, f"link set e0 up\naddr add 10.1.0.{n}/24 dev e0\naddr add fd00:1::{n}/64 dev e0 nodad\n")
    yield ns, hosts
    for host in hosts:
        netns.delete(host)


@pytest.mark.parametrize("net, host_mss", [("10.1.0.", 1460), ("fd00:1::", 1440)])
def test_clamp(bridged, net, host_mss):
    """Both directions, never raised; each clamped packet is counted once, for its interface."""
    ns, hosts = bridged
    ends = [(host, "e0", f"{net}{n}") for n, host in enumerate(hosts, 1)]
    assert list(probe.handshake(*ends)) == [host_mss] * 4
    apply(ns)
    assert list(probe.handshake(*ends)) == [host_mss, MSS, host_mss, MSS]
    assert list(probe.handshake(*ends, client_mss=1200)) == [1200, 1200, host_mss, MSS]
    assert element_packets(ns, "bridge", "fairway_mss", "out_1410")["vx10001"] == 1
    assert element_packets(ns, "bridge", "fairway_mss", "in_1410")["vx10001"] == 2


# --- size -------------------------------------------------------------------------------------------------------------


def bench(ns, segments):
    """Milliseconds, best of three."""
    best = {}
    for _ in range(3):
        for line in selftest(ns, "bench", segments).stdout.splitlines():
            name, observe, done, _ = line.split()
            for key, value in ((f"{name} observe", observe), (f"{name} apply", done)):
                best[key] = min(best.get(key, 1e9), float(value.split("=")[1]))
    return best


def best_of_three(*argv, ns, stdin=None):
    times = []
    for _ in range(3):
        begin = time.monotonic()
        netns.run(*argv, ns=ns, stdin=stdin)
        times.append((time.monotonic() - begin) * 1e3)
    return min(times)


def test_a_thousand_segments(ns):
    """Against the nft command doing the same in the same minute; bounds that tell a change of kind on a busy machine."""
    text = selftest(ns, "text", 1000, MSS).stdout
    load = best_of_three("nft", "-f", "-", ns=ns, stdin=text)
    look = best_of_three("nft", "list", "ruleset", ns=ns)
    selftest(ns, "down")
    best = bench(ns, 1000)
    assert best["load apply"] <= 3 * load, (best, load)
    assert best["again observe"] <= 0.5 * look, (best, look)
    assert best["one-more apply"] <= 0.1 * load, (best, load)
    assert best["one-less apply"] <= 2 * load, (best, load)
