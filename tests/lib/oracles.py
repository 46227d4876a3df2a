# SPDX-License-Identifier: GPL-2.0-or-later
"""Configs before two judges that are not ours: yanglint with docs/fairway.yang, jsonschema with docs/fairway.schema.json.

A bad example is theirs to refuse if its fault lies in the schema: one value, one key, one reference. What is wrong only
between values is a subsystem's rule, and there both have to accept the file, or the exports say more than the program.
"""
import copy
import json
import pathlib
import re
import subprocess

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = sorted((ROOT / "config/examples/good").glob("*.yaml"))
BAD = sorted((ROOT / "config/examples/bad").glob("*.yaml"))
YANG = ROOT / "docs/fairway.yang"
SCHEMA = ROOT / "docs/fairway.schema.json"
FAIRWAY = ROOT / "build/fairway"


class Unreadable(Exception):
    """What no data model sees: the text is no YAML, or YAML that we do not take."""


class Loader(yaml.SafeLoader):
    """YAML 1.2 as Fairway reads it: true, false, plain decimal numbers and nothing; all else is text."""
    yaml_implicit_resolvers = {}

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise Unreadable("an alias, an anchor or a tag")
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        if not all(isinstance(key, yaml.ScalarNode) for key, _ in node.value):
            raise Unreadable("a key that is no word")
        keys = [key.value for key, _ in node.value]
        if len(set(keys)) != len(keys):
            raise Unreadable("a key given twice")
        return super().construct_mapping(node, deep)


Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^(?:0|[1-9][0-9]*)$"), list("0123456789"))
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])


def load(file):
    try:
        return yaml.load(file.read_bytes(), Loader)
    except (yaml.YAMLError, RecursionError, UnicodeError) as e:
        raise Unreadable(str(e)) from e


# ---- judges: None if they accept, else what they say --------------------------------------------------------------------

def rfc7951(data):
    """The module's name before each key at the top. A leaf is a scalar in YANG, so mss: {ipv4: , ipv6: } is its text."""
    if not isinstance(data, dict):
        return data
    data = copy.deepcopy(data)
    for segment in data.get("segments") or [] if isinstance(data.get("segments"), list) else []:
        mss = segment.get("mss") if isinstance(segment, dict) else None
        if isinstance(mss, dict):
            order = sorted(mss, key=str)
            segment["mss"] = "{" + ", ".join(f"{k}: {mss[k]}" for k in order) + "}"
    return {f"fairway:{key}": value for key, value in data.items()}


def yang_refusal(data, tmp_path):
    file = tmp_path / "data.json"
    file.write_text(json.dumps(rfc7951(data)))
    r = subprocess.run(["yanglint", "-t", "config", str(YANG), str(file)], capture_output=True, text=True)
    return None if r.returncode == 0 else r.stderr


def json_schema_refusal(data, _tmp_path=None):
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(data)]
    return "\n".join(errors) or None


def fairway_refusal(data, tmp_path):
    """Fairway itself; JSON is YAML."""
    file = tmp_path / "fairway.yaml"
    file.write_text(json.dumps(data))
    r = subprocess.run([str(FAIRWAY), "check", str(file)], capture_output=True, text=True)
    assert r.returncode in (0, 1), r.stderr
    return None if r.returncode == 0 else r.stderr + r.stdout


# ---- whose fault is it --------------------------------------------------------------------------------------------------

# The schema's own messages (config/decode.c, config/config.c): of the document, of keys, of values. The place before a
# value's message is a path of keys, "lines[ali-a].bfd: "; a subsystem's begins with an object, "line ali-a: ". What kind
# of file a secret is in, nobody can see in the config.
_PLACE = r"[a-z0-9-]+(?:\[(?:\"[^\"]*\"|[^\]\"]*)\])?(?:\.[a-z0-9-]+(?:\[(?:\"[^\"]*\"|[^\]\"]*)\])?)*: "
SCHEMA_MESSAGE = re.compile(
    r": error: (?:the file is empty|more than \d+ levels of nesting|unknown key "
    rf"|(?:{_PLACE})?(?:\"[\w-]+\" is missing \(|.* is not a mapping of )"
    rf"|{_PLACE}(?:.* is not (?!a regular file|an address that a host can own)|.* is listed twice; |.* is there twice; |has no value; |.* in quotes is a text; |is empty; |there is no ))")


def faults(file):
    """Error lines of the expected diagnostics: the schema's, and all."""
    lines = [line for line in file.with_suffix(".expected").read_text().splitlines() if ": error: " in line]
    return [line for line in lines if SCHEMA_MESSAGE.search(line)], lines


# ---- the good example, each time with one fault -------------------------------------------------------------------------

def _set(*path_and_value):
    *path, key, value = path_and_value

    def change(data):
        for step in path:
            data = data[step]
        data[key] = value
    return change


def _del(*path):
    def change(data):
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]
    return change


def _append(*path_and_value):
    *path, value = path_and_value

    def change(data):
        for step in path:
            data = data[step]
        data.append(value)
    return change


# name: (change, refused by YANG, refused by the JSON Schema); Fairway refuses all of them.
FAULTS = {
    "unknown key at the top": (_set("sistem", {}), True, True),
    "unknown key": (_set("lines", 0, "mtuu", 1500), True, True),
    "number too small": (_set("segments", 0, "vni", 0), True, True),
    "number too large": (_set("segments", 0, "vni", 16777216), True, True),
    "negative number": (_set("segments", 0, "ttl", -1), True, True),
    "number in quotes": (_set("segments", 0, "vni", "10010"), True, True),
    "text for a number": (_set("segments", 0, "vni", "ten"), True, True),
    "number for a truth value": (_set("vtep", "assign", 1), True, True),
    "text for a truth value": (_set("vtep", "assign", "true"), True, True),
    "no such word": (_set("segments", 0, "mode", "switched"), True, True),
    "auto or number": (_set("segments", 0, "mtu", "automatic"), True, True),
    "auto or number too small": (_set("segments", 0, "mtu", 1), True, True),
    "auto in quotes is a number": (_set("segments", 0, "mtu", "1500"), True, True),
    "tos too large": (_set("segments", 0, "tos", 256), True, True),
    "mss word": (_set("segments", 0, "mss", "clamp"), True, True),
    "mss unknown family": (_set("segments", 0, "mss", {"ipv5": 1400}), True, True),
    "name with a blank": (_set("lines", 0, "name", "a b"), True, True),
    "name too long": (_set("lines", 1, "name", "n" * 64), True, True),
    "text too long": (_set("lines", 0, "description", "x" * 257), True, True),
    "interface name too long": (_set("lines", 0, "interface", "ethernet12345678"), True, True),
    "rate without unit": (_set("lines", 0, "rate", 10), True, True),
    "rate of no such unit": (_set("lines", 0, "rate", "10gb"), True, True),
    "time without unit": (_set("lines", 0, "bfd", {"interval": "50"}), True, True),
    "percentage without sign": (_set("lines", 0, "sla", {"loss": "0.1"}), True, True),
    "address octet": (_set("vtep", "address", "10.255.0.256"), True, True),
    "address of words": (_set("vtep", "address", "localhost"), True, True),
    "address without length": (_set("lines", 0, "address", "172.31.0.1"), True, True),
    "length too large": (_set("lines", 0, "address", "172.31.0.1/33"), True, True),
    "relative path": (_set("lines", 0, "bgp", {"peer-as": 65000, "password-file": "a.md5"}), True, True),
    "required key missing": (_del("segments", 0, "vni"), True, True),
    "required key missing below": (_set("lines", 0, "bgp", {}), True, True),
    "key of an entry missing": (_del("lines", 0, "name"), True, True),
    "section missing": (_del("system"), True, True),
    "mapping for a list": (_set("interfaces", {"name": "eth0"}), True, True),
    "list for a mapping": (_set("vtep", [{"address": "10.255.0.1"}]), True, True),
    "scalar for a list": (_set("segments", 0, "members", "eth2"), True, True),
    "list for a scalar": (_set("segments", 0, "vni", [10010]), True, True),
    "nothing": (_set("segments", 0, "vni", None), True, True),
    "required list empty": (_set("remotes", 0, "lines", []), True, True),
    "value listed twice": (_append("segments", 0, "members", "eth2"), True, True),
    "reference to nothing": (_append("remotes", 0, "lines", "ali-z"), True, False),
    "entry twice": (lambda d: d["lines"].append(dict(d["lines"][0])), True, False),
    # A pattern knows digits, not sizes: these are the program's to refuse.
    "time out of bounds": (_set("lines", 0, "bfd", {"interval": "2m"}), False, False),
    "rate out of bounds": (_set("lines", 0, "rate", "1kbit"), False, False),
    "network with host bits": (_set("segments", 1, "routes", 0, "prefix", "10.30.0.1/16"), False, False),
    "address of no host": (_set("vtep", "address", "224.0.0.1"), False, False),
    "IPv6 groups": (_set("vtep", "address", "fd00:1:2:3:4:5:6:7:8"), False, False),
    "path upwards": (_set("lines", 0, "bgp", {"peer-as": 65000, "password-file": "/etc/../a"}), False, False),
    "no such policy": (lambda d: d.update({"bgp": {
        "as": 65001, "neighbors": [{"name": "a", "interface": "eth0", "peer-as": 65001, "policy-in": "p"}]}}), True, False),
}

# The good example, each time with something unusual that is right; all judges accept.
VARIATIONS = {
    "as it is": lambda d: None,
    "mss per family": _set("segments", 0, "mss", {"ipv4": 1400, "ipv6": 1380}),
    "mss of one family": _set("segments", 0, "mss", {"ipv6": 1380}),
    "mss off": _set("segments", 0, "mss", 0),
    "mss number": _set("segments", 0, "mss", 1380),
    "tos number": _set("segments", 0, "tos", 0),
    "empty presence": _set("lines", 0, "bfd", {}),
    "all of a line": lambda d: d.update(bgp={"as": 65001}) or d["lines"][0].update(
        {"bgp": {"peer-as": 4294967294, "hold-time": "9s"}, "sla": {"latency": "2ms", "jitter": "200us", "loss": "0.1%"},
         "path-mtu": 1400, "enabled": False, "description": "北京: \"a\" # b"}),
    "MAC entries": _set("segments", 0, "macs", [{"mac": "02:00:00:00:00:0A", "remote": "ali-bj"}]),
    "empty lists": lambda d: d["segments"][0].update({"macs": [], "routes": []}),
    "tenants": lambda d: d.update({"bgp": {"as": 65001}, "tenants": [{"name": "training", "table": 1001, "l3-vni": 50001}]}),
    "policies": lambda d: d.update({"bgp": {
        "as": 65001, "neighbors": [{"name": "a", "interface": "eth0", "peer-as": 65001, "policy-in": "p", "families": ["evpn"]}],
        "prefix-lists": [{"name": "l", "entries": [{"seq": 1, "prefix": "0.0.0.0/0", "le": 32}]}],
        "community-sets": [{"name": "s", "communities": ["1:2", "1:2:3", "local-AS"]}],
        "policies": [{"name": "p", "rules": [{"seq": 1, "prefix-list": "l", "community-set": "s"}]}]}}),
}


def example_with(change):
    data = load(ROOT / "config/examples/good/idc-gateway.yaml")
    change(data)
    return data
