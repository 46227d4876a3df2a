#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a config file with N segments, and the lines and remotes that they need.

gen_config.py 10000 --bridged --remotes 2 >big.yaml
"""
import argparse
import sys

FIRST_VNI = 10000


def base(remotes):
    yield "system: {hostname: bench-gw}"
    yield "lines:"
    yield "  - {name: a, interface: eth1, address: 172.31.0.1/30, peer-address: 172.31.0.2, rate: 10gbit}"
    yield "  - {name: b, interface: eth2, address: 172.31.0.5/30, peer-address: 172.31.0.6, rate: 10gbit}"
    yield "vtep: {address: 10.255.0.1}"
    if remotes:
        yield "remotes:"
    for i in range(remotes):
        yield f"  - {{name: r{i}, vtep: 10.255.{1 + i // 250}.{1 + i % 250}, lines: [a, b]}}"


def network(n):
    """The n-th /24 of 11.0.0.0/8 and what follows: no two segments share one."""
    return f"{11 + (n >> 16)}.{n >> 8 & 255}.{n & 255}"


def segment(n, routed, names):
    yield f"  - name: s{n}"
    yield f"    vni: {FIRST_VNI + n}"
    yield f"    mode: {'routed' if routed else 'bridged'}"
    if not routed:
        yield f"    members: [m{n}]"
    yield f"    gateway: [{network(n)}.1/24]"
    yield f"    remotes: [{', '.join(names)}]"
    if routed:
        yield "    routes:"
        yield f"      - {{prefix: {100 + (n >> 16)}.{n >> 8 & 255}.{n & 255}.0/24, via: {network(n)}.2}}"


def config(segments, routed=False, remotes=2):
    yield from base(remotes)
    if segments:
        yield "segments:"
    names = [f"r{i}" for i in range(remotes)]
    for n in range(segments):
        yield from segment(n, routed, names)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("segments", type=int)
    mode = p.add_mutually_exclusive_group()
    mode.add_argument("--bridged", action="store_true", help="segments with a member each (default)")
    mode.add_argument("--routed", action="store_true", help="segments with a route each")
    p.add_argument("--remotes", type=int, default=2, help="far gateways; each segment goes to all of them")
    args = p.parse_args()
    if not 0 <= args.segments <= 1000000 or not 0 <= args.remotes <= 60000:
        p.error("at most 1000000 segments and 60000 remotes")
    sys.stdout.writelines(line + "\n" for line in config(args.segments, args.routed, args.remotes))


if __name__ == "__main__":
    main()
