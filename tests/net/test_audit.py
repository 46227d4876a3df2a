# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of flows: each once, with the right names and counters, none missing without a word.

    left  --- 10.1.0.0/24, fd00:1::/64 --- gw --- line ali-a, 172.31.0.0/30 --- right (10.9.0.1 behind it)
    gpu1  --- 10.99.1.0/24, segment gpu ---+ +--- 10.20.0.0/24 --- collector
"""
import os
import signal
import socket
import stat
import subprocess
import time

import pytest
import yaml

import audit_record
import netns
import probe
import process
import topo

LINE = {"name": "ali-a", "interface": "wan", "address": "172.31.0.1/30", "peer-address": "172.31.0.2",
        "address6": "fd00:31::1/64", "peer-address6": "fd00:31::2"}


def config(directory, **audit):
    return {
        "system": {"hostname": "gw"},
        "interfaces": [{"name": "left", "addresses": ["10.1.0.1/24", "fd00:1::1/64"]}, {"name": "mgmt", "addresses": ["10.20.0.1/24"]}],
        "lines": [LINE],
        "vtep": {"address": "10.255.0.1"},
        "segments": [{"name": "gpu", "vni": 10010, "mode": "bridged", "members": ["eth0"], "gateway": ["10.99.1.1/24"]}],
        "routes": [{"prefix": "10.9.0.0/16", "via": "172.31.0.2"}],
        "audit": {"directory": str(directory), **audit},
    }


def text(directory, **audit):
    return yaml.safe_dump(config(directory, **audit), sort_keys=False)


def topology(directory):
    return {
        "name": "audit",
        "nodes": {
            "left": {"addresses": {"eth0": ["10.1.0.11/24", "fd00:1::11/64"]}, "routes": ["default via 10.1.0.1", "default via fd00:1::1"]},
            "right": {"addresses": {"eth0": ["172.31.0.2/30", "fd00:31::2/64"], "lo": ["10.9.0.1/32"]},
                      "routes": ["default via 172.31.0.1", "default via fd00:31::1"]},
            "gpu1": {"addresses": {"eth0": ["10.99.1.11/24"]}, "routes": ["default via 10.99.1.1"]},
            "collector": {"addresses": {"eth0": ["10.20.0.9/24"]}, "routes": ["default via 10.20.0.1"]},
            "gw": {"kind": "gateway", "config": text(directory)},
        },
        "links": [{"name": n, "ends": [f"{n}:eth0", f"gw:{there}"]}
                  for n, there in (("left", "left"), ("right", "wan"), ("gpu1", "eth0"), ("collector", "mgmt"))],
    }


class Site:
    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder
        self.gw = lab.gateways["gw"]
        self.left, self.right, self.gpu1, self.collector = (lab.ns(n) for n in ("left", "right", "gpu1", "collector"))
        self.n = 0
        self.record = None

    def fresh(self, **audit):
        """A record of its own for each test, with nothing of before alive."""
        if not self.gw.running():
            self.gw.boot()
        self.n += 1
        self.end_all()
        self.record = audit_record.Record(self.folder / str(self.n))
        self.gw.apply(text(self.record.folder, **audit))
        self.gw.wait_converged()
        assert process.wait_until(lambda: self.record.events("begin"), 5)
        self.settle()
        return self.record

    def end_all(self):
        assert process.wait_until(lambda: self.shown()["alive"] >= audit_record.conntrack_count(self.gw.ns), 30), self.shown()
        audit_record.flush_conntrack(self.gw.ns)
        assert process.wait_until(lambda: self.shown()["alive"] <= audit_record.conntrack_count(self.gw.ns), 30), self.shown()

    def settle(self):
        """All flows end, and their ends are in the record: a moment later than fairwayd knows."""
        self.end_all()
        shown = self.shown()
        assert process.wait_until(lambda: self.record.count("end") >= max(shown["ended"], self.record.count("start")), 10), shown

    def shown(self):
        return self.gw.show("audit")


@pytest.fixture(scope="module")
def site_lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    with topo.temporary(topology(folder / "first")) as lab:
        site = Site(lab, folder)
        for ns, address in ((site.left, "10.9.0.1"), (site.left, "fd00:31::2"), (site.gpu1, "10.9.0.1"), (site.collector, "10.20.0.1")):
            assert probe.ping(ns, address, timeout=10), address
        # Datagrams to ports that nobody listens on are not answered: a flow of the burst is one packet.
        for ns in (site.right, site.collector):
            netns.nft(ns, "table inet quiet {\n chain out {\n type filter hook output priority 0;\n icmp type destination-unreachable drop\n}\n}\n")
        yield site


@pytest.fixture
def site(site_lab):
    yield site_lab
    if site_lab.gw.running():
        os.kill(site_lab.gw.who["pid"], signal.SIGCONT)


# --- each flow once ---------------------------------------------------------------------------------------------------


CASES = [
    ("left", "right", "10.9.0.1", {"from_interface": "left", "to_line": "ali-a"}),
    ("left", "right", "fd00:31::2", {"from_interface": "left", "to_line": "ali-a"}),
    ("left", "gpu1", "10.99.1.11", {"from_interface": "left", "to_segment": "gpu"}),
    ("gpu1", "right", "10.9.0.1", {"from_segment": "gpu", "to_line": "ali-a"}),
    ("right", "gpu1", "10.99.1.11", {"from_line": "ali-a", "to_segment": "gpu"}),
    ("left", "gw", "10.1.0.1", {"from_interface": "left"}),
    ("gw", "right", "10.9.0.1", {"to_line": "ali-a"}),
]


def ns_of(site, name):
    return site.gw.ns if name == "gw" else getattr(site, name)


def test_udp_flows_are_recorded_once_with_their_counters(site):
    record = site.fresh()
    made = []
    for i, (client, server, address, names) in enumerate(CASES):
        made.append((names, audit_record.udp_flow(ns_of(site, client), ns_of(site, server), address, 5000 + i, 3 + i, i), 5000 + i))
    site.settle()
    assert len([r for r in record.events("start", "end", proto="udp") if r["to-port"] >= 5000]) == 2 * len(CASES)
    for names, (there, back, source), port in made:
        start, = record.events("start", to_port=port, from_port=source, **names)
        end, = record.events("end", to_port=port, from_port=source, **names)
        assert (end["packets"], end["bytes"]) == there and (end["reply-packets"], end["reply-bytes"]) == back, end
        assert start["id"] == end["id"] and end["start"] <= start["time"] < end["time"] and end["proto"] == "udp"
        assert 0 < end["duration"] < 30
    shown = site.shown()
    assert (shown["missing"], shown["overruns"], shown["malformed"], shown["lines-lost"]) == (0, 0, 0, 0)


def test_tcp_and_icmp(site):
    record = site.fresh()
    probe.transfer((site.left, "10.1.0.11"), (site.right, "10.9.0.1"), 300_000)
    probe.transfer((site.left, "fd00:1::11"), (site.right, "fd00:31::2"), 300_000)
    for ns, to in ((site.gpu1, "10.9.0.1"), (site.left, "fd00:31::2"), (site.left, "10.1.0.1")):
        netns.run("ping", "-c", "3", "-i", "0.05", to, ns=ns)
    site.settle()
    for source, to in (("10.1.0.11", "10.9.0.1"), ("fd00:1::11", "fd00:31::2")):
        end, = record.events("end", proto="tcp", from_=source, to=to)
        assert max(end["bytes"], end["reply-bytes"]) > 300_000 and min(end["packets"], end["reply-packets"]) > 3
    for proto, to, size in (("icmp", "10.9.0.1", 84), ("icmpv6", "fd00:31::2", 104), ("icmp", "10.1.0.1", 84)):
        end, = record.events("end", proto=proto, to=to, **({"from_": "10.1.0.11"} if to == "10.1.0.1" else {}))
        assert [end[k] for k in ("packets", "bytes", "reply-packets", "reply-bytes")] == [3, 3 * size, 3, 3 * size]
        assert (end["icmp-type"], end["icmp-code"]) == ((8, 0) if proto == "icmp" else (128, 0))


def test_address_translation_shows_both_sides(site):
    record = site.fresh()
    netns.nft(site.gw.ns, "table ip test_nat {\n chain post {\n type nat hook postrouting priority 100;\n oifname \"wan\" masquerade\n}\n}\n")
    try:
        audit_record.udp_flow(site.left, site.right, "10.9.0.1", 5353, 2, 2)
        site.settle()
    finally:
        netns.nft(site.gw.ns, "delete table ip test_nat\n")
    end, = record.events("end", to_port=5353)
    assert (end["from"], end["to"], end["nat-from"], end["nat-to"]) == ("10.1.0.11", "10.9.0.1", "172.31.0.1", "10.9.0.1")


def test_the_interface_says_where_a_flow_is_from_and_not_its_address(site):
    record = site.fresh()
    netns.ip(site.left, "addr add 10.99.1.77/32 dev lo\n")  # the segment's, and behind another interface
    try:
        with probe.new_socket(site.left, "10.9.0.1", socket.SOCK_DGRAM) as s:
            s.bind(("10.99.1.77", 0))
            s.sendto(b"x", ("10.9.0.1", 5400))
        assert process.wait_until(lambda: record.events("start", to_port=5400), 5)
    finally:
        netns.ip(site.left, "addr del 10.99.1.77/32 dev lo\n")
    start, = record.events("start", to_port=5400)
    assert start["from"] == "10.99.1.77" and start["from-interface"] == "left" and "from-segment" not in start


def interface_counters(ns, name):
    with netns.inside(ns), open("/proc/net/dev", encoding="ascii") as f:
        fields = next(line for line in f if line.strip().startswith(f"{name}:")).split(":")[1].split()
    rx_bytes, rx_packets, tx_bytes, tx_packets = (int(fields[i]) for i in (0, 1, 8, 9))
    ethernet = 14
    return rx_packets, rx_bytes - ethernet * rx_packets, tx_packets, tx_bytes - ethernet * tx_packets


def test_totals_are_what_the_interface_counted(site):
    record = site.fresh()
    before = interface_counters(site.gw.ns, "left")
    for _ in range(4):
        probe.transfer((site.left, "10.1.0.11"), (site.right, "10.9.0.1"), 3_000_000)
        probe.transfer((site.right, "10.9.0.1"), (site.left, "10.1.0.11"), 2_000_000)
    audit_record.udp_flow(site.left, site.gpu1, "10.99.1.11", 5001, 100, 60, 1000)
    audit_record.udp_flow(site.gpu1, site.left, "10.1.0.11", 5002, 100, 60, 1000)
    after = interface_counters(site.gw.ns, "left")
    site.settle()
    come = [0, 0]
    gone = [0, 0]
    for end in record.events("end"):
        sent, replies = (end["packets"], end["bytes"]), (end["reply-packets"], end["reply-bytes"])
        into, out = (sent, replies) if end["from"] in ("10.1.0.11", "fd00:1::11") else (replies, sent)
        if "10.1.0.11" in (end["from"], end["to"]):
            come = [a + b for a, b in zip(come, into)]
            gone = [a + b for a, b in zip(gone, out)]
    for is_, was, recorded in zip(after, before, come + gone):
        assert recorded == pytest.approx(is_ - was, rel=0.01), (before, after, come, gone)
    top = {t["interface"]: t for t in site.gw.call("--json", "show", "top", "interface").stdout and
           yaml.safe_load(site.gw.call("--json", "show", "top", "interface").stdout)["top"]}
    assert top["left"]["bytes"] == pytest.approx(after[1] - before[1] + after[3] - before[3], rel=0.01)


BURST = "10.9.0.1"


# --- many, and more than can be read ----------------------------------------------------------------------------------


def all_accounted(site, record, n):
    """n flows have a start and an end each, or the record says how many are missing."""
    starts, ends = record.count("start", BURST), record.count("end", BURST)
    said = [r["missing"] for r in record.events("incomplete") if r["reason"] != "not running"]
    if not said:
        assert (starts, ends) == (n, n), site.shown()
    elif None not in said:
        assert starts == ends + sum(said) and n - starts <= sum(said), (starts, ends, said)


def test_forty_thousand_short_flows_in_two_seconds(site):
    record = site.fresh()
    start = time.monotonic()
    assert audit_record.burst(site.left, BURST, 40000, 1.9) == 40000
    assert time.monotonic() - start < 4
    assert process.wait_until(lambda: record.count("start", BURST) >= 40000, 10)
    site.settle()
    all_accounted(site, record, 40000)
    assert len({(r["id"], r["from-port"], r["to-port"]) for r in record.events("end", to=BURST)}) == 40000
    assert sum(r["bytes"] for r in record.events("end", to=BURST)) == 40000 * 29


def overrun(site, n):
    """Flows begin and end while nobody reads."""
    os.kill(site.gw.who["pid"], signal.SIGSTOP)
    try:
        assert audit_record.burst(site.left, BURST, n) == n
        audit_record.flush_conntrack(site.gw.ns)
    finally:
        os.kill(site.gw.who["pid"], signal.SIGCONT)
    assert process.wait_until(lambda: site.shown()["overruns"] > 0, 20)


def test_an_overrun_is_healed_and_nothing_is_missing(site):
    record = site.fresh(buffer="64KiB")
    before = site.shown()
    overrun(site, 20000)
    assert process.wait_until(lambda: record.count("end", BURST) == 20000 and record.events("overrun"), 30), \
        (record.count("end", BURST), site.shown())
    assert record.count("start", BURST) == 20000
    note = record.events("overrun")[0]
    assert note["missing"] == 0 and note["overruns"] >= 1
    assert not record.events("incomplete")
    assert site.shown()["dumps"] > before["dumps"]


def test_while_the_table_fills_up_forwarding_comes_first_and_the_record_says_so(site):
    record = site.fresh(buffer="64KiB")
    limit = int(netns.sysctl(site.gw.ns, "net/netfilter/nf_conntrack_max"))
    if limit > 300000:
        pytest.skip(f"nf_conntrack_max is {limit}: too many flows for a test")
    overrun(site, limit * 13 // 16)
    assert process.wait_until(lambda: [r for r in record.events("incomplete") if r["reason"] == "overrun"], 60), site.shown()
    note = record.events("incomplete")[0]
    assert note["missing"] is None and note["since"] < note["until"]
    assert process.wait_until(lambda: audit_record.conntrack_count(site.gw.ns) < 1000, 30), "ends that wait for nobody take no room"
    said = site.gw.call("show", "flows", "--port", "1")
    assert "the record is incomplete" in said.stderr and "not known" in said.stderr


def test_disk_use_is_bounded(site):
    record = site.fresh(**{"max-size": "1MiB", "max-files": 3})
    audit_record.burst(site.left, BURST, 30000)
    site_alive = process.wait_until(lambda: site.shown()["started"] > 0 and site.shown()["alive"] >= 30000, 10)
    assert site_alive
    audit_record.flush_conntrack(site.gw.ns)
    assert process.wait_until(lambda: site.shown()["alive"] == 0 and site.shown()["files"] > 10, 20), site.shown()
    assert len(record.files()) <= 3 and record.size() <= 3 << 20
    assert len(record.lines()) > 5000, "and what is there can be read"
    assert all(f.stat().st_size <= 1 << 20 for f in record.files())
    assert all(stat.S_IMODE(f.stat().st_mode) == 0o640 for f in record.files())


def test_a_commit_does_not_hold_up_the_record(site):
    record = site.fresh()
    cfg = config(record.folder)
    cfg["segments"] += [{"name": f"s{i}", "vni": 20000 + i, "mode": "bridged"} for i in range(400)]
    path = site.folder / "large.yaml"
    path.write_text(yaml.safe_dump(cfg))
    with subprocess.Popen(site.gw.command("apply", path), stdout=subprocess.DEVNULL) as apply:
        seen = sent = 0
        while apply.poll() is None:
            netns.run("ping", "-c", "1", "10.9.0.1", ns=site.left)
            sent += 1
            assert process.wait_until(lambda n=sent: record.count("start", "10.9.0.1") >= n, 2), (sent, record.count("start", "10.9.0.1"))
            seen += apply.poll() is None
    assert apply.returncode == 0 and seen > 0


# --- lives of fairwayd ------------------------------------------------------------------------------------------------


def test_a_restart_loses_no_flow_silently(site):
    record = site.fresh()
    with probe.udp_socket(site.right, "10.9.0.1", 6000) as server, probe.new_socket(site.left, "10.9.0.1", socket.SOCK_DGRAM) as client:
        server.settimeout(5)
        client.connect(("10.9.0.1", 6000))
        client.send(b"one")
        assert server.recv(100) == b"one"
        assert process.wait_until(lambda: record.events("start", to_port=6000), 5)
        site.gw.kill()
        client.send(b"two")
        assert server.recv(100) == b"two"
        audit_record.udp_flow(site.left, site.right, "10.9.0.1", 6001, 1, 1)  # begins while nobody listens
        site.gw.boot()
        assert process.wait_until(lambda: record.events("start", to_port=6001), 10)
        client.send(b"three")
        assert server.recv(100) == b"three"
        site.settle()
    start, = record.events("start", to_port=6000)
    end, = record.events("end", to_port=6000)
    assert end["packets"] == 3 and end["start"] <= start["time"] < end["time"] and start["id"] == end["id"]
    assert len(record.events("start", to_port=6001)) == len(record.events("end", to_port=6001)) == 1
    gap, = record.events("incomplete")
    assert gap["reason"] == "not running" and gap["missing"] is None and gap["since"] < gap["time"]


def test_what_was_alive_before_the_audit_is_recorded_too(site):
    site.fresh()
    site.gw.apply(yaml.safe_dump({k: v for k, v in config("/").items() if k != "audit"}, sort_keys=False))
    # Something else that needs connection tracking.
    netns.nft(site.gw.ns, "table inet test_ct {\n chain f {\n type filter hook forward priority 0;\n ct state new counter\n}\n}\n")
    try:
        audit_record.udp_flow(site.left, site.right, "10.9.0.1", 6100, 2, 2)
        site.n += 1
        site.record = record = audit_record.Record(site.folder / str(site.n))
        site.gw.apply(text(record.folder))
        assert process.wait_until(lambda: record.events("start", to_port=6100), 5)
        site.settle()
    finally:
        netns.nft(site.gw.ns, "delete table inet test_ct\n")
    assert len(record.events("end", to_port=6100)) == 1


def test_a_folder_that_cannot_be_written_is_trouble(site):
    site.fresh()
    blocked = site.folder / "blocked"
    blocked.write_text("a file")
    site.gw.apply(text(blocked))
    assert process.wait_until(lambda: any("the record cannot be written" in t for t in site.gw.status()["trouble"]), 5)
    audit_record.udp_flow(site.left, site.right, "10.9.0.1", 6200, 1, 1)
    blocked.unlink()
    record = audit_record.Record(blocked)
    assert process.wait_until(lambda: record.events("start", to_port=6200), 5), "what came meanwhile has waited"
    assert process.wait_until(lambda: not site.gw.status()["trouble"], 5)


# --- denied packets ---------------------------------------------------------------------------------------------------


def deny_table(*rules):
    body = "\n".join(rules)
    return f"table inet test_deny {{\n chain f {{\n type filter hook forward priority 0;\n{body}\n}}\n}}\n"


@pytest.fixture
def denying(site):
    netns.nft(site.gw.ns, deny_table('udp dport 7001 log prefix "fw:10" group 18020 drop', 'udp dport 7002 log prefix "fw:default" group 18020 drop',
                                     'udp dport 7003 log prefix "else" group 18020 drop'))
    yield site
    netns.nft(site.gw.ns, "delete table inet test_deny\n")


def send(ns, address, port, n=1, source=0):
    with probe.new_socket(ns, address, socket.SOCK_DGRAM) as s:
        s.bind(("::" if ":" in address else "0.0.0.0", source))
        for _ in range(n):
            s.sendto(b"x" * 72, (address, port))


def test_denied_packets(denying):
    site = denying
    record = site.fresh()
    send(site.left, "10.9.0.1", 7003)  # somebody else's log entry in our group
    send(site.left, "10.9.0.1", 7001, source=1234)
    send(site.gpu1, "10.9.0.1", 7002)
    send(site.left, "fd00:31::2", 7002)
    assert process.wait_until(lambda: record.count("deny") == 3, 5)
    rule, = record.events("deny", to_port=7001)
    assert {k: rule[k] for k in ("verdict", "rule", "from", "from-port", "to", "proto", "from-interface", "to-line", "bytes")} == \
        {"verdict": "rule", "rule": 10, "from": "10.1.0.11", "from-port": 1234, "to": "10.9.0.1", "proto": "udp",
         "from-interface": "left", "to-line": "ali-a", "bytes": 100}
    assert len(record.events("deny", verdict="default", from_segment="gpu")) == 1
    assert len(record.events("deny", verdict="default", from_="fd00:1::11", bytes=120)) == 1
    shown = site.gw.call("show", "denies", "--rule", "10")
    assert shown.returncode == 0 and shown.stdout.count("10.1.0.11") == 1 and not shown.stderr


def test_more_denied_packets_than_are_recorded_are_counted(denying):
    site = denying
    record = site.fresh(**{"denies-per-second": 10})
    before = site.shown()["denied"]
    send(site.left, "10.9.0.1", 7001, n=500)
    assert process.wait_until(lambda: sum(r["denied"] for r in record.events("omitted")) + record.count("deny") == 500, 10), \
        (record.events("omitted"), record.count("deny"), site.shown())
    assert 1 <= record.count("deny") <= 50
    assert site.shown()["denied"] == before + 500
    top = yaml.safe_load(site.gw.call("--json", "show", "top", "from").stdout)
    assert sum(t["denied"] for t in top["top"]) + top["omitted"] == 500


# --- other sinks, and the command -------------------------------------------------------------------------------------


def nfacctd(site, folder):
    """Debian's pmacct, as the collector: it writes what it received as JSON every second."""
    out = folder / "nfacctd.json"
    conf = folder / "nfacctd.conf"
    conf.write_text(f"""daemonize: false
nfacctd_ip: 10.20.0.9
nfacctd_port: 4739
pidfile: {folder}/nfacctd.pid
plugins: print[out]
aggregate[out]: src_host, dst_host, src_port, dst_port, proto
print_output[out]: json
print_output_file[out]: {out}
print_output_file_append[out]: true
print_refresh_time[out]: 1
print_history[out]: 1m
""")
    with netns.inside(site.collector):
        return subprocess.Popen(["nfacctd", "-f", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True), out


def received(out):
    if not out.exists():
        return []
    return [yaml.safe_load(line) for line in out.read_text().splitlines() if line.startswith("{")]


def test_a_collector_receives_ipfix(site, tmp_path):
    daemon, out = nfacctd(site, tmp_path)
    try:
        assert process.wait_until(lambda: ":4739 " in netns.run("cat", "/proc/net/udp", ns=site.collector).stdout.replace(":1283 ", ":4739 "), 10)
        record = site.fresh(ipfix={"collector": "10.20.0.9", "source": "10.20.0.1", "domain": 7})
        made = [audit_record.udp_flow(site.left, site.right, "10.9.0.1", 8001, 7, 3),
                audit_record.udp_flow(site.left, site.right, "fd00:31::2", 8002, 5, 4)]
        site.settle()
        ports = [m[2] for m in made]

        def rows(**wanted):
            return [r for r in received(out) if all(r[k] == v for k, v in wanted.items())]

        for (there, back, source), address, port in zip(made, ("10.9.0.1", "fd00:31::2"), (8001, 8002)):
            for counted, ends in ((there, {"ip_dst": address, "port_src": source, "port_dst": port}),
                                  (back, {"ip_src": address, "port_src": port, "port_dst": source})):
                assert process.wait_until(lambda e=ends: rows(**e), 20), (ends, received(out), site.shown())
                row, = rows(**ends)
                assert (row["packets"], row["bytes"]) == counted and row["ip_proto"] == "udp"
        assert site.shown()["ipfix"] >= 4 and site.shown()["ipfix-lost"] == 0
        assert all(record.events("end", from_port=p) for p in ports)
    finally:
        process.stop_all(lambda: [p for p in netns.pids(site.collector)])
        daemon.wait()


def test_the_command_filters_and_reads_a_record_without_a_daemon(site):
    record = site.fresh()
    _, _, source = audit_record.udp_flow(site.left, site.right, "10.9.0.1", 9001, 2, 1)
    audit_record.udp_flow(site.left, site.gpu1, "10.99.1.11", 9002, 2, 1)
    live = yaml.safe_load(site.gw.call("--json", "show", "flows", "--live", "--port", "9001").stdout)["flows"]
    assert [(f["from-port"], f["packets"], f["to-line"]) for f in live] == [(source, 2, "ali-a")]
    site.settle()

    def ports(*args):
        done = site.gw.call("--json", "show", "flows", *args)
        assert done.returncode == 0, done.stderr
        return sorted(f["to-port"] for f in yaml.safe_load(done.stdout)["flows"] if f["to-port"] != 4739)  # the export of the test before

    assert ports() == [9001, 9002]
    assert ports("--line", "ali-a") == [9001] and ports("--segment", "gpu") == [9002]
    assert ports("--to", "10.99.0.0/16") == [9002] and ports("--from", "10.9.0.1") == []
    assert ports("--until", "10m") == [] and ports("--since", "2020-01-01") == [9001, 9002]
    assert ports("--port", source, "--proto", "udp") == [9001] and ports("--proto", "tcp", "--port", 9001) == []
    assert ports("--directory", record.folder) == [9001, 9002]
    assert site.gw.call("show", "flows", "--directory", "/nonexistent").returncode == 1
    assert site.gw.call("show", "flows", "--since", "soon").returncode == 2
    assert site.gw.call("show", "mtu", "--line", "ali-a").returncode == 2
    people = site.gw.call("show", "flows", "--line", "ali-a").stdout.splitlines()
    assert people[0].split()[:4] == ["TIME", "PROTO", "FROM", "TO"] and f"10.1.0.11:{source}" in people[1] and len(people) == 2
