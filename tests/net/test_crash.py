# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 of fairwayd at any moment of an apply: after the next start it is the old or the new config, and what both have never stops."""
import contextlib
import os
import random
import subprocess
import time

import kernel
import probe
import process
import sites

ROUNDS = int(os.environ.get("FAIRWAY_CRASH_ROUNDS", "30"))
END = 60  # seconds: later than the end of any apply
STREAMS = ("lan-ipv4", "net-ipv4", "lan6-ipv6", "net6-ipv6")


def old():
    return sites.gateway_config("gw1")


def new():
    """Differs by creations, removals and changes of all kinds, around the segments that both have."""
    config = sites.gateway_config("gw1")
    config["segments"] += sites.many_segments(40)
    config["remotes"].append({"name": "new", "vtep": "10.255.7.1", "lines": ["line-a"]})
    for s in config["segments"][4:40]:
        s["remotes"] = ["far", "new"]
    sites.segment(config, "lan").update(ttl=32, mss={"ipv4": 1400, "ipv6": 1380})
    sites.segment(config, "net")["routes"].append({"prefix": "10.66.0.0/16", "via": "10.254.2.2"})
    return config


def state_after(gw, text):
    gw.apply(text)
    return kernel.snapshot(gw.ns)


def apply_time(gw, text):
    begin = time.monotonic()
    gw.apply(text)
    return time.monotonic() - begin


def test_kill_at_any_moment_of_an_apply_ends_in_the_old_or_the_new_config(pair):
    gw = pair.gw1
    texts = [sites.text(old()), sites.text(new())]
    states = [state_after(gw, t) for t in texts]
    spans = [apply_time(gw, t) * 1.2 for t in texts]  # of each way, and a little beyond its end: removing takes longer
    seed = int(os.environ.get("FAIRWAY_SEED", random.randrange(1 << 31)))
    print(f"FAIRWAY_SEED={seed}, apply takes {spans[0]:.3f} s back and {spans[1]:.3f} s there")
    rng = random.Random(seed)
    running, ends = 1, {"old": 0, "new": 0}
    with probe.Stream(*pair.flows(*STREAMS)) as stream:
        for n in range(ROUNDS):
            wanted = 1 - running
            # Each third is killed when it has just ended, so that both directions are gone through.
            delay = END if n % 3 == 2 else rng.uniform(0, spans[wanted])
            now = kill_during_apply(gw, texts[wanted], delay, states)
            assert now is not None, f"round {n}, killed after {delay:.4f} s, is neither:\n" + "\n--\n".join(
                "\n".join(kernel.difference(s, kernel.snapshot(gw.ns))[:10]) for s in states)
            ends["new" if now == wanted else "old"] += 1
            running = now
        result = stream.stop(at_least=200)
    assert probe.lost(result) == 0, (result, seed)
    assert ends["old"] and ends["new"], f"all rounds ended alike ({ends}): the moments were badly chosen"


def kill_during_apply(gw, text, delay, states):
    """Which of `states` (by number) the machine is in after the next start; None if it is none of them."""
    path = gw.folder / "candidate.yaml"
    path.write_text(text, encoding="utf-8")
    client = subprocess.Popen(gw.command("apply", path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        client.wait(delay)
    gw.kill()
    client.wait(10)
    gw.boot()
    assert not gw.plan()

    def which():
        now = kernel.snapshot(gw.ns)
        return [i for i, s in enumerate(states) if not kernel.difference(s, now)]
    found = process.wait_until(which, 2)
    return found[0] if found else None


def test_file_and_revision_agree_after_a_kill(pair):
    """what the next boot reads is what runs"""
    gw = pair.gw1
    texts = [sites.text(old()), sites.text(new())]
    gw.apply(texts[0])
    for delay in (0.005, 0.02, 0.05, 0.1):
        path = gw.folder / "candidate.yaml"
        path.write_text(texts[1], encoding="utf-8")
        with subprocess.Popen(gw.command("apply", path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            time.sleep(delay)
            gw.kill()
        gw.boot()
        on_disk = gw.config_file.read_text(encoding="utf-8")
        assert on_disk in texts
        assert "nothing to do" in gw.apply(on_disk).stdout
        gw.apply(texts[0])
