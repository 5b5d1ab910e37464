#!/usr/bin/env python3
"""Loads circuits in Qiskit, as OpenQASM 3 and 2.0, and simulates them on all basis states.

Needs: pip install qiskit qiskit-qasm3-import
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
import qiskit
from qiskit import qasm2, qasm3
from qiskit.quantum_info import Operator

ROOT = Path(__file__).resolve().parents[3]
PENDULA = os.environ.get("PENDULA", str(ROOT / "target/debug/pendula"))

# The most qubits of which the whole unitary matrix is made.
QUBITS = 12


def signed(word, width):
    return word - (1 << width) if word >> (width - 1) & 1 else word


def rotated(word, by, width):
    by %= width
    return (word << by | word >> (width - by)) & ((1 << width) - 1)


def exchanged(width, address, a, **memory):
    words = [memory[f"m{n}"] for n in range(len(memory))]
    words[address], a = a, words[address]
    return {"a": a, **{f"m{n}": word for n, word in enumerate(words)}}


# Mnemonic, width, more options, and what becomes of the words, which are keywords; None for a trap.
CASES = [
    ("not", 4, [], lambda w, a: {"a": ~a}),
    ("add", 4, [], lambda w, a, y: {"y": y + a}),
    ("sub", 4, [], lambda w, a, y: {"y": y - a}),
    ("add", 4, ["--direction", "backward"], lambda w, a, y: {"y": y - a}),
    ("add", 3, ["--direction", "both"], lambda w, a, y, backward: {"y": y - a if backward else y + a}),
    ("inc", 4, [], lambda w, a: {"a": a + 1}),
    ("neg", 4, [], lambda w, a: {"a": -a}),
    ("xorand", 3, [], lambda w, a, b, y: {"y": y ^ a & b}),
    ("xornor", 3, [], lambda w, a, b, y: {"y": y ^ ~(a | b)}),
    ("xorplus", 2, [], lambda w, a, b, y: {"y": y ^ a + b}),
    ("xorlt", 3, [], lambda w, a, b, y: {"y": y ^ (signed(a, w) < signed(b, w))}),
    ("xoreq", 3, [], lambda w, a, b, y: {"y": y ^ (a == b)}),
    ("addmul", 2, [], lambda w, a, b, y: {"y": y + a * b}),
    ("swap", 4, [], lambda w, a, b: {"a": b, "b": a}),
    ("rol", 4, [], lambda w, a, n: {"a": rotated(a, n, w)}),
    ("ror", 4, [], lambda w, a, n: {"a": rotated(a, -n, w)}),
    ("zero", 4, [], lambda w, r: {} if r == 0 else None),
    ("assert.le", 4, [], lambda w, a, b: {} if signed(a, w) <= signed(b, w) else None),
    ("exch", 2, ["--memory", "2"], lambda w, **x: exchanged(w, **x) if x["address"] < 2 else None),
    ("from.ne", 3, [], lambda w, a, b, taken: {"taken": taken ^ (a != b)}),
]


def text(mnemonic, width, options, *formats):
    call = [PENDULA, "circuit", mnemonic, "--width", str(width), *options, "--format", *formats]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def check(mnemonic, width, options, meaning):
    three = qasm3.loads(text(mnemonic, width, options, "qasm"))
    two = qasm2.loads(text(mnemonic, width, options, "qasm", "--qasm2"))
    assert three.num_qubits <= QUBITS, f"{mnemonic}: {three.num_qubits} qubits"
    matrix = numpy.abs(Operator(three).data) > 0.5
    assert numpy.array_equal(matrix, numpy.abs(Operator(two).data) > 0.5), f"{mnemonic}: the two texts differ"
    assert (matrix.sum(axis=0) == 1).all() and (matrix.sum(axis=1) == 1).all()
    image = matrix.argmax(axis=0)
    where = {}
    for register in three.qregs:
        name = re.sub("^q_", "", register.name)
        where[name] = (three.find_bit(register[0]).index, register.size)
    carried = [name for name in where if name != "ancilla" and not name.startswith("trap")]

    def read(state, name):
        first, size = where[name]
        return state >> first & ((1 << size) - 1)

    states = 0
    for n in range(1 << sum(where[name][1] for name in carried)):
        state, words = 0, {}
        for name in carried:
            first, size = where[name]
            words[name], n = n & ((1 << size) - 1), n >> size
            state |= words[name] << first
        after = int(image[state])
        expected = meaning(width, **words)
        trapped = any(read(after, name) for name in where if name.startswith("trap"))
        states += 1
        if expected is None:
            assert trapped, f"{mnemonic} {words}: no trap"
            continue
        assert not trapped and ("ancilla" not in where or read(after, "ancilla") == 0), f"{mnemonic} {words}: not clear"
        for name in carried:
            wanted = int(expected.get(name, words[name])) & ((1 << where[name][1]) - 1)
            assert read(after, name) == wanted, f"{mnemonic} {words}: {name} = {read(after, name)}, not {wanted}"
    print(f"ok  {' '.join([mnemonic, *options])}, {width} bits: {three.num_qubits} qubits, {three.size()} gates, {states} states")


def main():
    print(f"Qiskit {qiskit.__version__}")
    for case in CASES:
        check(*case)
    print(f"{len(CASES)} circuits, each as OpenQASM 3 and 2.0")


if __name__ == "__main__":
    sys.exit(main())
