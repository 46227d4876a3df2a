#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: whole networks in namespaces of this machine, to try a change or a failure before doing it for real.

  lab.py up                 build it, start the gateways, wait until they are what their files say
  lab.py status             nodes and links, and how they are
  lab.py exec NODE CMD...   run a command in a node; the gateway's command: lab.py exec bj-gw1 fairway show overlay
  lab.py fail LINK          cut a link: --mode down (the carrier goes) or blackhole (it stays up, nothing arrives)
  lab.py heal LINK          undo that
  lab.py list               labs that are up; nodes and links of the topology
  lab.py down               remove everything; also what a crash left

The topology is tests/lib/example.yaml, or --topology FILE (topo.py says what a file may hold).
"""
import argparse
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gateway  # noqa: E402
import netns  # noqa: E402
import topo  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parent / "example.yaml"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--topology", default=argparse.SUPPRESS, metavar="FILE", help="another topology than the example")
    parser.add_argument("--topology", default=EXAMPLE, help=argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in ("up", "down", "status", "list"):
        verbs.add_parser(name, parents=[common])
    execute = verbs.add_parser("exec", parents=[common])
    execute.add_argument("node")
    execute.add_argument("command", nargs=argparse.REMAINDER)
    fail = verbs.add_parser("fail", parents=[common])
    fail.add_argument("link")
    fail.add_argument("--mode", choices=("down", "blackhole"), default="down")
    heal = verbs.add_parser("heal", parents=[common])
    heal.add_argument("link")
    return parser.parse_args()


def table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        print("  ".join([*(c.ljust(w) for c, w in zip(row, widths)), row[-1]]))


def execute(lab, node, command):
    """Becomes the command, in the node. `fairway` is the built one, with the gateway's run directory."""
    if node not in lab.topology.nodes:
        raise topo.LabError(f"there is no node {node!r}; there are: {', '.join(lab.topology.nodes)}")
    if not command:
        raise topo.LabError("exec: which command?")
    if command[0] == "fairway" and node in lab.gateways:
        command = lab.gateways[node].command(*command[1:])
    os.execvp("ip", ["ip", "netns", "exec", lab.ns(node), *command])


def listing(lab):
    print("up: " + (", ".join(topo.running_labs()) or "none"))
    print(f"\n{lab.name}:")
    nodes = [(n.kind, n.name, "; ".join(f"{i} {' '.join(a)}" for i, a in n.addresses.items())) for n in lab.topology.nodes.values()]
    table(nodes + [("link", link.name, " - ".join(":".join(e) for e in link.ends)) for link in lab.topology.links.values()])


def up(lab):
    lab.up()
    table(lab.status())
    print(f"\nlogs and configs: {lab.folder}")


def main():
    args = arguments()
    try:
        lab = topo.Lab(topo.Topology.load(args.topology))
        if args.verb == "list":
            return listing(lab)
        if os.geteuid() != 0:
            raise topo.LabError("this needs root, for network namespaces")
        topo.terminate_cleanly()
        if args.verb in ("status", "exec", "fail", "heal") and not lab.is_up():
            raise topo.LabError(f"{lab.name} is not up")
        return {
            "up": lambda: up(lab),
            "down": lab.down,
            "status": lambda: table(lab.status()),
            "exec": lambda: execute(lab, args.node, args.command),
            "fail": lambda: lab.fail(args.link, args.mode),
            "heal": lambda: lab.heal(args.link),
        }[args.verb]()
    except (topo.TopologyError, topo.LabError, netns.CommandError, gateway.GatewayError) as e:
        sys.exit(f"lab: {e}")


if __name__ == "__main__":
    main()
