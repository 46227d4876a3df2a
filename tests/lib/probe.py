#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes: what packets really do between namespaces. No probe trusts what a gateway says about itself.

    Stream        a packet each millisecond and its echo, losses counted per direction
    Capture       frames of one interface
    handshake     a TCP connection, the MSS of SYN and SYN-ACK as sent and as they arrive
    transfer      TCP bytes, all of them, within a time
    path_mtu      a UDP sender with DF: what it is told, what fits then
    udp_arrives   a UDP datagram without DF
    Broadcasts    numbered broadcast frames, copies counted at each place

As a program: probe.py stream JSON, the helper process of Stream.
"""
import errno
import ipaddress
import itertools
import json
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import netns  # noqa: E402

ETH_P_ALL = 0x0003
ETH_P_TEST = 0x88B5  # IEEE 802: local experimental
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_AUXDATA, TP_STATUS_CSUMNOTREADY = 263, 8, 1 << 3
IP_MTU_DISCOVER, IP_RECVERR, IP_MTU = 10, 11, 14
IPV6_MTU_DISCOVER, IPV6_MTU, IPV6_RECVERR = 23, 24, 25
PMTUDISC_DONT, PMTUDISC_DO = 0, 2
MSG_ERRQUEUE = 0x2000
EE_LOCAL, EE_ICMP, EE_ICMP6 = 1, 2, 3
UDP_HEADER = 8

_ports = itertools.count(20000)


def is_v6(address):
    return ipaddress.ip_address(address).version == 6


def family(address):
    return socket.AF_INET6 if is_v6(address) else socket.AF_INET


def headers(address):
    """Bytes of the IP header of the address's family."""
    return 40 if is_v6(address) else 20


def new_socket(ns, address, kind):
    with netns.inside(ns):
        return socket.socket(family(address), kind)


def udp_socket(ns, address, port=0):
    s = new_socket(ns, address, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    s.bind((address, port))
    return s


def readable(sock, timeout):
    return bool(select.select([sock], [], [], max(timeout, 0))[0])


# --- the stream -------------------------------------------------------------------------------------------------------


class Stream:
    """`flows`: (label, ns a, address a, ns b, address b). From a to b and back, each millisecond, until stop().

    Counting begins when every flow has had its first echo, so that ARP and the like are not counted."""

    def __init__(self, *flows, interval=0.001, ready_timeout=20):
        spec = {"flows": flows, "interval": interval, "timeout": ready_timeout}
        self.process = subprocess.Popen([sys.executable, "-B", __file__, "stream", json.dumps(spec)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.result = None
        if self.process.stdout.readline() != "ready\n":
            self.process.wait()
            raise RuntimeError(f"the stream did not come up: no echo on one of {[f[0] for f in flows]}")

    def stop(self, at_least=0):
        """{label: {"sent", "lost_forward", "lost_back", "longest_gap"}}: packets; the gap in packets, of the round trip.
        at_least: goes on until each flow has sent so many."""
        if self.result is None:
            out, _ = self.process.communicate(f"{at_least}\n", timeout=60)
            self.result = json.loads(out)
        return self.result

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.result is None:
            self.process.kill()
            self.process.communicate()


def lost(result):
    """All lost packets of a stream's result."""
    return sum(f["lost_forward"] + f["lost_back"] for f in result.values())


class _Flow:
    def __init__(self, label, ns_a, addr_a, ns_b, addr_b):
        self.label = label
        self.b = udp_socket(ns_b, addr_b)
        self.a = udp_socket(ns_a, addr_a)
        self.to = self.b.getsockname()[:2]
        for s in (self.a, self.b):
            s.setblocking(False)
        self.sent, self.forward, self.back = 0, set(), set()

    def send(self):
        try:
            self.a.sendto(struct.pack("!I", self.sent), self.to)
        except OSError:
            pass  # counted as lost: it never arrives
        self.sent += 1

    def drain(self):
        for data, source in _datagrams(self.b):
            self.forward.add(struct.unpack("!I", data)[0])
            try:
                self.b.sendto(data, source)
            except OSError:
                pass
        for data, _ in _datagrams(self.a):
            self.back.add(struct.unpack("!I", data)[0])

    def result(self, first, last):
        span = range(first, last)
        gap = longest = 0
        for n in span:
            gap = 0 if n in self.back else gap + 1
            longest = max(longest, gap)
        forward = sum(n not in self.forward for n in span)
        back = sum(n in self.forward and n not in self.back for n in span)
        return {"sent": len(span), "lost_forward": forward, "lost_back": back, "longest_gap": longest}


def _datagrams(sock):
    while True:
        try:
            yield sock.recvfrom(2048)
        except BlockingIOError:
            return
        except OSError:
            continue  # an ICMP error, reported once


def _stream(spec):
    flows = [_Flow(*f) for f in spec["flows"]]
    interval, begin = spec["interval"], time.monotonic()
    sockets = [s for f in flows for s in (f.a, f.b)]
    tick, first, at_least, stopping = begin, None, None, None
    while True:
        now = time.monotonic()
        if stopping is None and now >= tick:
            for f in flows:
                f.send()
            tick += interval
        listening = [sys.stdin] if at_least is None else []
        got = select.select([*sockets, *listening], [], [], max(0, tick - now) if stopping is None else 0.02)[0]
        for f in flows:
            f.drain()
        if first is None and all(f.back for f in flows):
            first = [f.sent for f in flows]
            print("ready", flush=True)
        if first is None and now > begin + spec["timeout"]:
            return None
        if sys.stdin in got:
            at_least = int(sys.stdin.readline() or 0)
        if at_least is not None and stopping is None and all(f.sent - n >= at_least for f, n in zip(flows, first or [0] * len(flows))):
            stopping = now
        # What is on its way has half a second to arrive; no longer than needed.
        if stopping is not None and (now > stopping + 0.5 or all(f.sent - 1 in f.back for f in flows)):
            return {f.label: f.result(n, f.sent) for f, n in zip(flows, first or [0] * len(flows))}


# --- frames -----------------------------------------------------------------------------------------------------------


class Frame:
    """What the tests ask of a captured frame, from its bytes."""

    def __init__(self, data, outgoing=False, checksum_ready=True):
        self.data, self.outgoing, self.checksum_ready = data, outgoing, checksum_ready
        self.ethertype = struct.unpack_from("!H", data, 12)[0]
        self.protocol, self.l4, self.src, self.dst, self.fragment = None, None, None, None, False
        if self.ethertype == 0x0800 and len(data) >= 34:
            self._ipv4()
        elif self.ethertype == 0x86DD and len(data) >= 54:
            self._ipv6()

    def _ipv4(self):
        d = self.data
        self.protocol, self.l4 = d[23], 14 + (d[14] & 15) * 4
        self.src, self.dst = (str(ipaddress.ip_address(d[o:o + 4])) for o in (26, 30))
        self.fragment = struct.unpack_from("!H", d, 20)[0] & 0x3FFF != 0
        self.end = 14 + struct.unpack_from("!H", d, 16)[0]

    def _ipv6(self):
        d = self.data
        self.protocol, self.l4 = d[20], 54
        self.src, self.dst = (str(ipaddress.ip_address(d[o:o + 16])) for o in (22, 38))
        self.fragment = self.protocol == 44
        self.end = 54 + struct.unpack_from("!H", d, 18)[0]

    @property
    def ports(self):
        return struct.unpack_from("!HH", self.data, self.l4) if self.protocol in (6, 17) else (None, None)

    @property
    def is_syn(self):
        return self.protocol == 6 and self.data[self.l4 + 13] & 0x06 == 0x02

    @property
    def is_ack(self):
        return bool(self.data[self.l4 + 13] & 0x10)

    @property
    def mss(self):
        """The MSS option; None if there is none."""
        at, end = self.l4 + 20, self.l4 + (self.data[self.l4 + 12] >> 4) * 4
        while at + 1 < end and self.data[at]:
            if self.data[at] == 1:
                at += 1
                continue
            if self.data[at] == 2:
                return struct.unpack_from("!H", self.data, at + 2)[0]
            at += max(self.data[at + 1], 2)
        return None

    @property
    def inner(self):
        """The frame in a VXLAN packet, and its VNI."""
        at = self.l4 + 8
        return Frame(self.data[at + 8:]), int.from_bytes(self.data[at + 4:at + 7], "big")

    def checksum_ok(self):
        """Is the TCP or UDP checksum that of the bytes?"""
        raw = [ipaddress.ip_address(a).packed for a in (self.src, self.dst)]
        body = self.data[self.l4:self.end]
        return _sum16(b"".join(raw) + struct.pack("!IHBB", len(body), 0, 0, self.protocol) + body) == 0xFFFF


def _sum16(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Capture:
    """The frames of an interface from now on."""

    def __init__(self, ns, interface):
        with netns.inside(ns):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
            self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            self.socket.bind((interface, ETH_P_ALL))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.socket.close()

    def frames(self, timeout=0.0):
        """Frames as they come, until none has come for `timeout` seconds."""
        while readable(self.socket, timeout):
            data, ancillary, _, address = self.socket.recvmsg(1 << 17, 256)
            ready = all(not struct.unpack_from("I", body)[0] & TP_STATUS_CSUMNOTREADY
                        for level, kind, body in ancillary if (level, kind) == (SOL_PACKET, PACKET_AUXDATA))
            if len(data) >= 14:
                yield Frame(data, address[2] == socket.PACKET_OUTGOING, ready)

    def wait(self, wanted, timeout=3.0):
        """The first frame that `wanted` is true for; None if none came."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            for frame in self.frames(min(left, 0.05)):
                if wanted(frame):
                    return frame
        return None


# --- TCP --------------------------------------------------------------------------------------------------------------


class Handshake:
    """MSS of the SYN and the SYN-ACK, as sent and as they arrive at the other host."""

    def __init__(self, syn_sent, syn_seen, synack_sent, synack_seen):
        self.syn_sent, self.syn_seen, self.synack_sent, self.synack_seen = syn_sent, syn_seen, synack_sent, synack_seen

    def __repr__(self):
        return f"SYN {self.syn_sent}->{self.syn_seen}, SYN-ACK {self.synack_sent}->{self.synack_seen}"

    def __iter__(self):
        return iter((self.syn_sent, self.syn_seen, self.synack_sent, self.synack_seen))


def listen(ns, address):
    server = new_socket(ns, address, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, 0))
    server.listen(8)
    server.settimeout(10)
    return server


def connect(ns, address, to, timeout=10, mss=None, source_port=0):
    client = new_socket(ns, address, socket.SOCK_STREAM)
    if mss:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
    client.settimeout(timeout)
    client.bind((address, source_port))
    client.connect(to[:2])
    return client


def handshake(client, server, client_mss=None):
    """client, server: (ns, interface, address). Frames are captured on both hosts' interfaces."""
    with Capture(client[0], client[1]) as near, Capture(server[0], server[1]) as far, listen(server[0], server[2]) as listener:
        port = listener.getsockname()[1]
        with connect(client[0], client[2], listener.getsockname(), mss=client_mss):
            listener.accept()[0].close()
        near_syns, far_syns = ([f for f in c.frames(0.05) if f.is_syn and port in f.ports] for c in (near, far))

    def mss(frames, is_ack):
        found = [f.mss for f in frames if f.is_ack == is_ack]
        return found[0] if found else None
    return Handshake(mss(near_syns, False), mss(far_syns, False), mss(far_syns, True), mss(near_syns, True))


def transfer(client, server, n_bytes=2_000_000, timeout=10):
    """client, server: (ns, address). Sends n_bytes each way at once; seconds taken. TimeoutError if they do not arrive."""
    begin = time.monotonic()
    with listen(server[0], server[1]) as listener, connect(client[0], client[1], listener.getsockname(), timeout) as near:
        far = listener.accept()[0]
        with far:
            ends = (near, far)
            left_out = dict.fromkeys(ends, n_bytes)
            left_in = dict.fromkeys(ends, n_bytes)
            for s in ends:
                s.setblocking(False)
            chunk = bytes(1 << 16)
            while any(left_in.values()):
                if time.monotonic() > begin + timeout:
                    raise TimeoutError(f"TCP: {left_in[far]} bytes forward and {left_in[near]} back did not arrive in {timeout} s")
                ins, outs, _ = select.select([s for s in ends if left_in[s]], [s for s in ends if left_out[s]], [], 0.1)
                for s in outs:
                    left_out[s] -= s.send(chunk[:left_out[s]])
                for s in ins:
                    got = len(s.recv(1 << 18))
                    if not got:
                        raise ConnectionError("TCP: closed before all bytes had arrived")
                    left_in[s] -= got
    return time.monotonic() - begin


# --- UDP and the path MTU ---------------------------------------------------------------------------------------------


class PathMtu:
    """told: the value in the ICMP message, None without one; source: who sent it; learned: what the sender's kernel uses
    then; fits: a datagram of exactly that size arrived whole; tries: datagrams sent until it knew."""

    def __init__(self, told=None, source=None, learned=None, fits=False, tries=0):
        self.told, self.source, self.learned, self.fits, self.tries = told, source, learned, fits, tries

    def __repr__(self):
        return f"told {self.told} by {self.source}, learned {self.learned}, {'fits' if self.fits else 'does NOT fit'}, {self.tries} sent"


def _discover(sock, how):
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, how)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, how)
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)


def _socket_mtu(sock):
    if sock.family == socket.AF_INET6:
        return sock.getsockopt(socket.IPPROTO_IPV6, IPV6_MTU)
    return sock.getsockopt(socket.IPPROTO_IP, IP_MTU)


def _icmp_error(sock):
    """(MTU, source) of a too-big message in the socket's error queue, or None."""
    while True:
        try:
            _, ancillary, _, _ = sock.recvmsg(4096, 512, MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except OSError:
            return None
        for _, kind, body in ancillary:
            if kind not in (IP_RECVERR, IPV6_RECVERR) or len(body) < 16:
                continue
            number, origin, _, _, _, info, _ = struct.unpack_from("IBBBBII", body)
            if number == errno.EMSGSIZE and origin in (EE_ICMP, EE_ICMP6):
                return info, _offender(body[16:])


def _offender(body):
    kind = struct.unpack_from("H", body)[0] if len(body) >= 2 else 0
    if kind == socket.AF_INET:
        return str(ipaddress.ip_address(body[4:8]))
    return str(ipaddress.ip_address(body[8:24])) if kind == socket.AF_INET6 else None


def forget_path_mtu(*namespaces):
    """Hosts forget what they have learned about path MTUs."""
    for ns in namespaces:
        for family in ("-4", "-6"):
            netns.run("ip", family, "route", "flush", "cache", ns=ns)


def path_mtu(sender, receiver, size, timeout=5.0, until=None):
    """Sends UDP datagrams with DF, IP packets of `size` bytes, until the sender's kernel refuses that size or one arrives whole.
    `until`: goes on until this MTU is reached (a smaller hop further on teaches a second time).
    sender, receiver: (ns, address)."""
    overhead = headers(receiver[1]) + UDP_HEADER
    result = PathMtu()
    with udp_socket(*receiver) as rx, udp_socket(*sender) as tx:
        _discover(tx, PMTUDISC_DO)
        tx.connect(rx.getsockname()[:2])
        tx.setblocking(False)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            mtu = min(size, _socket_mtu(tx))
            try:
                tx.send(bytes(mtu - overhead))
                result.tries += 1
            except OSError as e:
                if e.errno not in (errno.EMSGSIZE, errno.ECONNREFUSED):
                    raise
            arrived = readable(rx, 0.1) and len(rx.recv(1 << 16)) == mtu - overhead
            told = _icmp_error(tx)
            if told:
                result.told, result.source = told
            result.learned = _socket_mtu(tx)
            result.fits = arrived and mtu == min(size, result.learned)
            if result.fits and (until is None or result.learned <= until):
                break
            readable(tx, 0.05)  # an error is news
    return result


def udp_arrives(sender, receiver, payload, timeout=3.0, attempts=1):
    """A UDP datagram without DF. IPv6 senders fragment to the path MTU that they know, so the first may have to teach them:
    give them more attempts."""
    with udp_socket(*receiver) as rx, udp_socket(*sender) as tx:
        if tx.family == socket.AF_INET:
            tx.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DONT)
        data = os.urandom(payload)
        for _ in range(attempts):
            tx.sendto(data, rx.getsockname()[:2])
            if readable(rx, timeout / attempts) and rx.recv(1 << 16) == data:
                return True
    return False


def ping(ns, to, source=None, timeout=5):
    """One echo request is answered within the time, of as many as needed."""
    return netns.run("ping", "-n", "-q", "-c", "1", "-w", str(timeout), "-i", "0.2", *(["-I", source] if source else []), to, ns=ns,
                     check=False, timeout=timeout + 5).returncode == 0


# --- broadcasts -------------------------------------------------------------------------------------------------------


class Broadcasts:
    """Numbered broadcast frames from one interface; how many copies of each arrive at others."""

    def __init__(self, sender, *receivers):
        self.token = os.urandom(8)
        self.receivers = {r: Capture(*r) for r in receivers}
        with netns.inside(sender[0]):
            self.tx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.tx.bind((sender[1], 0))
        self.sent = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.tx.close()
        for c in self.receivers.values():
            c.socket.close()

    def send(self, n=1):
        mac = self.tx.getsockname()[4]
        for _ in range(n):
            self.tx.send(b"\xff" * 6 + mac + struct.pack("!H", ETH_P_TEST) + self.token + struct.pack("!I", self.sent) + bytes(40))
            self.sent += 1

    def copies(self, timeout=0.3):
        """{receiver: {number: copies}}"""
        return {who: self._count(c, timeout) for who, c in self.receivers.items()}

    def _count(self, capture, timeout):
        counts = dict.fromkeys(range(self.sent), 0)
        for f in capture.frames(timeout):
            if not f.outgoing and f.ethertype == ETH_P_TEST and f.data[14:22] == self.token:
                counts[struct.unpack_from("!I", f.data, 22)[0]] += 1
        return counts


# --- VXLAN by hand ----------------------------------------------------------------------------------------------------


def send_vxlan(ns, source, to, vni, frame, port=4789):
    """A VXLAN packet as anybody could send it, to a broadcast address too."""
    with udp_socket(ns, source) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(struct.pack("!BBHI", 0x08, 0, 0, vni << 8) + frame, (to, port))


def stray_frame(token):
    """A broadcast frame that carries `token`."""
    return b"\xff" * 6 + b"\x02\x00\x00\x00\x00\x77" + struct.pack("!H", ETH_P_TEST) + token.ljust(46, b"\0")


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "stream":
        sys.exit(f"usage: {pathlib.Path(sys.argv[0]).name} stream JSON")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    result = _stream(json.loads(sys.argv[2]))
    if result is None:
        sys.exit(1)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
