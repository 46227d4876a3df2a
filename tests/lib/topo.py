# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: whole topologies from one file. Namespaces, links, hosts, and a Fairway gateway in each gateway node.

    name: two-sites
    nodes:
      h1:   {kind: host, addresses: {eth0: [10.0.1.2/24]}, routes: ["10.0.0.0/8 via 10.0.1.1"]}
      gw1:  {kind: gateway, config: gw1.yaml}           # a file beside this one, or the config itself
      sw:   {kind: switch}                              # all its ports in one bridge
      r1:   {kind: router, addresses: {...}, routes: [...], sysctls: {net/ipv4/ip_forward: 1}}
      leaf: {kind: router, frr: {bgpd: "router bgp 65011 ..."}}    # or bird: its config, or gobgp: its config as a mapping
    links:
      - {name: h1-gw1, ends: ["h1:eth0", "gw1:eth2"], mtu: 1500, rate: 100mbit}
      - {name: line-a, ends: ["gw1:eth1", "gw2:eth1"], mtu: 1500}
      - name: line-b                                    # a smaller router that no gateway's config knows of
        ends: ["gw1:eth3", "gw2:eth3"]
        hidden: {mtu: 1400, addresses: [172.31.1.6], a: {172.31.1.1: [10.255.0.1]}, b: {172.31.1.2: [10.255.1.1]}}

The one idea: a link between two gateways (or routers) runs through a namespace of its own, the provider's. There it is shaped, cut, black-holed
or squeezed through a router, so that a gateway sees a failure as it would see the provider's, and nothing in the gateway's own
namespace (which fairwayd watches and repairs) has to be touched.
"""
import fcntl
import ipaddress
import json
import os
import pathlib
import re
import shutil
import signal

import yaml

import bird
import frr
import gateway
import gobgp
import netns
import process

PREFIX = "fwl-"
STATE_DIR = pathlib.Path("/run/fairway-lab")
KINDS = ("host", "router", "switch", "gateway")
MAX_IFNAME = 15
PORTS = ("port-a", "port-b")  # a provider's, towards the ends of a link
SPEAKERS = {"frr": frr.Frr, "bird": bird.Bird, "gobgp": gobgp.GoBgp}  # what a router may run


class TopologyError(ValueError):
    """The topology file is wrong; the message says where."""


class LabError(RuntimeError):
    """The lab cannot do what was asked."""


# --- the file ---------------------------------------------------------------------------------------------------------


def _known(what, mapping, keys):
    if not isinstance(mapping, dict):
        raise TopologyError(f"{what}: a mapping is expected")
    for key in mapping:
        if key not in keys:
            raise TopologyError(f"{what}: unknown key {key!r}; known: {', '.join(keys)}")


def _name(what, name):
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", name):
        raise TopologyError(f"{what}: {name!r} is no name: a-z, 0-9 and '-', at most 32")
    return name


class Node:
    def __init__(self, name, spec, folder):
        what = f"node {name}"
        self.name = _name(what, name)
        _known(what, spec, ("kind", "addresses", "routes", "sysctls", "config", "description", *SPEAKERS))
        self.kind = spec.get("kind", "host")
        if self.kind not in KINDS:
            raise TopologyError(f"{what}: kind {self.kind!r}; known: {', '.join(KINDS)}")
        self.addresses = spec.get("addresses") or {}
        for text in [t for addresses in self.addresses.values() for t in addresses]:
            try:
                ipaddress.ip_interface(text)
            except ValueError as e:
                raise TopologyError(f"{what}: {e}") from e
        self.routes = spec.get("routes") or []
        self.sysctls = spec.get("sysctls") or {}
        self.config = self._config(spec.get("config"), folder) if self.kind == "gateway" else None
        if self.kind != "gateway" and "config" in spec:
            raise TopologyError(f"{what}: only a gateway has a config")
        self.speakers = {s: spec[s] for s in SPEAKERS if s in spec}
        if self.kind != "router" and self.speakers:
            raise TopologyError(f"{what}: only a router runs {', '.join(self.speakers)}")

    def _config(self, config, folder):
        if isinstance(config, dict):
            return yaml.safe_dump(config, sort_keys=False)
        if not isinstance(config, str):
            raise TopologyError(f"node {self.name}: a gateway needs a config: a file name or the config itself")
        if "\n" in config:
            return config
        try:
            return (folder / config).read_text(encoding="utf-8")
        except OSError as e:
            raise TopologyError(f"node {self.name}: config: {e}") from e


class Link:
    def __init__(self, spec, nodes):
        _known("link", spec, ("name", "ends", "mtu", "rate", "hidden", "description"))
        self.name = _name("link", spec.get("name"))
        what = f"link {self.name}"
        ends = spec.get("ends")
        if not isinstance(ends, list) or len(ends) != 2:
            raise TopologyError(f"{what}: ends: two of NODE:INTERFACE are expected")
        self.ends = [self._end(what, e, nodes) for e in ends]
        self.mtu = spec.get("mtu", 1500)
        self.rate = spec.get("rate")
        self.hidden = spec.get("hidden")
        if self.hidden is not None:
            _known(f"{what}: hidden", self.hidden, ("mtu", "addresses", "a", "b"))
        is_line = all(nodes[n].kind in ("gateway", "router") for n, _ in self.ends)
        self.has_provider = is_line or self.hidden is not None

    @staticmethod
    def _end(what, end, nodes):
        node, _, interface = str(end).partition(":")
        if node not in nodes:
            raise TopologyError(f"{what}: there is no node {node!r}")
        if not interface or len(interface) > MAX_IFNAME:
            raise TopologyError(f"{what}: {end!r}: NODE:INTERFACE is expected, the interface of at most {MAX_IFNAME} characters")
        return node, interface


class Topology:
    def __init__(self, spec, folder="."):
        _known("topology", spec, ("name", "nodes", "links", "description"))
        folder = pathlib.Path(folder)
        self.name = _name("topology", spec.get("name"))
        self.nodes = {n: Node(n, s or {}, folder) for n, s in (spec.get("nodes") or {}).items()}
        self.links = {}
        taken = set()
        for s in spec.get("links") or []:
            link = Link(s, self.nodes)
            if link.name in self.links:
                raise TopologyError(f"link {link.name}: there are two of this name")
            for end in link.ends:
                if end in taken:
                    raise TopologyError(f"link {link.name}: {':'.join(end)} is taken")
                taken.add(end)
            self.links[link.name] = link

    @classmethod
    def load(cls, path):
        path = pathlib.Path(path)
        try:
            return cls(yaml.safe_load(path.read_text(encoding="utf-8")), path.parent)
        except (OSError, yaml.YAMLError, TopologyError) as e:
            raise TopologyError(f"{path}: {e}") from e


# --- the lab ----------------------------------------------------------------------------------------------------------


class Lab:
    """A topology that is, or can be, up. All its state is in STATE_DIR/NAME, so that any process can take it down."""

    def __init__(self, topology, name=None, owner=None):
        """owner: pid of the process that the lab must not outlive (tests); None: it stays until `down`."""
        self.topology = topology
        self.name = name or topology.name
        self.folder = STATE_DIR / self.name
        self.owner = owner
        self.gateways = {n.name: gateway.Gateway(self.ns(n.name), self.folder / n.name, n.name)
                         for n in topology.nodes.values() if n.kind == "gateway"}
        self.speakers = {}  # by node: what runs BGP and is no gateway

    def ns(self, node):
        return f"{PREFIX}{self.name}-{node}"

    def provider_ns(self, link):
        return f"{PREFIX}{self.name}-line-{link.name}"

    # --- up and down ---

    def up(self, start=True):
        """Builds everything; `start` starts the gateways and waits until they are what their files say."""
        self.down()
        self.folder.mkdir(parents=True)
        self._save()
        try:
            for node in self.topology.nodes.values():
                self._make_node(node)
            for link in self.topology.links.values():
                self._make_link(link)
            for node in self.topology.nodes.values():
                self._configure_node(node)
            for node in self.topology.nodes.values():
                if node.kind == "gateway":
                    self.gateways[node.name].install(node.config)
            for node in self.topology.nodes.values():
                for kind, config in node.speakers.items():
                    self.speakers[node.name] = SPEAKERS[kind](self.ns(node.name), self.folder / node.name, config).start()
            if start:
                self.start_gateways()
        except BaseException:
            self.down()
            raise
        return self

    def start_gateways(self):
        for gw in self.gateways.values():
            gw.start()
        for gw in self.gateways.values():
            gw.wait_converged()

    def down(self):
        """Removes all that is ours, whoever made it and however far they came. Fine if there is nothing."""
        for child in (*self.gateways.values(), *self.speakers.values()):
            child.stop()
        self.speakers = {}
        remove(self.folder, [self.ns(n) for n in self.topology.nodes] + [self.provider_ns(n) for n in self.topology.links.values()])

    def __enter__(self):
        return self.up()

    def __exit__(self, *exc):
        self.down()

    def _save(self):
        state = {
            "namespaces": [self.ns(n) for n in self.topology.nodes]
                          + [self.provider_ns(link) for link in self.topology.links.values() if link.has_provider],
            "owner": process.identity(self.owner) if self.owner else None,
        }
        path = self.folder / "state.json"
        path.with_suffix(".new").write_text(json.dumps(state, indent=1), encoding="utf-8")
        path.with_suffix(".new").rename(path)

    # --- building ---

    def _make_node(self, node):
        netns.create(self.ns(node.name))
        if node.kind == "switch":
            netns.ip(self.ns(node.name), "link add br0 type bridge mcast_snooping 0\nlink set br0 up\n")
            bridge_without_netfilter(self.ns(node.name))

    def _make_link(self, link):
        ends = [(self.ns(node), interface) for node, interface in link.ends]
        if link.has_provider:
            provider = self.provider_ns(link)
            netns.create(provider)
            for port, end in zip(PORTS, ends):
                wire(end, (provider, port), link.mtu)
            (self._provider_router if link.hidden else self._provider_bridge)(link, provider)
            shaped = [(provider, port) for port in PORTS]
        else:
            wire(*ends, link.mtu)
            shaped = ends
        for ns, interface in shaped if link.rate else ():
            netns.run("tc", "qdisc", "add", "dev", interface, "root", "tbf", "rate", link.rate, "burst", "1mb", "latency", "50ms",
                      ns=ns)

    @staticmethod
    def _provider_bridge(link, ns):
        netns.ip(ns, f"""link add br0 type bridge mcast_snooping 0
link set br0 addrgenmode none up
link set port-a addrgenmode none master br0
link set port-b addrgenmode none master br0
link set br0 mtu {link.mtu}
""")
        bridge_without_netfilter(ns)

    @staticmethod
    def _provider_router(link, ns, again=False):
        """A router between two ends that believe to be neighbours: it answers ARP and ND for the far one.
        `again`: puts back what a port that was down has lost."""
        hidden = link.hidden
        for key in ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"):
            netns.sysctl(ns, key, 1)
        for port in PORTS:
            netns.sysctl(ns, f"net/ipv4/conf/{port}/proxy_arp", 1)
            netns.sysctl(ns, f"net/ipv6/conf/{port}/proxy_ndp", 1)
            netns.sysctl(ns, f"net/ipv4/neigh/{port}/proxy_delay", 0)
            netns.sysctl(ns, f"net/ipv6/neigh/{port}/proxy_delay", 0)
        lines = [f"addr add {a} dev lo nodad" for a in hidden.get("addresses", ["192.0.0.8"])]
        for side, port, other in (("a", *PORTS), ("b", *reversed(PORTS))):
            for near, behind in (hidden.get(side) or {}).items():
                lines.append(f"route add {near} dev {port} mtu lock {hidden['mtu']}")
                lines += [f"route add {p} via {near} dev {port} onlink mtu lock {hidden['mtu']}" for p in behind]
                if ":" in near:
                    lines.append(f"neigh add proxy {near} dev {other}")
        netns.run("ip", *(["-force"] if again else []), "-batch", "-", ns=ns, check=not again, stdin="\n".join(lines) + "\n")

    def _configure_node(self, node):
        ns = self.ns(node.name)
        ports = [i for link in self.topology.links.values() for n, i in link.ends if n == node.name]
        if node.kind == "switch":
            netns.ip(ns, "".join(f"link set {p} master br0\n" for p in ports))
        if node.kind == "router":
            netns.sysctl(ns, "net/ipv4/ip_forward", 1)
            netns.sysctl(ns, "net/ipv6/conf/all/forwarding", 1)
        for key, value in node.sysctls.items():
            netns.sysctl(ns, key, value)
        lines = [f"addr add {a} dev {dev}{' nodad' if ':' in a else ''}"
                 for dev, addresses in node.addresses.items() for a in addresses]
        lines += [f"route add {route}" for route in node.routes]
        if lines:
            netns.ip(ns, "\n".join(lines) + "\n")

    # --- failures ---

    def fail(self, name, mode="down"):
        """`down`: both ends lose the carrier. `blackhole`: the link stays up and nothing arrives, either way."""
        if mode not in ("down", "blackhole"):
            raise LabError(f"mode {mode!r}; known: down, blackhole")
        for ns, ports in self._failing_ports(self._link(name), mode).items():
            if mode == "down":
                netns.ip(ns, "".join(f"link set dev {p} down\n" for p in ports))
            else:
                netns.nft(ns, "".join(f"table {t}\ndelete table {t}\ntable {t} {{\n chain nothing_arrives {{\n"
                                      f"  type filter hook ingress device \"{p}\" priority -500; policy drop;\n }}\n}}\n"
                                      for p, t in ((p, f"netdev {failure_table(p)}") for p in ports)))

    def heal(self, name):
        link = self._link(name)
        for ns, ports in self._failing_ports(link, "blackhole").items():
            netns.nft(ns, "".join(f"table {t}\ndelete table {t}\n" for t in (f"netdev {failure_table(p)}" for p in ports)))
        for ns, ports in self._failing_ports(link, "down").items():
            netns.ip(ns, "".join(f"link set dev {p} up\n" for p in ports))
        if link.hidden:
            self._provider_router(link, self.provider_ns(link), again=True)

    def _link(self, name):
        if name not in self.topology.links:
            raise LabError(f"there is no link {name!r}; there are: {', '.join(self.topology.links)}")
        return self.topology.links[name]

    def _failing_ports(self, link, mode):
        """{namespace: ports}: those of one namespace fail at the same moment."""
        if link.has_provider:
            return {self.provider_ns(link): list(PORTS)}
        ends = [(self.ns(n), [i]) for n, i in link.ends]
        # A gateway would put its own interface up again at once: let the other end be the one that goes down.
        hosts = [e for e, (n, _) in zip(ends, link.ends) if self.topology.nodes[n].kind != "gateway"]
        return dict(hosts[:1] if mode == "down" else ends)

    # --- looking ---

    def is_up(self):
        return all(netns.exists(self.ns(n)) for n in self.topology.nodes)

    def status(self):
        """One line a node and link, as (kind, name, state)."""
        rows = []
        for node in self.topology.nodes.values():
            state = "up" if netns.exists(self.ns(node.name)) else "down"
            if node.kind == "gateway" and state == "up":
                state = gateway_state(self.gateways[node.name])
            rows.append((node.kind, node.name, state))
        for link in self.topology.links.values():
            rows.append(("link", link.name, self._link_state(link)))
        return rows

    def _link_state(self, link):
        ports = [(ns, p) for ns, ports in self._failing_ports(link, "blackhole").items() for p in ports]
        if not all(netns.exists(ns) for ns, _ in ports):
            return "down"
        for ns, port in ports:
            if "state DOWN" in netns.run("ip", "-o", "link", "show", "dev", port, ns=ns).stdout:
                return "failed: down"
            if failure_table(port) in netns.run("nft", "list", "tables", ns=ns).stdout:
                return "failed: blackhole"
        ends = " - ".join(":".join(e) for e in link.ends)
        return f"up, {ends}, MTU {link.mtu}" + (f", hidden hop of {link.hidden['mtu']}" if link.hidden else "") \
            + (f", {link.rate}" if link.rate else "")


def gateway_state(gw):
    if not gw.running():
        return "no fairwayd"
    status = gw.status()
    if not status:
        return "fairwayd does not answer"
    return ("converged" if status["converged"] else "NOT converged") + f", {status['repairs']} repairs"


def failure_table(port):
    return "lab_" + re.sub(r"\W", "_", port)


def wire(a, b, mtu):
    """A veth pair between two (namespace, interface), both up."""
    (ns_a, if_a), (ns_b, if_b) = a, b
    netns.run("ip", "link", "add", "name", if_a, "mtu", mtu, "netns", ns_a, "type", "veth", "peer", "name", if_b, "mtu", mtu, "netns", ns_b)
    netns.ip(ns_a, f"link set dev {if_a} up\n")
    netns.ip(ns_b, f"link set dev {if_b} up\n")


def bridge_without_netfilter(ns):
    """A switch has no firewall: frames do not pass the IP hooks. (Also it must not defragment.)"""
    for key in ("iptables", "ip6tables", "arptables"):
        netns.sysctl(ns, f"net/bridge/bridge-nf-call-{key}", 0)


def saved_state(folder):
    try:
        return json.loads((pathlib.Path(folder) / "state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def running_labs():
    """Names of the labs that have state."""
    return sorted(p.name for p in STATE_DIR.iterdir() if p.is_dir()) if STATE_DIR.is_dir() else []


def remove(folder, namespaces=()):
    """Takes a lab down by what is on disk: processes first, so that nothing keeps a namespace alive."""
    for path in folder.glob(f"*/{gateway.PROCESS_FILE}"):
        process.stop(json.loads(path.read_text(encoding="ascii")))
    namespaces = {*namespaces, *saved_state(folder).get("namespaces", [])}
    # What outlives its starter, as the daemons of a gateway do: it is in a namespace of ours, so it is of ours.
    for ns in filter(netns.exists, namespaces):
        process.stop_all(lambda ns=ns: netns.pids(ns))
    for ns in namespaces:
        netns.delete(ns)
    shutil.rmtree(folder, ignore_errors=True)


def sweep():
    """Removes labs whose owner died without taking them down."""
    STATE_DIR.mkdir(parents=True, exist_ok=True)
    with open(STATE_DIR / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in running_labs():
            owner = saved_state(STATE_DIR / name).get("owner")
            if owner and not process.alive(owner):
                remove(STATE_DIR / name)


def terminate_cleanly():
    """SIGTERM and SIGHUP unwind like an exception, so that `finally` runs."""
    def leave(signum, _frame):
        raise SystemExit(128 + signum)
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, leave)


def temporary(spec, label=None, folder="."):
    """A lab of this process only, under a name that no other has; `sweep` removes it should the process die."""
    topology = Topology(spec, folder)
    return Lab(topology, name=f"t{os.getpid()}-{label or topology.name}", owner=os.getpid())
