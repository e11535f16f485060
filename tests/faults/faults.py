"""The faults: texts of the product, each with what a mistake would have made of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`old` stands exactly once in the product, in a file of `folder` or below it; `new` takes its place."""

    folder: str
    old: str
    new: str


def _fault(folder: str, old: str, new: str) -> Fault:
    return Fault(folder=folder, old=old, new=new)


FAULTS = (
    _fault("netdiag", "if other.__class__ is self.__class__ else NotImplemented", ""),
    _fault("netdiag", "return self.rank >= other.rank", "return self.rank > other.rank"),
    _fault("netdiag", "if library in distribution.LIBRARIES[extra]:", "if library:"),
    _fault("netdiag", "what = f\"{NAME if PUBLISHED else '.'}{words}\"", 'what = f"{NAME}{words}"'),
    _fault(
        "netdiag",
        "        fail_on=fail_on,\n        config=config,\n        isolated=isolated,\n        baseline=",
        "        config=config,\n        isolated=isolated,\n        baseline=",
    ),
    _fault("netdiag/deployment/model", "host=host[1:-1] if bracketed else host", "host=host"),
    _fault("netdiag/app", "if options.ignore_comments:", "if not options.ignore_comments:"),
    _fault(
        "netdiag/cli",
        "if any(item.error for item in report.inputs) or (require_all and (report.skipped or report.is_cut)):",
        "if any(item.error for item in report.inputs):",
    ),
    _fault("netdiag/cli", "if len(set(files)) < len(files):", "if len(set(files)) < len(files) - 1:"),
    _fault("netdiag/compose", "items=(*left.items, *right.items)", "items=(*right.items, *left.items)"),
    _fault("netdiag/compose", 'end=stop, chars="$", outer=match.span()', 'end=stop, chars="$$", outer=match.span()'),
    _fault(
        "netdiag/config", r'line = data.count(b"\n", 0, error.start) + 1', r'line = data.count(b"\n", 0, error.start)'
    ),
    _fault("netdiag/config/schema", '"per-file-ignores": {', '"per-file-ignore": {'),
    _fault("netdiag/deployment", "return self.known and not self.because", "return self.known or not self.because"),
    _fault(
        "netdiag/deployment/model",
        "if Word.UNKNOWN in (self.predicted.word, self.observed.word):",
        "if Word.UNKNOWN is self.predicted.word:",
    ),
    _fault(
        "netdiag/deployment/observation",
        "if _NAME.search(name) and not _NO_SECRET.search(name):",
        "if _NAME.search(name):",
    ),
    _fault(
        "netdiag/deployment/prediction",
        "if bound.reach in (Reach.EVERYWHERE, Reach.LOOPBACK) and _accepts_family(",
        "if bound.reach is Reach.EVERYWHERE and _accepts_family(",
    ),
    _fault(
        "netdiag/deployment/sources",
        'if not option.startswith("--") and "c" in option:',
        'if option == "-c":',
    ),
    _fault(
        "netdiag/deployment/sources/ci",
        "first = index + 1 if value[index + 1] in '$`\"\\\\' else index",
        "first = index + 1",
    ),
    _fault(
        "netdiag/deployment/sources/kubernetes",
        "beside[key] = None if key in beside else resource",
        "beside[key] = resource",
    ),
    _fault("netdiag/engine", "self.status in (Status.RUNNING, Status.PAUSED)", "self.status is Status.RUNNING"),
    _fault(
        "netdiag/io", "if version is not None and version >= OLDEST:", "if version is not None and version > OLDEST:"
    ),
    _fault("netdiag/io/engine", 'if name in ("", _DEFAULT_CONTEXT):', 'if name == "":'),
    _fault(
        "netdiag/io/files",
        'return "" if self.files[0] == STDIN else os.path.dirname(self.files[0])',
        'return "" if self.files[0] == STDIN else os.path.dirname(self.files[-1])',
    ),
    _fault(
        "netdiag/io/follow",
        "for file in known if file.ended and not _lies(file, seen)",
        "for file in known if file.ended",
    ),
    _fault("netdiag/io/helper_container", "if Right.ENTER.value not in hello.rights:", "if not hello.rights:"),
    _fault("netdiag/io/kernel", "if way is not None and len(self.ways) < _WAYS_KEPT:", "if way is not None:"),
    _fault("netdiag/io", 'mark=f"netdiag lab {lab} {secrets.token_hex(8)}"', 'mark=f"netdiag lab {lab}"'),
    _fault(
        "netdiag/io/network",
        'key=lambda address: ":" in address)[:MOST_ADDRESSES]',
        'key=lambda address: ":" not in address)[:MOST_ADDRESSES]',
    ),
    _fault(
        "netdiag/io/network",
        "if silences and not any(a.lookup is Lookup.NO_SUCH_NAME for a in answers):",
        "if silences and not answers:",
    ),
    _fault("netdiag/io/packets", "        ip = NO_PACKETS\n", "        ip = all_packets()\n"),
    _fault(
        "netdiag/io/spark",
        'known.update(rows.filter(pc.is_valid(rows["topic"]))',
        'known.update(rows.filter(pc.is_null(rows["topic"]))',
    ),
    _fault("netdiag/kafka", 'return f"[{host}]" if ":" in host else host', "return host"),
    _fault(
        "netdiag/kafka",
        'return "://" in name or ";" in name or name.split() != [name]',
        'return "://" in name or name.split() != [name]',
    ),
    _fault("netdiag/kafka/images", 'if generation_8 or environment.get("KAFKA_PROCESS_ROLES"):', "if generation_8:"),
    _fault("netdiag/kafka/protocol", "left_over=reader.end - reader.position", "left_over=0"),
    _fault("netdiag/lsp", 'units += 2 if self._encoding == "utf-16" and ord(character) > 0xFFFF else 1', "units += 1"),
    _fault(
        "netdiag/mcp",
        "found.sort(key=lambda one: (one.works, one.result == Word.UNKNOWN.value))",
        "found.sort(key=lambda one: one.works)",
    ),
    _fault("netdiag/linux", "started=int(fields[19])", "started=int(fields[18])"),
    _fault("netdiag/linux", "return (mapped or address).is_loopback", "return address.is_loopback"),
    _fault(
        "netdiag/linux/filtering",
        "if self.tracked or self.packet.state is ConnectionState.UNTRACKED:",
        "if self.tracked:",
    ),
    _fault("netdiag/linux/netlink", "return number(data) // 8", "return number(data) // 4"),
    _fault("netdiag/linux/nftables", '"proto_dst": "proto-dst",', '"proto_dst": "proto-src",'),
    _fault("netdiag/linux/xtables", 'return self._unpacked("!H", at)', 'return self._unpacked("=H", at)'),
    _fault(
        "netdiag",
        "state = State.OK if found.is_there else otherwise",
        "state = State.OK if found.is_there else State.MISSING",
    ),
    _fault("netdiag/playbook/schema", '"minLength": 8,', '"minLength": 80,'),
    _fault("netdiag/playbook", "(name.isidentifier() and name.isascii())", "name.isidentifier()"),
    _fault(
        "netdiag/playbook",
        "if not all(step in seen and seen[step].looked for step in asked(condition.part) if step):",
        "if not all(step in seen for step in asked(condition.part) if step):",
    ),
    _fault("netdiag/render", "if runs and number == runs[-1][-1] + 1:", "if runs and number >= runs[-1][-1] + 1:"),
    _fault(
        "netdiag/render",
        "if _indent(line) >= indent and not is_its_key:",
        "if _indent(line) > indent and not is_its_key:",
    ),
    _fault(
        "netdiag/render/analysis", "f\"over {duration(row['lag_at_least_ms'])}\"", "duration(row['lag_at_least_ms'])"
    ),
    _fault(
        "netdiag/render/findings",
        "found.append(digest(*essence, str(seen[essence])))",
        "found.append(digest(*essence))",
    ),
    _fault(
        "netdiag/render/findings",
        "return any(a.path == b.path and _overlap(a, b) for a, b in pairwise(ordered))",
        "return any(_overlap(a, b) for a, b in pairwise(ordered))",
    ),
    _fault(
        "netdiag/render/formats",
        'return _data(text).replace(":", "%3A").replace(",", "%2C")',
        'return _data(text).replace(":", "%3A")',
    ),
    _fault(
        "netdiag/render/formats",
        'position |= {"col": str(column), "endColumn": str(max(column, location.end_column))}',
        'position |= {"col": str(column), "endColumn": str(location.end_column)}',
    ),
    _fault(
        "netdiag/render/matrix",
        "own = row.own[0] if row.own and row.own[0] in labels else labels[0]",
        "own = labels[0]",
    ),
    _fault("netdiag/render/matrix", "return (left, right) if straight else (right, left)", "return (left, right)"),
    _fault(
        "netdiag/render/schema",
        '"state": {"enum": ["ok", "limited", "missing"]}',
        '"state": {"enum": ["ok", "missing"]}',
    ),
    _fault(
        "netdiag/render/topology",
        '        if not link.loopback:\n            yield f"    {device_id(',
        '        if link.up:\n            yield f"    {device_id(',
    ),
    _fault(
        "netdiag/render/topology",
        "if chart.nodes > MOST_NODES or len(chart.edges) > MOST_EDGES:",
        "if chart.nodes > MOST_NODES and len(chart.edges) > MOST_EDGES:",
    ),
    _fault("netdiag/rules", "if length > unwanted.get(name, -1)", "if length >= unwanted.get(name, -1)"),
    _fault(
        "netdiag/rules/ci",
        "            finding.service in failing or finding.severity is Severity.NOTE\n",
        "            finding.service in failing\n",
    ),
    _fault("netdiag/rules/compose", 'CODES = frozenset({"deprecated"})', 'CODES = frozenset({"obsolete"})'),
    _fault("netdiag/rules/declared", 'for kind in ("any", address):', "for kind in (address,):"),
    _fault("netdiag/rules/declared", "if clash and {clash[0].name, member.name} & brokers:", "if clash:"),
    _fault("netdiag/rules/kubernetes", "if not _FIRST <= number <= _LAST:", "if not _FIRST <= number < _LAST:"),
    _fault(
        "netdiag/rules/observed",
        "and contact.cluster_id != trap.answered.cluster_id:",
        "and contact.node_id != trap.answered.node_id:",
    ),
    _fault("netdiag/rules/topology", "if len({end.at.netns for end in ends}) > 1:", "if len(ends) > 1:"),
    _fault("netdiag/rules/wire", "if share < _SHARE or share * each.partitions < _FAIR_SHARES:", "if share < _SHARE:"),
    _fault(
        "netdiag/topology",
        'return link.details.get("mode") in ("private", "vepa")',
        'return link.details.get("mode") == "private"',
    ),
    _fault("netdiag/topology", 'name if times == 1 else f"{name} ({times})"', "name"),
    _fault(
        "netdiag/topology/causes", '            return replace(chain, policy="accept")\n', "            return chain\n"
    ),
    _fault("netdiag/topology/path", "<= least:\n            return None\n", "< least:\n            return None\n"),
    _fault(
        "netdiag/topology/path",
        '        if route.type == "throw":\n            return None\n',
        '        if route.type == "throw":\n            continue\n',
    ),
    _fault(
        "netdiag/traffic",
        '"errors": pc.fill_null(pc.not_equal(rows["error_code"], 0), False),\n        "request_bytes"',
        '"errors": pc.fill_null(pc.greater(rows["error_code"], 0), False),\n        "request_bytes"',
    ),
    _fault(
        "netdiag/traffic",
        'self.step.instance_id or self.step.client_id or ""',
        'self.step.client_id or self.step.instance_id or ""',
    ),
    _fault("netdiag/traffic", "if each.last >= advertised.time]", "]"),
    _fault(
        "netdiag/traffic/aggregates",
        'F.when(nothing, F.lit(0.0)).otherwise(_age("_stamp"))',
        'F.when(nothing, F.lit(None)).otherwise(_age("_stamp"))',
    ),
    _fault("netdiag/traffic", 'lengths, words, ":")', 'words, ":")'),
    _fault(
        "netdiag/traffic",
        'F.regexp_replace(F.regexp_replace(address, r":\\d*$", ""), r"[\\[\\]]", "")',
        'F.regexp_replace(address, r":\\d*$", "")',
    ),
    _fault(
        "native/wire/src/capture",
        "word(data, position + length - 4) as usize != length {",
        "word(data, position + 4) as usize != length {",
    ),
    _fault(
        "native/wire/src/capture",
        "const LZ4: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];",
        "const LZ4: [u8; 4] = [0x05, 0x22, 0x4d, 0x18];",
    ),
    _fault(
        "native/wire/src/exchange",
        "orphan.correlation_id == correlation_id && orphan.times.end_time >= since",
        "orphan.correlation_id == correlation_id",
    ),
    _fault(
        "native/wire/src/exchange",
        "self.client_software = Some(rooms.shared(both.trim_end()));",
        "self.client_software = Some(rooms.shared(&both));",
    ),
    _fault("native/wire/src/kafka", "if header.flags & CONTROL == 0 {", "if header.flags & CONTROL != 0 {"),
    _fault("native/wire/src/kafka", "latest = latest.max(header.max_timestamp);", "latest = header.max_timestamp;"),
    _fault(
        "native/wire/src/tcp",
        "self.next + i64::from(sequence.wrapping_sub(self.next32()) as i32)",
        "self.next + i64::from(sequence.wrapping_sub(self.next32()))",
    ),
    _fault("native/wire/src/flow", "if segment.time >= self.next_sweep {", "if segment.time < self.next_sweep {"),
    _fault(
        "native/wire/src/folds",
        ".max(behind_row[UNTIL].cast_signed())",
        ".min(behind_row[UNTIL].cast_signed())",
    ),
)
