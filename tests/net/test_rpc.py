# SPDX-License-Identifier: GPL-2.0-or-later
"""The RPC of a live fairwayd: who may do what, and that no peer's bytes, however sent, keep it from serving the others."""
import grp
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import pytest

import gateway
import netns
import process
import topo

READER, ADMIN, NOBODY = 471101, 471102, 65534
DEAF_REQUESTS = 20
TEXT = "system: {hostname: rpc-test}\n"

# Runs as another user; says what it is answered.
CLIENT = """
import socket, struct, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(20)
body = sys.stdin.buffer.read()
try:
    s.sendall(struct.pack(">I", len(body)) + body)
except BrokenPipeError:
    pass  # refused before it was read: the answer says why
f = s.makefile("rb")
sys.stdout.buffer.write(f.read(struct.unpack(">I", f.read(4))[0]))
"""


class Daemon:
    """A fairwayd that sees groups "fairway" and "fairway-admin", in a namespace of its own and with a folder that all may enter."""

    def __init__(self):
        self.ns = f"{topo.PREFIX}rpc-{os.getpid()}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fairway-rpc-"))
        self.folder.chmod(0o755)
        self.socket = str(self.folder / "run" / "fairwayd.sock")
        (self.folder / "fairway.yaml").write_text(TEXT, encoding="utf-8")
        groups = "".join(f"{g.gr_name}:x:{g.gr_gid}:\n" for g in grp.getgrall() if not g.gr_name.startswith("fairway"))
        (self.folder / "group").write_text(groups + f"fairway:x:{READER}:\nfairway-admin:x:{ADMIN}:\n", encoding="ascii")
        netns.create(self.ns)
        argv = ["unshare", "--mount", "bash", "-c", 'mount --bind "$0" /etc/group && exec "$@"', self.folder / "group",
                "ip", "netns", "exec", self.ns, gateway.BUILD / "fairwayd", "--config", self.folder / "fairway.yaml",
                "--run-dir", self.folder / "run", "--state-dir", self.folder / "state"]
        self.log = open(self.folder / "log", "wb")
        self.child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        assert process.wait_until(self.answers, 10), (self.folder / "log").read_text()

    def answers(self):
        try:
            return self.call("status")["result"]["converged"]
        except (OSError, KeyError):
            return False

    def close(self):
        self.child.terminate()
        assert self.child.wait(10) == 0, (self.folder / "log").read_text()
        self.log.close()
        netns.delete(self.ns)
        shutil.rmtree(self.folder)

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.socket)
        s.settimeout(20)
        return s

    def call(self, method, **params):
        with self.connect() as s:
            s.sendall(frame(request(method, **params)))
            return receive(s)

    def call_as(self, user, groups, body):
        """What a process of this user and these groups is answered; None if it cannot even connect."""
        done = subprocess.run([sys.executable, "-c", CLIENT, self.socket], input=body, capture_output=True, check=False, timeout=30,
                              user=user, group=NOBODY, extra_groups=groups, cwd="/")
        return json.loads(done.stdout) if done.returncode == 0 else None


def request(method, **params):
    return json.dumps({"version": 1, "id": 5, "method": method, "params": params}).encode()


def frame(body):
    return struct.pack(">I", len(body)) + body


def receive(s):
    """One answer; None if the connection was closed instead."""
    f = s.makefile("rb")
    head = f.read(4)
    return json.loads(f.read(struct.unpack(">I", head)[0])) if len(head) == 4 else None


def read_to_the_end(s):
    data = b""
    try:
        while more := s.recv(65536):
            data += more
    except ConnectionResetError:
        pass  # requests that nobody read any more
    return data


@pytest.fixture(scope="module")
def daemon():
    d = Daemon()
    yield d
    d.close()


# --- roles ------------------------------------------------------------------------------------------------------------


def code(answer):
    return answer["error"]["code"] if "error" in answer else "ok"


@pytest.mark.parametrize("user, groups, look, change", [
    (0, [], "ok", "ok"),
    (NOBODY, [READER], "ok", "permission"),
    (NOBODY, [READER, ADMIN], "ok", "ok"),
], ids=["root", "reader", "admin"])
def test_roles(daemon, user, groups, look, change):
    assert code(daemon.call_as(user, groups, request("show", what="status"))) == look
    assert code(daemon.call_as(user, groups, request("apply", text=TEXT))) == change


def test_anybody_else_does_not_even_connect(daemon):
    assert daemon.call_as(NOBODY, [], request("status")) is None


def test_a_stranger_who_can_connect_is_refused(daemon):
    """the mode of the socket is not what decides"""
    os.chmod(daemon.socket, 0o666)
    try:
        assert code(daemon.call_as(NOBODY, [], request("status"))) == "permission"
    finally:
        os.chmod(daemon.socket, 0o660)


def test_a_readers_request_is_bounded(daemon):
    large = "#" * (1 << 20)
    assert code(daemon.call_as(NOBODY, [READER], request("check", text=TEXT + large))) == "too-large"
    assert code(daemon.call_as(NOBODY, [READER], request("check", text=TEXT + large[:-200]))) == "ok"
    assert code(daemon.call_as(0, [], request("check", text=TEXT + large))) == "ok"


def test_a_reader_is_not_told_whether_a_secret_file_is_there(daemon):
    text = (TEXT + "lines: [{name: a, interface: e, address: 10.0.0.1/30, peer-address: 10.0.0.2, "
            "bgp: {peer-as: 1, password-file: /etc/fairway/secrets/none}}]\nbgp: {as: 2, router-id: 10.0.0.1}\n")
    told = [daemon.call_as(user, groups, request("check", text=text)) for user, groups in ((0, []), (NOBODY, [READER]))]
    assert code(told[0]) == "invalid" and "secrets/none" in json.dumps(told[0])
    assert code(told[1]) == "ok" and "secrets/none" not in json.dumps(told[1])


# --- bytes ------------------------------------------------------------------------------------------------------------


def test_a_request_in_single_bytes_and_three_at_once(daemon):
    with daemon.connect() as s:
        for byte in frame(request("status")):
            s.sendall(bytes([byte]))
        assert receive(s)["id"] == 5
        s.sendall(frame(request("version")) * 3)
        f = s.makefile("rb")
        for _ in range(3):
            assert json.loads(f.read(struct.unpack(">I", f.read(4))[0]))["result"]["rpc"] == 1


@pytest.mark.parametrize("data, want", [
    (frame(b"garbage"), "bad-request"),
    (frame(b"[" * 100000), "bad-request"),
    (frame(b'{"version":1,"id":1,"method":"\xff"}'), "bad-request"),
    (frame(request("nothing")), "unknown-method"),
    (frame(request("show", what="\0")), "bad-request"),
    (frame(request("apply", text=5)), "bad-request"),
    (frame(request("apply", text=TEXT, comment="two\nlines")), "bad-request"),
    (b"\xff\xff\xff\xff", "too-large"),
    (b"\0\0\0\0", None),
], ids=lambda v: str(v)[:24])
def test_nonsense_is_answered_and_hurts_nobody(daemon, data, want):
    with daemon.connect() as s:
        s.sendall(data)
        answer = receive(s)
        assert (answer and answer["error"]["code"]) == want
    assert daemon.answers()


def test_so_many_clients_and_no_more(daemon):
    clients = [daemon.connect() for _ in range(100)]
    served = 0
    for s in clients:
        try:
            s.sendall(frame(request("version")))
            served += receive(s) is not None
        except OSError:
            pass
    for s in clients:
        s.close()
    assert served == 64
    assert process.wait_until(daemon.answers, 2)


def test_whoever_does_not_finish_is_cut_after_ten_seconds(daemon):
    idle, half, deaf = daemon.connect(), daemon.connect(), daemon.connect()
    half.sendall(frame(request("status"))[:10])
    deaf.sendall(frame(request("check", text="\n".join(f"k{i}: 1" for i in range(1000)))) * DEAF_REQUESTS)
    began = time.monotonic()
    while time.monotonic() - began < 8:
        assert daemon.answers(), "others are served meanwhile"
        time.sleep(0.5)
    assert idle.recv(1) == b"" and half.recv(1) == b""
    assert 9 < time.monotonic() - began < 12
    # What fitted into the socket is there; the rest never comes.
    answers = read_to_the_end(deaf)
    size = struct.unpack(">I", answers[:4])[0] + 4
    assert size > 100000 and 0 < len(answers) < DEAF_REQUESTS * size
    for s in (idle, half, deaf):
        s.close()


def test_a_second_daemon_is_refused_with_the_pid_of_the_first(daemon):
    done = subprocess.run([gateway.BUILD / "fairwayd", "--config", daemon.folder / "fairway.yaml", "--run-dir", daemon.folder / "run",
                           "--state-dir", daemon.folder / "state"], capture_output=True, text=True, check=False, timeout=10)
    assert done.returncode == 1
    assert f"pid {daemon.child.pid} already" in done.stderr


@pytest.mark.parametrize("option", [[], ["--teardown"]], ids=["run", "teardown"])
def test_one_daemon_per_network_namespace(daemon, tmp_path, option):
    argv = [gateway.BUILD / "fairwayd", "--instance", "other", "--config", daemon.folder / "fairway.yaml", "--run-dir", tmp_path / "run",
            "--state-dir", tmp_path / "state", *option]
    done = netns.run(*argv, ns=daemon.ns, check=False, timeout=10)
    assert done.returncode == 1
    assert f"pid {daemon.child.pid}, another fairwayd, already" in done.stderr
    look = netns.run(*argv[:5], "--dry-run", ns=daemon.ns, timeout=10)
    assert look.returncode == 0, "whoever only looks is not refused"


def test_a_strangers_claim_to_the_network_namespace_counts_for_nothing(tmp_path):
    ns = f"{topo.PREFIX}claim-{os.getpid()}"
    hold = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind('\\0fairwayd'); s.listen(); print('held', flush=True); "
            "sys.stdin.read()")
    netns.create(ns)
    try:
        with netns.inside(ns):
            stranger = subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=NOBODY, cwd="/")
        with stranger:
            assert stranger.stdout.readline() == b"held\n"
            done = netns.run(gateway.BUILD / "fairwayd", "--run-dir", tmp_path / "run", "--teardown", ns=ns)
            assert f"user {NOBODY}, pid {stranger.pid}, holds" in done.stderr
            stranger.stdin.close()
    finally:
        netns.delete(ns)


def test_signals_that_ask_for_nothing_change_nothing(daemon):
    for s in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE):
        daemon.child.send_signal(s)
        assert daemon.answers(), s
    assert daemon.child.poll() is None


def test_it_has_given_up_what_it_does_not_need(daemon):
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{daemon.child.pid}/status").read_text(encoding="ascii").splitlines()
                  if ":\t" in line)
    net_admin = f"{1 << 12:016x}"
    assert {status[k] for k in ("CapPrm", "CapEff", "CapBnd")} == {net_admin}
    assert status["CapAmb"].strip("0") == "" and status["NoNewPrivs"] == "1"
