# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces from Python: step into one for a moment, run a command in one, keep a socket of one.

The one idea: setns(2) concerns the calling thread, and a socket stays in the namespace that it was made in. So one process can
hold sockets of a client, a server and everything between, and needs no helper programs.
"""
import contextlib
import ctypes
import os
import pathlib
import subprocess

NETNS_DIR = pathlib.Path("/run/netns")
CLONE_NEWNET = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


class CommandError(RuntimeError):
    """A command that had to succeed did not; the message has what it said."""


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET) != 0:
        err = ctypes.get_errno()
        raise OSError(err, os.strerror(err), "setns")


@contextlib.contextmanager
def inside(name):
    """This thread is in the namespace `name` within the block; what it starts there, starts there."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(NETNS_DIR / name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _setns(home)
    finally:
        os.close(home)


def run(*argv, ns=None, check=True, stdin=None, timeout=60):
    """Runs a command, in namespace `ns` if given. Returns the CompletedProcess, its output as text."""
    argv = [str(a) for a in argv]
    with inside(ns) if ns else contextlib.nullcontext():
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise CommandError(f"{' '.join(argv)}{f' in {ns}' if ns else ''}: exit {done.returncode}: {said}")
    return done


def ip(ns, text):
    """`ip` commands, one a line, as one batch in namespace `ns`."""
    run("ip", "-batch", "-", ns=ns, stdin=text)


def nft(ns, text):
    """nft commands, as one transaction."""
    run("nft", "-f", "-", ns=ns, stdin=text)


def sysctl(ns, key, value=None):
    """Reads, or sets, a sysctl of a namespace; the key as a path: net/ipv4/ip_forward."""
    with inside(ns):
        path = pathlib.Path("/proc/sys") / key
        if value is None:
            return path.read_text(encoding="ascii").strip()
        path.write_text(f"{value}\n", encoding="ascii")
        return str(value)


def create(name):
    run("ip", "netns", "add", name)
    ip(name, "link set lo up\n")


def delete(name):
    """Fine if there is none."""
    if exists(name):
        run("ip", "netns", "del", name)


def exists(name):
    return (NETNS_DIR / name).exists()


def with_prefix(prefix):
    if not NETNS_DIR.is_dir():
        return []
    return sorted(p.name for p in NETNS_DIR.iterdir() if p.name.startswith(prefix))


def pids(name):
    """Processes in a namespace, without this one, which steps into many."""
    return [int(p) for p in run("ip", "netns", "pids", name).stdout.split() if int(p) != os.getpid()]
