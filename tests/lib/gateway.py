# SPDX-License-Identifier: GPL-2.0-or-later
"""A fairwayd in a namespace, with its files in one folder, and the fairway command that talks to it."""
import json
import os
import pathlib
import subprocess

import process

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FAIRWAY_BUILD", ROOT / "build"))

PROCESS_FILE = "process.json"  # whose fairwayd runs, for other processes of the lab

OK, REFUSED, USAGE, ROLLED_BACK, BROKEN, NO_DAEMON = range(6)


class GatewayError(RuntimeError):
    """The gateway did not come to the state that was waited for."""


class Gateway:
    """FOLDER/fairway.yaml, log, run/ (socket), state/ (revisions)."""

    def __init__(self, ns, folder, instance):
        self.ns, self.folder, self.instance = ns, pathlib.Path(folder), instance
        self.config_file = self.folder / "fairway.yaml"
        self.log_file = self.folder / "log"
        self.child = None  # Popen, where this process started it
        self.who = self._saved_process()

    # --- the process ---

    def _saved_process(self):
        try:
            return json.loads((self.folder / PROCESS_FILE).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def install(self, text):
        """Puts the config file in place; what the next start boots with."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config_file.write_text(text, encoding="utf-8")

    def start(self):
        program = BUILD / "fairwayd"
        if not program.exists():
            raise GatewayError(f"{program} is missing: run make first")
        argv = ["ip", "netns", "exec", self.ns, program, "--config", self.config_file, "--instance", self.instance,
                "--run-dir", self.folder / "run", "--state-dir", self.folder / "state"]
        with open(self.log_file, "ab") as log:
            self.child = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          start_new_session=True)
        self.who = process.identity(self.child.pid)
        (self.folder / PROCESS_FILE).write_text(json.dumps(self.who), encoding="ascii")
        return self

    def boot(self, timeout=20):
        self.start()
        return self.wait_converged(timeout)

    def stop(self, patience=10):
        if self.who:
            process.stop(self.who, self.child, patience)
        self.child = self.who = None

    def kill(self):
        """kill -9, and gone."""
        self.child.kill()
        self.child.wait()
        self.child = self.who = None

    def running(self):
        return bool(self.who) and not process.gone(self.who, self.child)

    # --- the command ---

    def command(self, *args):
        return [str(BUILD / "fairway"), "--run-dir", str(self.folder / "run"), *[str(a) for a in args]]

    def call(self, *args, timeout=60):
        """The fairway command; the CompletedProcess, whatever its exit code."""
        return subprocess.run(self.command(*args), capture_output=True, text=True, timeout=timeout, check=False)

    def show(self, what, *name):
        """`fairway --json show WHAT [NAME]`, decoded."""
        done = self.call("--json", "show", what, *name)
        if done.returncode != OK:
            raise GatewayError(f"show {what}: exit {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def status(self):
        """`show status`, or None while nobody answers."""
        done = self.call("--json", "show", "status")
        return json.loads(done.stdout) if done.returncode == OK else None

    def apply(self, text, expect=OK, timeout=60):
        """Applies a config given as text. The exit code has to be `expect` (None: any). Returns the CompletedProcess."""
        path = self.folder / "candidate.yaml"
        path.write_text(text, encoding="utf-8")
        done = self.call("apply", path, timeout=timeout)
        if expect is not None and done.returncode != expect:
            raise GatewayError(f"{self.instance}: apply: exit {done.returncode} and not {expect}:\n{done.stdout}{done.stderr}")
        return done

    def plan(self):
        """What it would do now to be what its config says; empty on a converged gateway."""
        return plan_steps(self.show("plan"))

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    # --- states ---

    def wait_converged(self, timeout=20):
        def state():
            if not self.running():
                raise GatewayError(f"fairwayd of {self.instance} ended:\n{self.log()[-2000:]}")
            status = self.status()
            return status and status["converged"]
        if not process.wait_until(state, timeout, 0.02):
            raise GatewayError(f"{self.instance} did not converge: {self.status()}\n{self.log()[-2000:]}")
        return self


def plan_steps(plan):
    """The steps of a plan in JSON, conflicts included."""
    return plan["steps"] + plan.get("conflicts", [])
