"""Counts the cells and levels of circuits that are written out gate by gate, by mapping."""

# The levels that a gate takes in reversible parametrons.
RQFP_LEVELS = {"not": 0, "cnot": 2, "toffoli": 3, "cswap": 5}


class Wrong(Exception):
    pass


def add(cells, kind, count, above):
    old = cells.get(kind, (0, 0))
    cells[kind] = (old[0] + count, old[1] + above)


def levels_of(nodes):
    """The level of each node: one above the highest of those that it reads."""
    out = []
    for _, fanins in nodes:
        out.append(max((out[s // 2] + 1 for s in fanins), default=0))
    return out


def cascade(layout, balanced):
    """The conventional network; with `balanced`, each signal is carried on to the last level that reads it."""
    nodes, levels = layout["nodes"], levels_of(layout["nodes"])
    depth, cells = max(levels), {}
    for (kind, _), level in zip(nodes, levels):
        if kind not in ("zero", "input"):
            add(cells, kind, 1, depth - level)
    if balanced:
        until = list(levels)
        for (_, fanins), level in zip(nodes, levels):
            for s in fanins:
                until[s // 2] = max(until[s // 2], level - 1)
        for s in layout["outputs"]:
            until[s // 2] = depth
        waits = sum(u - l for u, l, (kind, _) in zip(until, levels, nodes) if kind != "zero")
        add(cells, "buffer", waits, 0)
    add(cells, "latch", layout["targets"], 0)
    return depth, cells


def pipeline(layout, takes):
    """Reversible gates as early as their wires allow. A wire that nobody writes on a level takes a stage that carries it on."""
    written, read, first, last = {}, {}, {}, {}
    cells, writes, depth = {}, 0, 0
    for kind, wires in layout["gates"]:
        targets = wires[-2:] if kind == "cswap" else wires[-1:]
        controls = wires[: len(wires) - len(targets)]
        n = takes[kind]
        after = [written.get(w, 0) for w in wires] + [read.get(w, 0) for w in targets]
        level = n + max(after)
        for w in controls:
            read[w] = max(read.get(w, 0), level)
        for w in targets:
            written[w] = level
        if n:
            writes += n * len(targets)
            for w in wires:
                first.setdefault(w, level + 1 - n)
                last[w] = max(last.get(w, 0), level)
        depth = max(depth, level)
        add(cells, kind, 1, 0)
    registers = set(layout["registers"])
    alive = len(registers) * depth + sum(last[w] - first[w] + 1 for w in first if w not in registers)
    add(cells, "buffer", max(alive - writes, 0), 0)
    return depth, cells


def aqfp(layout):
    """Majorities, with buffers and splitters so that all ways are equally long."""
    nodes = layout["nodes"]
    majorities = {}
    for at, (kind, fanins) in enumerate(nodes):
        if kind == "majority":
            majorities[tuple(s // 2 for s in sorted(fanins))] = at
    # A bit is a cell, or None for the constant 0, and whether it is the complement.
    zero, one = (None, False), (None, True)
    cells, source, known = [], [], {}

    def cell(*bits):
        key = tuple(sorted((-1 if made is None else made, complement) for made, complement in bits))
        if key not in known:
            known[key] = len(cells)
            cells.append([made for made, _ in bits if made is not None])
        return known[key], False

    def opposite(bit):
        return bit[0], not bit[1]

    def bit(signal):
        return opposite(source[signal // 2]) if signal % 2 else source[signal // 2]

    for at, (kind, fanins) in enumerate(nodes):
        if kind == "zero":
            made = zero
        elif kind == "input":
            cells.append([])
            made = len(cells) - 1, False
        elif kind == "and":
            made = cell(*map(bit, fanins), zero)
        elif kind == "majority":
            made = cell(*map(bit, fanins))
        else:
            found = full_sum(nodes, majorities, at, fanins)
            if found is None:
                either, both = cell(*map(bit, fanins), one), cell(*map(bit, fanins), zero)
                made = cell(either, opposite(both), zero)
            else:
                x, y, z, majority = found
                inner = cell(bit(x), bit(y), opposite(bit(z)))
                made = cell(opposite(source[majority]), bit(z), inner)
                if (x + y + z) % 2:
                    made = opposite(made)
        source.append(made)
    outputs = [source[s // 2][0] for s in layout["outputs"] if source[s // 2][0] is not None]
    return balanced(cells, outputs)


def full_sum(nodes, majorities, at, fanins):
    """The operands of the exclusive or of three signals whose majority is there as well, as the majority has them, and that."""
    for pair, third in (fanins, fanins[::-1]):
        kind, inner = nodes[pair // 2]
        if kind == "xor":
            majority = majorities.get(tuple(s // 2 for s in sorted(inner + [third])))
            if majority is not None and majority < at:
                own = {s // 2: s for s in nodes[majority][1]}
                return own[inner[0] // 2], own[inner[1] // 2], own[third // 2], majority
    return None


def balanced(cells, outputs):
    used = set(outputs)
    for at in reversed(range(len(cells))):
        if at in used:
            used.update(cells[at])
    fanout = [0] * len(cells)
    for at in used:
        for s in cells[at]:
            fanout[s] += 1
    for s in outputs:
        fanout[s] += 1

    def tree(n):
        levels = 0
        while 4**levels < n:
            levels += 1
        return levels

    level = []
    for operands in cells:
        level.append(max((level[s] + tree(fanout[s]) + 1 for s in operands), default=0))
    top = max((level[s] + tree(fanout[s]) for s in outputs), default=0) + 1
    readers = [[] for _ in cells]
    for at in used:
        for s in cells[at]:
            readers[s].append(level[at])
    for s in outputs:
        readers[s].append(top)
    buffers = 0
    for at, ends in enumerate(readers):
        # From the last reader down, what is on a level comes from a quarter as many splitters below.
        above = 0
        for l in range(max(ends, default=0), level[at] + 1, -1):
            above = -(-(above + ends.count(l)) // 4)
            buffers += above
    found = {}
    add(found, "majority", sum(1 for at in used if cells[at]), 0)
    add(found, "buffer", buffers, 0)
    return max(top - 1, 0), found


def netlist_of(layout, mapping):
    if "network" in layout:
        layout = layout["network"]
        if mapping == "aqfp":
            return aqfp(layout)
        return cascade(layout, mapping == "balanced")
    takes = RQFP_LEVELS if mapping == "rqfp" else dict.fromkeys(RQFP_LEVELS, 1)
    return pipeline(layout["gates"], takes)


def check_netlist(name, given, parts, mapping):
    """Counts the gates of a netlist that is written out; the number of circuits that were counted."""
    if not parts:
        return 0
    depth, cells = 0, {}
    for part in parts:
        d, found = netlist_of(part["layout"], mapping)
        if part["without"]:
            depth = max(depth - d, 0)
            for kind, (n, above) in found.items():
                old = cells.get(kind, (0, 0))
                cells[kind] = (max(old[0] - n, 0), max(old[1] - above, 0))
        else:
            depth += d
            for kind, (n, above) in found.items():
                add(cells, kind, n, above)
    cells = {kind: n for kind, n in cells.items() if n[0] > 0}
    there = {kind: tuple(n) for kind, n in given["cells"].items()}
    if (depth, cells) != (given["levels"], there):
        raise Wrong(f"{name}: the gates are {depth} levels, {cells}, and not {given['levels']} levels, {there}")
    return len(parts)
