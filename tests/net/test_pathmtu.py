# SPDX-License-Identifier: GPL-2.0-or-later
"""Path MTU: who sets DF is told what fits, who does not is delivered. Field cases 4 to 7.

The matrix: bridged and routed, IPv4 and IPv6 inside, IPv4 and IPv6 outside, over lines of 1500 and 9000 bytes and a line of 1500 with a
hidden hop of 1400; each in both directions. One hub, a site per kind of line; each cell has interfaces and addresses of its own, so
that nothing learned in one cell helps another.
"""
import itertools

import pytest

import kernel
import probe
import process
import sites
import topo

LINES = {"1500": 1, "9000": 2, "hidden1400": 3}
MODES = ("bridged", "routed")
OUTER = (4, 6)
HIDDEN = {"mtu": 1400, "addresses": ["172.31.3.6/32", "fd00:172:3::6/128"],
          "a": {"172.31.3.1": ["10.255.0.1"], "fd00:172:3::1": ["fd00:255::1"]},
          "b": {"172.31.3.2": ["10.255.3.1"], "fd00:172:3::2": ["fd00:255:3::1"]}}


def host_mtu(line):
    return 9000 if line == "9000" else 1500


class Cell:
    """One segment between the hub and the site of a line."""

    def __init__(self, line, outer, mode):
        self.line, self.outer, self.mode = line, outer, mode
        self.site = LINES[line]
        self.number = self.site * 10 + OUTER.index(outer) * 2 + MODES.index(mode)  # 10 .. 33
        self.name = f"s{self.number}"
        self.vni = 10000 + self.number
        self.interface = f"e{self.number}"  # of the hosts, and of the gateways towards them

    def subnets(self, end):
        """(IPv4, IPv6) prefixes without the host's number; the hub's end is 0."""
        end = end if self.mode == "routed" else 0
        return f"10.{self.number}.{end}.", f"fd00:{self.number}:{end}::"

    def hosts(self, inner):
        """sites.Ends of the hub's host and the site's."""
        i = 0 if inner == 4 else 1
        return sites.Ends(f"{self.mode}-inner{inner}-outer{self.outer}-{self.line}",
                          ("h0", self.interface, self.subnets(0)[i] + "11"), (f"h{self.site}", self.interface, self.subnets(1)[i] + "21"))

    def segment(self, end, remote):
        spec = {"name": self.name, "vni": self.vni, "mode": self.mode, "remotes": [f"{remote}v{self.outer}"]}
        if self.mode == "bridged":
            return {**spec, "members": [self.interface], "mtu": host_mtu(self.line) if self.line == "9000" else "auto"}
        far = 1 - end
        far4, far6 = self.subnets(far)
        transit4, transit6 = f"10.254.{self.number}.", f"fd00:254:{self.number}::"
        return {**spec, "gateway": [f"{transit4}{end + 1}/24", f"{transit6}{end + 1}/64"],
                "routes": [{"prefix": f"{far4}0/24", "via": f"{transit4}{far + 1}"}, {"prefix": f"{far6}/64", "via": f"{transit6}{far + 1}"}]}

    def gateway_interface(self, end):
        return {"name": self.interface, "mtu": host_mtu(self.line), "addresses": [f"{p}1/{n}" for p, n in zip(self.subnets(end), (24, 64))]}

    def host_routes(self, end):
        if self.mode == "bridged":
            return []
        (mine4, mine6), (far4, far6) = self.subnets(end), self.subnets(1 - end)
        return [f"{far4}0/24 via {mine4}1", f"{far6}/64 via {mine6}1"]

    def inner_mtu(self):
        underlay = {"1500": 1500, "9000": 9000, "hidden1400": 1400}[self.line]
        return underlay - (50 if self.outer == 4 else 70)


CELLS = [Cell(*c) for c in itertools.product(LINES, OUTER, MODES)]
ALL = [(c, inner) for c in CELLS for inner in (4, 6)]
IDS = [str(c.hosts(inner)) for c, inner in ALL]


def vteps(site):
    return (f"10.255.{site}.1", f"fd00:255:{site}::1" if site else "fd00:255::1")


def line_config(line, me):
    n = LINES[line]
    return {"name": f"l{n}", "interface": f"l{n}", "mtu": host_mtu(line), "address": f"172.31.{n}.{me}/29", "peer-address": f"172.31.{n}.{3 - me}",
            "address6": f"fd00:172:{n}::{me}/64", "peer-address6": f"fd00:172:{n}::{3 - me}"}


def config(hostname, site, lines, cells):
    """Of the hub (site 0) or a site."""
    end = 0 if site == 0 else 1
    far = [LINES[line] for line in lines] if site == 0 else [0]
    remotes = [{"name": f"r{f}v{v}", "vtep": vteps(f)[v == 6], "lines": [f"l{f or site}"]} for f in far for v in OUTER]
    return {
        "system": {"hostname": hostname},
        "interfaces": [c.gateway_interface(end) for c in cells if c.mode == "routed"],
        "lines": [line_config(line, end + 1) for line in lines],
        "vtep": {"address": vteps(site)[0], "address6": vteps(site)[1]},
        "remotes": remotes,
        "segments": [c.segment(end, f"r{c.site if site == 0 else 0}") for c in cells],
    }


def host(end, cells):
    number = "11" if end == 0 else "21"
    return {"addresses": {c.interface: [f"{p}{number}/{n}" for p, n in zip(c.subnets(end), (24, 64))] for c in cells},
            "routes": [r for c in cells for r in c.host_routes(end)]}


def topology(name="matrix", lines=tuple(LINES)):
    used = [c for c in CELLS if c.line in lines]
    nodes = {"h0": host(0, used), "gw0": {"kind": "gateway", "config": config("gw0", 0, lines, used)}}
    links = []
    for line in lines:
        n, cells = LINES[line], [c for c in used if c.line == line]
        nodes[f"h{n}"] = host(1, cells)
        nodes[f"gw{n}"] = {"kind": "gateway", "config": config(f"gw{n}", n, [line], cells)}
        links.append({"name": f"l{n}", "ends": [f"gw0:l{n}", f"gw{n}:l{n}"], "mtu": host_mtu(line), **({"hidden": HIDDEN} if n == 3 else {})})
        for c in cells:
            for a, b in (("h0", "gw0"), (f"h{n}", f"gw{n}")):
                links.append({"name": f"{a}-{c.name}", "ends": [f"{a}:{c.interface}", f"{b}:{c.interface}"], "mtu": host_mtu(line)})
    return {"name": name, "nodes": nodes, "links": links}


@pytest.fixture(scope="module")
def matrix():
    with topo.temporary(topology()) as lab:
        yield lab


def ends(lab, cell, inner):
    """(sender, receiver) for both directions."""
    p = cell.hosts(inner)
    a, b = (lab.ns(p.near[0]), p.near[2]), (lab.ns(p.far[0]), p.far[2])
    return (a, b), (b, a)


@pytest.mark.parametrize("cell, inner", ALL, ids=IDS)
def test_tcp_works_before_anybody_has_learned_anything(matrix, cell, inner):
    near, far = ends(matrix, cell, inner)[0]
    probe.transfer(near, far, 300_000, timeout=15)


@pytest.mark.parametrize("cell, inner", [(c, i) for c, i in ALL if c.line != "hidden1400"], ids=[i for i in IDS if "hidden" not in i])
def test_mss_follows_the_line(matrix, cell, inner):
    p = cell.hosts(inner)
    headers = 40 if inner == 4 else 60
    seen = probe.handshake(*((matrix.ns(e[0]), *e[1:]) for e in (p.near, p.far)))
    sent, fits = host_mtu(cell.line) - headers, cell.inner_mtu() - headers
    assert tuple(seen) == (sent, fits, sent, fits), seen


@pytest.mark.parametrize("cell, inner", ALL, ids=IDS)
def test_df_senders_learn_what_fits_in_both_directions(matrix, cell, inner):
    """case 6 and 7: UDP that is too big is told so, from either side, and what it is told fits; nobody lowers an MTU by hand"""
    for sender, receiver in ends(matrix, cell, inner):
        probe.forget_path_mtu(sender[0])
        seen = probe.path_mtu(sender, receiver, host_mtu(cell.line), timeout=10, until=cell.inner_mtu())
        assert (seen.told, seen.learned, seen.fits) == (cell.inner_mtu(), cell.inner_mtu(), True), seen


@pytest.mark.parametrize("cell, inner", ALL, ids=IDS)
def test_datagrams_without_df_arrive_in_both_directions(matrix, cell, inner):
    """IPv6 routers do not fragment: the sender learns with the first, and the next arrives; behind the hidden hop of an IPv6 line the
    gateway has to"""
    payload = 2000 if cell.line != "9000" else 12000
    first = inner == 4 and (cell.outer, cell.line) != (6, "hidden1400")
    for sender, receiver in ends(matrix, cell, inner):
        probe.forget_path_mtu(sender[0])
        assert probe.udp_arrives(sender, receiver, payload, attempts=1 if first else 6, timeout=3 if first else 6)


@pytest.mark.parametrize("cell, inner", [(c, i) for c, i in ALL if c.line == "9000"], ids=[i for i in IDS if "9000" in i])
def test_large_frames_cross_a_9000_byte_line_whole(matrix, cell, inner):
    (sender, receiver), _ = ends(matrix, cell, inner)
    probe.forget_path_mtu(sender[0])
    seen = probe.path_mtu(sender, receiver, cell.inner_mtu())
    assert seen.fits and seen.told is None and seen.tries == 1, seen


@pytest.mark.parametrize("inner", [4, 6])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("outer", OUTER)
def test_a_df_sender_is_the_first_to_meet_the_hidden_hop(outer, mode, inner):
    """from a cold start: nothing before it has taught host or gateway anything"""
    cell = next(c for c in CELLS if (c.line, c.outer, c.mode) == ("hidden1400", outer, mode))
    with topo.temporary(topology("cold", ("hidden1400",))) as lab:
        (sender, receiver), _ = ends(lab, cell, inner)
        seen = probe.path_mtu(sender, receiver, 1500, timeout=10, until=cell.inner_mtu())
    assert (seen.told, seen.learned, seen.fits) == (cell.inner_mtu(), cell.inner_mtu(), True), seen


def test_device_mtus_are_computed_and_opposite_for_bridged_and_routed(matrix):
    """case 4: whatever the creation style; case 5: by the actual outer family"""
    found = kernel.links(matrix.ns("gw0"))
    for c in CELLS:
        if c.mode == "bridged":
            assert found[f"vx{c.vni}"]["mtu"] == found[f"br{c.vni}"]["mtu"] == host_mtu(c.line), c.name
        elif c.line != "hidden1400":
            assert found[f"vx{c.vni}"]["mtu"] == c.inner_mtu(), c.name


def test_learned_hop_is_shown_and_followed_by_device_and_mss(matrix):
    """the line says 1500; after ICMP the gateway knows 1400, and new connections begin with an MSS that fits"""
    cell = next(c for c in CELLS if (c.line, c.outer, c.mode) == ("hidden1400", 4, "routed"))
    (sender, receiver), _ = ends(matrix, cell, 4)
    probe.forget_path_mtu(sender[0])
    probe.path_mtu(sender, receiver, 1500, timeout=10, until=1350)
    gw = matrix.gateways["gw0"]
    assert process.wait_until(lambda: kernel.links(gw.ns)[f"vx{cell.vni}"]["mtu"] == 1350, 5)
    assert "1400" in gw.call("show", "lines").stdout
    gw.wait_converged()
    assert not gw.plan()


def test_largest_udp_payload_is_shown(matrix):
    """case 7: a command shows it: 1500 - 50 - 20 - 8 and 1500 - 50 - 40 - 8"""
    cell = next(c for c in CELLS if (c.line, c.outer, c.mode) == ("1500", 4, "bridged"))
    text = matrix.gateways["gw0"].call("show", "mtu").stdout
    block = text.partition(f"{cell.name}\n")[2].partition("\ns")[0]
    assert "udp-payload" in block and "ipv4=1422 ipv6=1402" in block, text


def test_an_mtu_that_cannot_fit_is_refused_with_the_arithmetic(matrix):
    """case 4: a configured MTU"""
    gw = matrix.gateways["gw0"]
    cell = next(c for c in CELLS if (c.line, c.outer, c.mode) == ("1500", 6, "routed"))
    wrong = config("gw0", 0, LINES, CELLS)
    sites.segment(wrong, cell.name)["mtu"] = 1450
    before = kernel.snapshot(gw.ns)
    done = gw.apply(sites.text(wrong), expect=1)
    assert "1430" in done.stderr and "40" in done.stderr, done.stderr
    assert not kernel.difference(before, kernel.snapshot(gw.ns))


@pytest.fixture(scope="module")
def silent_hop(matrix):
    """The hub is told that its 1500-byte line carries 1400, of which no ICMP tells."""
    gw = matrix.gateways["gw0"]
    smaller = config("gw0", 0, LINES, CELLS)
    smaller["lines"][0]["path-mtu"] = 1400
    gw.apply(sites.text(smaller))
    yield matrix
    gw.apply(sites.text(config("gw0", 0, LINES, CELLS)))


@pytest.mark.parametrize("cell, inner", [(c, i) for c, i in ALL if c.line == "1500"], ids=[i for i in IDS if i.endswith("1500")])
def test_a_hop_that_filters_icmp_is_configured_by_path_mtu(silent_hop, cell, inner):
    """path-mtu on the line: the gateway answers by itself"""
    (sender, receiver), _ = ends(silent_hop, cell, inner)
    probe.forget_path_mtu(sender[0])
    fits = cell.inner_mtu() - 100
    seen = probe.path_mtu(sender, receiver, 1500, timeout=3, until=fits)
    assert (seen.told, seen.learned, seen.fits) == (fits, fits, True), seen
