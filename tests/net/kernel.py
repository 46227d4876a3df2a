# SPDX-License-Identifier: GPL-2.0-or-later
"""What a namespace holds, as comparable values without counters, timers and other weather; read by other people's tools."""
import json

import netns
import process


# Fairway's device group, and the one through which it deletes many at once: a crash may leave a device there, still ours.
OURS = {"4001": "ours", "4002": "ours"}


# Flags of a bridge port.
PORT = ("learning", "flood", "mcast_flood", "bcast_flood", "isolated", "locked", "neigh_suppress", "proxy_arp", "hairpin", "guard",
        "root_block", "fastleave")


def _json(ns, *argv):
    out = netns.run(*argv, ns=ns).stdout.strip()
    return json.loads(out) if out else []


def links(ns):
    """{name: what of it was configured}"""
    found = {}
    for link in _json(ns, "ip", "-j", "-d", "link", "show"):
        info = link.get("linkinfo", {})
        data = info.get("info_data", {})
        keep = {k: data[k] for k in ("id", "local", "local6", "port", "ttl", "df", "tos", "learning", "mcast_snooping", "stp_state", "ageing_time") if k in data}
        port = info.get("info_slave_data", {}) if info.get("info_slave_kind") == "bridge" else {}
        keep["port flags"] = {k: port[k] for k in PORT if k in port}
        # Without carrier the kernel disables a port itself.
        if "LOWER_UP" in link["flags"]:
            keep["port state"] = port.get("state")
        # A bridge's VXLAN port never speaks with its own MAC: the kernel picks one.
        mac = None if info.get("info_kind") == "vxlan" and "master" in link else link.get("address")
        found[link["ifname"]] = {"kind": info.get("info_kind"), "mtu": link["mtu"], "master": link.get("master"), "mac": mac,
                                 "index": link["ifindex"], "up": "UP" in link["flags"], "alias": link.get("ifalias"),
                                 "group": OURS.get(link.get("group"), link.get("group")), "addrgen": link.get("inet6_addr_gen_mode"), **keep}
    return found


def addresses(ns):
    """{(interface, address with prefix length)}, those of link scope left out"""
    return {(i["ifname"], f"{a['local']}/{a['prefixlen']}") for i in _json(ns, "ip", "-j", "addr", "show")
            for a in i["addr_info"] if "local" in a and a["scope"] != "link"}


def routes(ns):
    """Unicast routes of all tables, without the kernel's own for its addresses."""
    found = set()
    for family in ("-4", "-6"):
        for r in _json(ns, "ip", family, "-j", "-N", "route", "show", "table", "all"):
            if str(r.get("protocol")) == "2" or r.get("type", "1") not in ("1", "unicast") or r["dst"].startswith(("fe80", "ff00")):
                continue
            hops = r.get("nexthops") or [{k: r[k] for k in ("gateway", "dev") if k in r}]
            found.add((family, r["dst"], str(r.get("table", "254")), r.get("metric"), str(r.get("protocol")),
                       tuple(sorted((h.get("gateway", ""), h.get("dev", ""), h.get("weight", 1)) for h in hops))))
    return found


def fdb(ns, device=None):
    """{(device, MAC, destination)} of entries with a destination that do not age."""
    entries = _json(ns, "bridge", "-j", "fdb", "show", *(["dev", device] if device else []))
    return {(e.get("ifname", device), e["mac"], e["dst"]) for e in entries if e.get("state") in ("permanent", "static") and "dst" in e}


def ruleset(ns):
    """Without counters. The kernel lists tables and elements in no particular order: compare sorted lines."""
    return netns.run("nft", "-s", "list", "ruleset", ns=ns).stdout


def snapshot(ns):
    return {"links": links(ns), "addresses": addresses(ns), "routes": routes(ns), "fdb": fdb(ns), "nft": sorted(ruleset(ns).splitlines())}


def lasting_difference(before, ns, timeout=3):
    """What still differs when the kernel has had the time to tell its bridges of a port's carrier: up to a second."""
    process.wait_until(lambda: not difference(before, snapshot(ns)), timeout, 0.05)
    return difference(before, snapshot(ns))


def difference(before, after):
    """What differs between two snapshots, for a message; empty if nothing."""
    found = []
    for key, old in before.items():
        new = after[key]
        if old == new:
            continue
        if isinstance(old, dict):
            found += [f"{key}: {n}: {old.get(n)} -> {new.get(n)}" for n in sorted({*old, *new}) if old.get(n) != new.get(n)]
        elif isinstance(old, set):
            found += [f"{key}: gone: {e}" for e in sorted(old - new, key=str)] + [f"{key}: new: {e}" for e in sorted(new - old, key=str)]
        else:
            found.append(f"{key}: gone: {sorted(set(old) - set(new))[:10]}, new: {sorted(set(new) - set(old))[:10]}")
    return found


def received(ns, device):
    """Packets that came in on a device, and those that it refused."""
    stats = _json(ns, "ip", "-j", "-s", "link", "show", "dev", device)[0]["stats64"]["rx"]
    return stats["packets"] + stats["errors"] + stats["dropped"]
