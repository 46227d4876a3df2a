# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies and configs of the tests, as Python values: two gateways with all kinds of segments, and variations of them.

    h1 --- gw1 ===== line-a, line-b (IPv4 and IPv6) ===== gw2 --- h2

| segment | VNI   | mode    | outer | interface of the hosts | subnets                     |
| lan     | 10010 | bridged | IPv4  | eth0                   | 10.99.1.0/24, fd00:99:1::   |
| net     | 10020 | routed  | IPv4  | eth1                   | 10.1.0.0/24 and 10.2.0.0/24 |
| lan6    | 10030 | bridged | IPv6  | eth2                   | 10.99.3.0/24, fd00:99:3::   |
| net6    | 10040 | routed  | IPv6  | eth3                   | 10.3.0.0/24 and 10.4.0.0/24 |

h1's number in each subnet is 11, h2's 21; the gateways' 1 (gw1) and 2 (gw2).
"""
import copy
import json

VTEP = {"gw1": ("10.255.0.1", "fd00:255::1"), "gw2": ("10.255.1.1", "fd00:255:1::1")}
BRIDGED = (("lan", 10010, "eth0", 1), ("lan6", 10030, "eth2", 3))
ROUTED = (("net", 10020, "eth1", 1, 2), ("net6", 10040, "eth3", 3, 4))


class Ends:
    """Two ends of a path: (node, interface, address) each."""

    def __init__(self, label, near, far):
        self.label, self.near, self.far = label, near, far

    def __repr__(self):
        return self.label

    @property
    def reverse(self):
        return Ends(self.label + "-reverse", self.far, self.near)

    @property
    def v6(self):
        return ":" in self.near[2]


def paths():
    """Every way from h1 to h2."""
    found = []
    for name, _, dev, n in BRIDGED:
        found.append(Ends(f"{name}-ipv4", ("h1", dev, f"10.99.{n}.11"), ("h2", dev, f"10.99.{n}.21")))
        found.append(Ends(f"{name}-ipv6", ("h1", dev, f"fd00:99:{n}::11"), ("h2", dev, f"fd00:99:{n}::21")))
    for name, _, dev, a, b in ROUTED:
        found.append(Ends(f"{name}-ipv4", ("h1", dev, f"10.{a}.0.11"), ("h2", dev, f"10.{b}.0.21")))
        found.append(Ends(f"{name}-ipv6", ("h1", dev, f"fd00:{a}::11"), ("h2", dev, f"fd00:{b}::21")))
    return found


def path(label):
    return next(p for p in paths() if p.label == label)


def line(name, me, number):
    peer = 3 - me
    return {
        "name": name, "interface": name,
        "address": f"172.31.{number}.{me}/30", "peer-address": f"172.31.{number}.{peer}",
        "address6": f"fd00:31:{number}::{me}/64", "peer-address6": f"fd00:31:{number}::{peer}",
    }


def gateway_config(name):
    """A config as a dict: to be changed by a test, then text() makes it a file."""
    me = int(name[-1])
    far = "gw2" if me == 1 else "gw1"
    racks = [(dev, pair[me - 1]) for _, _, dev, *pair in ROUTED]
    segments = [{"name": n, "vni": vni, "mode": "bridged", "members": [dev], "remotes": ["far6" if n.endswith("6") else "far"],
                 "gateway": [f"10.99.{net}.{me}/24", f"fd00:99:{net}::{me}/64"]} for n, vni, dev, net in BRIDGED]
    for n, vni, _, *pair in ROUTED:
        other = pair[2 - me]
        transit = vni // 10 % 100
        segments.append({
            "name": n, "vni": vni, "mode": "routed", "remotes": ["far6" if n.endswith("6") else "far"],
            "gateway": [f"10.254.{transit}.{me}/24", f"fd00:254:{transit}::{me}/64"],
            "routes": [{"prefix": f"10.{other}.0.0/24", "via": f"10.254.{transit}.{3 - me}"},
                       {"prefix": f"fd00:{other}::/64", "via": f"fd00:254:{transit}::{3 - me}"}]})
    return {
        "system": {"hostname": name},
        "interfaces": [{"name": dev, "addresses": [f"10.{net}.0.1/24", f"fd00:{net}::1/64"]} for dev, net in racks],
        "lines": [line("line-a", me, 1), line("line-b", me, 2)],
        "vtep": {"address": VTEP[name][0], "address6": VTEP[name][1]},
        "remotes": [{"name": "far", "vtep": VTEP[far][0], "lines": ["line-a", "line-b"]},
                    {"name": "far6", "vtep": VTEP[far][1], "lines": ["line-a", "line-b"]}],
        "segments": segments,
    }


def host(number):
    """h1 or h2."""
    me = number * 10 + 1
    addresses, routes = {}, []
    for _, _, dev, n in BRIDGED:
        addresses[dev] = [f"10.99.{n}.{me}/24", f"fd00:99:{n}::{me}/64"]
    for _, _, dev, *pair in ROUTED:
        mine, other = pair[number - 1], pair[2 - number]
        addresses[dev] = [f"10.{mine}.0.{me}/24", f"fd00:{mine}::{me}/64"]
        routes += [f"10.{other}.0.0/24 via 10.{mine}.0.1", f"fd00:{other}::/64 via fd00:{mine}::1"]
    return {"kind": "host", "addresses": addresses, "routes": routes}


def two_sites(label="pair"):
    links = [{"name": f"h{n}-{dev}", "ends": [f"h{n}:{dev}", f"gw{n}:{dev}"]} for n in (1, 2) for dev in ("eth0", "eth1", "eth2", "eth3")]
    links += [{"name": n, "ends": [f"gw1:{n}", f"gw2:{n}"]} for n in ("line-a", "line-b")]
    return {
        "name": label,
        "nodes": {"h1": host(1), "h2": host(2),
                  "gw1": {"kind": "gateway", "config": gateway_config("gw1")},
                  "gw2": {"kind": "gateway", "config": gateway_config("gw2")}},
        "links": links,
    }


def text(config):
    """A config file. JSON is YAML, and has no surprises."""
    return json.dumps(config, indent=1) + "\n"


def changed(config, **sections):
    """A deep copy with some sections replaced."""
    return {**copy.deepcopy(config), **sections}


def segment(config, name):
    return next(s for s in config["segments"] if s["name"] == name)


def many_segments(n, first=20000, remotes=("far",)):
    """Bridged segments without members, as there are many in a data centre."""
    return [{"name": f"s{i}", "vni": i, "mode": "bridged", "remotes": list(remotes)} for i in range(first, first + n)]
