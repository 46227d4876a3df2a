# SPDX-License-Identifier: GPL-2.0-or-later
"""The audit's record as tests see it: its files, the kernel's table that it is made from, and flows of known size."""
import json
import pathlib
import socket
import struct

import netns
import probe

NETLINK_NETFILTER = 12
CT_DELETE = 1 << 8 | 2
REQUEST, ACK = 1, 4


def flush_conntrack(ns):
    """Every flow of the namespace ends now."""
    with netns.inside(ns), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as s:
        s.bind((0, 0))
        s.send(struct.pack("=LHHLL", 20, CT_DELETE, REQUEST | ACK, 1, 0) + struct.pack("=BBH", 0, 0, 0))
        error = struct.unpack_from("=i", s.recv(4096), 16)[0]
        if error:
            raise OSError(-error, "conntrack flush")


def conntrack_count(ns):
    return int(netns.sysctl(ns, "net/netfilter/nf_conntrack_count"))


class Record:
    """The files of one folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def files(self):
        return sorted(self.folder.glob("audit-*.json"))

    def size(self):
        return sum(f.stat().st_size for f in self.files())

    def lines(self):
        """All records; every line has to be whole JSON, but for the one that is being written."""
        found = []
        for path in self.files():
            text = path.read_bytes()
            found += [json.loads(line) for line in text[:text.rfind(b"\n") + 1].splitlines()]
        return found

    def events(self, *names, **members):
        """Members with _ for -; from_ for from."""
        wanted = {k.rstrip("_").replace("_", "-"): v for k, v in members.items()}
        return [r for r in self.lines() if r["event"] in names and all(r.get(k) == v for k, v in wanted.items())]

    def count(self, name, to=None):
        """Quickly, for many."""
        event, there = f'"event":"{name}"'.encode(), f'"to":"{to}"'.encode()
        return sum(1 for path in self.files() for line in path.read_bytes().splitlines() if event in line and (not to or there in line))


def udp_flow(client, server, address, port, there, back, size=100):
    """A UDP flow of `there` datagrams and `back` answers, each of size bytes, to ADDRESS:PORT. (packets, bytes) both ways."""
    with probe.udp_socket(server, address, port) as s, probe.new_socket(client, address, socket.SOCK_DGRAM) as c:
        s.settimeout(5)
        c.settimeout(5)
        c.connect((address, port))
        for _ in range(there):
            c.send(bytes(size))
            _, peer = s.recvfrom(65536)
        for _ in range(back):
            s.sendto(bytes(size), peer)
            c.recv(65536)
        each = size + probe.headers(address) + probe.UDP_HEADER
        return (there, there * each), (back, back * each), c.getsockname()[1]


BURST = r"""
import socket, sys, time
address, n, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
start = time.monotonic()
sent = 0
while sent < n:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for port in range(2000, 2000 + min(n - sent, 40000)):
            s.sendto(b"x", (address, port))
            sent += 1
            if sent % 500 == 0:
                time.sleep(max(0, start + sent / n * seconds - time.monotonic()))
print(sent)
"""


def burst(ns, address, n, seconds=0.0):
    """n flows of one datagram each, spread over so many seconds."""
    return int(netns.run("/usr/bin/python3", "-c", BURST, address, n, seconds, ns=ns, timeout=120).stdout)
