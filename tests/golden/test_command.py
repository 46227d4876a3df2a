# SPDX-License-Identifier: GPL-2.0-or-later
"""What the commands answer without a daemon: exit codes, help, the offline check. No root, no namespaces."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FAIRWAY_BUILD", ROOT / "build"))
GOOD = ROOT / "config" / "examples" / "good" / "idc-gateway.yaml"
COMMANDS = ["apply", "check", "diff", "plan", "policy", "show", "status", "version"]
OK, REFUSED, USAGE, ROLLED_BACK, BROKEN, NO_DAEMON = range(6)


def run(program, *args, text=None):
    return subprocess.run([BUILD / program, *map(str, args)], input=text, capture_output=True, check=False, timeout=20)


@pytest.mark.parametrize("args, code", [
    ([], USAGE),
    (["nonsense"], USAGE),
    (["--nonsense"], USAGE),
    (["show"], USAGE),
    (["show", "nonsense"], USAGE),
    (["show", "status", "more"], USAGE),
    (["apply"], USAGE),
    (["policy", "test", "from", "a"], USAGE),
    (["policy", "test", "from", "a", "too", "b", "service", "tcp/1"], USAGE),
    (["--run-dir", "/nonexistent", "policy", "test", "from", "a", "to", "b", "service", "tcp/1"], NO_DAEMON),
    (["check", GOOD, "--comment", "x"], USAGE),
    (["--version"], OK),
    (["version"], OK),
    (["--help"], OK),
    (["check", GOOD], OK),
    (["check", "/nonexistent"], REFUSED),
    (["apply", "/nonexistent"], REFUSED),
    (["--run-dir", "/nonexistent", "show", "status"], NO_DAEMON),
    (["--run-dir", "/nonexistent", "apply", GOOD], NO_DAEMON),
    (["--run-dir", "/" + 200 * "x", "status"], NO_DAEMON),
], ids=lambda v: " ".join(map(str, v)).replace(str(ROOT), "")[:40] if isinstance(v, list) else str(v))
def test_exit_codes(args, code):
    done = run("fairway", *args)
    assert done.returncode == code, done
    assert (code == OK) == (not done.stderr), "whoever fails says why, and nobody else says anything"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(command):
    done = run("fairway", command, "--help")
    assert done.returncode == OK and f"usage: fairway [OPTION]... {command}".encode() in done.stdout


def test_help_knows_all_commands_and_the_manual_too():
    said = run("fairway", "--help").stdout.decode()
    listed = said.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    manual = (ROOT / "docs" / "man" / "fairway.1").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f".It Cm {command}" in manual
    topics = [line.split()[0] for line in run("fairway", "show", "--help").stdout.decode().split("WHAT is one of:\n")[1].split("\n\n")[0].splitlines()]
    for topic in topics:
        assert f".It Cm show {topic}" in manual, topic
    completion = (ROOT / "docs" / "completion" / "fairway.bash").read_text(encoding="utf-8")
    assert f'"{" ".join(COMMANDS)}"' in completion and f'"{" ".join(topics)}"' in completion


def test_check_of_standard_input_in_json():
    done = run("fairway", "--json", "check", "-", text=b"system: {hostnam: x}\n")
    answer = json.loads(done.stdout)
    assert done.returncode == REFUSED and answer["valid"] is False
    assert {"line": 1, "column": 10} in [{k: d[k] for k in ("line", "column")} for d in answer["diagnostics"]]
    assert done.stderr.startswith(b"-:1:")


@pytest.mark.parametrize("text", [b"", b"\x00\x01", b"system: \xff\n", b"- 1\n"])
def test_what_is_no_text_is_refused_before_it_is_sent_or_by_the_check(text):
    for command in ("check", "apply"):
        done = run("fairway", "--run-dir", "/nonexistent", command, "-", text=text)
        assert done.returncode in (REFUSED, NO_DAEMON)
        assert command == "apply" or done.stderr.startswith(b"-:")


def test_the_daemons_check_agrees():
    assert run("fairwayd", "--check", "--config", GOOD).returncode == 0
    bad = run("fairwayd", "--check", "--config", "/dev/null")
    assert bad.returncode == 1 and bad.stderr == b"/dev/null: error: not a regular file\n"
    assert run("fairwayd", "--instance", "../x").returncode == 2
    assert run("fairwayd", "--version").stdout == b"fairwayd" + run("fairway", "--version").stdout[7:]


def test_a_pipe_is_a_file_for_the_command_and_none_for_the_daemon(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert run("fairwayd", "--check", "--config", pipe).stderr.endswith(b"not a regular file\n"), "without a writer"
    with subprocess.Popen(["cp", GOOD, pipe]) as writer:
        assert run("fairway", "check", pipe).returncode == OK
    assert writer.returncode == 0


@pytest.mark.parametrize("argv", [["fairway", "--help"], ["fairway", "check", GOOD], ["fairway", "--json", "version"], ["fairwayd", "--help"]],
                         ids=lambda v: " ".join(map(str, v[:2])))
def test_output_that_cannot_be_written_is_a_failure(argv):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([BUILD / argv[0], *argv[1:]], stdout=full, stderr=subprocess.PIPE, check=False, timeout=20)
    assert done.returncode == 1 and done.stderr.endswith(b": the output could not be written\n")
