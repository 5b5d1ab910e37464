#!/usr/bin/env python3
"""Computes energy bills again, from what `pendula energy FILE --tech … --netlists OUT.json` writes.

Nothing of the model is used: only the figures of the technology's file, the conditions, how often each unit was used, and the netlists, of which
those that are written out gate by gate are counted again here. The formulas are written from the definitions in the book's chapter on energy.

    recompute.py [--verbose] FILE.json…

Prints a line for each bill, and exits with 1 if one differs by more than 1e-9 of it, or a netlist by anything.
"""

import json
import math
import sys

from netlists import Wrong, check_netlist

TOLERANCE = 1e-9
BOLTZMANN = 1.380649e-23
CHARGE = 1.602176634e-19
# Transistors of cells of static CMOS, by which published energies are scaled.
TRANSISTORS = dict(zip("and xor majority latch buffer not cnot toffoli cswap".split(), (6, 10, 12, 16, 4, 2, 12, 16, 24)))
# The reversible gates of parametrons of which a gate is made.
RQFP_GATES = {"cnot": 2, "toffoli": 3, "cswap": 7}


class Bill:
    """A bill under one technology: each kind of cost is a method, which adds joules by cause."""

    def __init__(self, data):
        self.data = data
        self.settings, self.counts, self.conditions = data["settings"], data["counts"], data["conditions"]
        self.figure = {key: figure["nominal"] for key, figure in data["figures"].items()}
        self.discipline, self.mapping = self.settings["discipline"], self.settings["mapping"]
        self.joules = {}
        self.hertz, self.kelvin = self.conditions["hertz"], self.conditions["kelvin"]
        self.volt, self.tau, self.ratio = self.transistors()
        self.datapath = self.datapath_size()
        self.checked = 0

    def get(self, key, default=None):
        value = self.figure.get(key, default)
        if value is None:
            raise Wrong(f"no figure {key}")
        return value

    def charge(self, cause, joules):
        self.joules[cause] = self.joules.get(cause, 0.0) + joules

    # Devices.

    def transistors(self):
        """The supply voltage, the time constant and I_off/I_on at the voltage and temperature of the conditions."""
        if "adiabatic.supply_volt" not in self.figure:
            return 0.0, 0.0, 0.0
        v0, tau, ratio = (self.get("adiabatic." + k) for k in ("supply_volt", "time_constant_second", "leakage_ratio"))
        volt, t0 = self.conditions["volt"], self.get("conditions.temperature_kelvin")
        if volt == v0 and self.kelvin == t0:
            return volt, tau, ratio
        g = lambda key: self.get("scaling." + key)
        vt0 = g("threshold_volt")
        vt = vt0 - g("threshold_volt_per_kelvin") * (self.kelvin - t0)
        on = ((volt - vt) / (v0 - vt0)) ** g("alpha")

        def exponent(threshold, v, t):
            return -(threshold - g("barrier_lowering") * v) / (g("subthreshold_slope") * BOLTZMANN * t / CHARGE)

        off = (self.kelvin / t0) ** 2 * math.exp(exponent(vt, volt, self.kelvin) - exponent(vt0, v0, t0))
        off = g("leakage_floor") + (1 - g("leakage_floor")) * off
        return volt, tau * (volt / v0) / on, ratio * off / on

    def landauer(self):
        return BOLTZMANN * self.kelvin * math.log(2)

    def weigh(self, cells, table):
        """The sum of a figure over the cells of a netlist."""
        return math.fsum(n * table(kind) for kind, (n, _) in cells["cells"].items())

    def farad(self, kind):
        return self.get("gate_farad." + kind)

    def junctions(self, kind):
        gate, buffer = self.get("junction.gate_junctions"), self.get("junction.buffer_junctions")
        if self.discipline == "aqfp":
            return {"majority": gate, "buffer": buffer}[kind]
        return buffer if kind == "buffer" else RQFP_GATES.get(kind, 0) * gate

    def published(self, unit):
        """A published energy, in the ratio of the transistors."""
        key = unit["reference"]
        size = lambda cells: self.weigh(cells, TRANSISTORS.get)
        whole = size(self.data["references"][key]["forward"])
        return self.get("operation_joule." + key) * size(unit["forward"]) / whole

    def datapath_size(self):
        if self.get("datapath.idle_ratio", 0.0) == 0.0:
            return 0.0
        size = {
            "static": self.published,
            "aqfp": lambda u: self.weigh(u["forward"], self.junctions),
            "rqfp": lambda u: self.weigh(u["forward"], self.junctions),
        }.get(self.discipline, lambda u: self.weigh(u["forward"], self.farad))
        whole = sum(size(unit) for unit in self.data["unrolled"])
        return whole + sum(size(unit) for unit in self.data["iterative"]) / self.conditions["width"]

    def idle(self, own):
        """What stays powered of the units beside the one that is used."""
        return max(self.datapath - own, 0.0) * self.get("datapath.idle_ratio", 0.0)

    # Costs that do not depend on how gates are made.

    def erasure(self):
        if "erasure.latch_farad" in self.figure:
            return max(0.5 * self.get("erasure.latch_farad") * self.volt**2, self.landauer())
        return self.get("erasure.landauer_factor") * self.landauer()

    def traffic(self):
        c, link = self.counts, self.get("link.joule_per_bit")
        self.charge("link", (c["bits_in"] + c["bits_out"]) * link)
        self.charge("erasure", c["bits_out"] * self.get("erasure.overwrite_ratio", 1.0) * self.erasure())

    def lost(self):
        self.charge("erasure", self.counts["bits_lost"] * self.erasure())

    def left_dirty(self):
        """Words that are left: an instruction each, and their bits."""
        registers, memory = self.counts["dirty_registers"], self.counts["dirty_memory"]
        for unit in self.data["erasing"]:
            self.use(unit, unit["times"])
        self.fetch(registers + memory)
        self.registers(registers, registers)
        self.charge("erasure", (registers + memory) * self.conditions["width"] * self.erasure())

    def fetch(self, instructions):
        if self.settings["processor"]:
            self.access("processor.fetch", self.get("processor.fetch_ticks"), instructions)
            self.access("processor.decode", 0.0, instructions)
            # The program counter goes on while the instruction runs: it takes no time.
            self.use(self.data["program_counter"], instructions, timed=False)

    def registers(self, reads, writes):
        if self.settings["processor"]:
            # Conventional logic reads and writes; reversible logic takes a word out and puts it back.
            times = reads + writes if self.discipline == "static" else 2 * reads
            self.access("processor.register", 0.0, times)

    def use(self, unit, times, timed=True):
        """A unit is used."""
        if unit["memory"] and self.settings["memory"]:
            self.memory(times)
        else:
            getattr(self, self.discipline.replace("-", "_"))(unit, times, timed)

    def memory(self, times):
        """A power law between the two sizes of memory around it, or of the last two."""
        size = self.conditions["memory_words"] * (self.conditions["width"] // 8)
        what = next(k for k in ("joule", "farad", "junction") if f"memory.access_{k}[0]" in self.figure)
        table = []
        while f"memory.size_byte[{len(table)}]" in self.figure:
            n = len(table)
            table.append((self.get(f"memory.size_byte[{n}]"), self.get(f"memory.access_{what}[{n}]")))
        if size <= table[0][0] or len(table) == 1:
            figure = table[0][1]
        else:
            upper = next((n for n, (s, _) in enumerate(table) if size <= s), len(table) - 1)
            (s0, e0), (s1, e1) = table[upper - 1], table[upper]
            at, start = (s1, e1) if size > s1 else (s0, e0)
            figure = start * (size / at) ** (math.log(e1 / e0) / math.log(s1 / s0))
        self.figure["memory access"] = figure * self.get("memory.scale", 1.0)
        self.accessed(what, "memory access", self.get("memory.access_ticks"), times)

    def access(self, key, ticks, times):
        what = next(k for k in ("joule", "farad", "junction") if f"{key}_{k}" in self.figure)
        self.accessed(what, f"{key}_{what}", ticks, times)

    def accessed(self, what, key, ticks, times):
        each = self.get(key)
        if what == "joule":
            self.charge("switching", times * each)
        elif what == "farad":
            self.ramps(times * each)
            self.leak(times * each * ticks)
            self.clock(times * each)
        else:
            self.charge("adiabatic", times * each * self.junction_joule())
        self.driver(times * ticks)

    # How gates are made.

    def ideal(self, unit, times, timed):
        pass

    def static(self, unit, times, timed):
        joules = self.published(unit)
        ticks = unit["forward"]["levels"]
        self.charge("switching", times * joules)
        self.charge("clock", times * joules * self.get("operation_joule.clock_tree_ratio"))
        nanoseconds = ticks * self.get("operation_joule.level_second") / 1e-9
        self.charge("leakage", times * (joules + self.idle(joules)) * self.get("operation_joule.leakage_ratio") * nanoseconds)

    def per_cell(self, unit, times, timed):
        cycles = -(-unit["forward"]["levels"] // int(self.get("cell_joule.levels_per_cycle")))
        self.charge("switching", times * cycles * self.weigh(unit["forward"], lambda kind: self.get("cell_joule." + kind)))

    def junction_joule(self):
        return self.get("junction.joule") * self.hertz / self.get("junction.at_hertz")

    def aqfp(self, unit, times, timed):
        cells = unit["forward"]
        cycles = -(-cells["levels"] // 4)
        own = self.weigh(cells, self.junctions)
        self.charge("adiabatic", times * cycles * (own + self.idle(own)) * self.junction_joule())
        # A majority loses information, which takes kT ln 2 for a bit at least.
        if self.discipline == "aqfp":
            least = self.get("junction.lost_bits", 0.0) * self.landauer()
            floor = max(least - self.junctions("majority") * self.junction_joule(), 0.0)
            self.charge("adiabatic", times * cycles * cells["cells"].get("majority", (0, 0))[0] * floor)

    rqfp = aqfp

    def retractile(self, unit, times, timed):
        held = self.get("adiabatic.held_ticks", 2.0)
        forward, backward = unit["forward"], unit["backward"]
        stays = held
        if backward is None:
            # A function stays up while its value goes into the target.
            by = unit["stays_for"]
            stays = self.cascade_ticks(by["forward"], held) + self.cascade_ticks(by["backward"], held) if by else 0.0
        ticks = 2 * forward["levels"] if backward is None else self.cascade_ticks(forward, held)
        self.cascade(forward, stays, times)
        if backward is not None:
            ticks += self.cascade_ticks(backward, held)
            self.cascade(backward, held, times)
        self.stand_idle(forward, ticks, times)
        self.driver(times * ticks if timed else 0.0)

    @staticmethod
    def cascade_ticks(cells, held):
        return 2 * cells["levels"] + held

    def cascade(self, cells, held, times):
        """A cell on level l of D is powered from its ramp up to its ramp down, 2(D − l) + 1 + h ticks; a latch for two."""
        for kind, (n, above) in cells["cells"].items():
            farad = self.farad(kind)
            self.ramps(times * n * farad)
            self.clock(times * n * farad)
            self.leak(times * farad * (2 * n if kind == "latch" else 2 * above + (1 + held) * n))

    def pipelined(self, unit, times, timed):
        farad = self.weigh(unit["forward"], self.farad)
        period = self.get("adiabatic.ticks_per_cycle")
        ticks = math.ceil(unit["forward"]["levels"] / period) * period
        self.ramps(times * farad)
        self.leak(times * farad * ticks)
        self.clock(times * farad * ticks / period)
        self.stand_idle(unit["forward"], ticks, times)
        self.driver(times * ticks if timed else 0.0)

    def quasi(self, unit, times, timed):
        farad = self.weigh(unit["forward"], self.farad)
        ticks = unit["forward"]["levels"] * self.get("adiabatic.ticks_per_cycle") / 2
        self.ramps(times * farad)
        self.leak(times * farad * 2)
        self.clock(times * farad)
        self.charge("switching", times * farad * 0.5 * self.get("adiabatic.residual_volt") ** 2)
        self.stand_idle(unit["forward"], ticks, times)
        self.driver(times * ticks if timed else 0.0)

    def stand_idle(self, cells, ticks, times):
        self.leak(times * ticks * self.idle(self.weigh(cells, self.farad)))

    # Ramps.

    def x(self):
        """The duration of a ramp, in time constants."""
        return 1 / (self.get("adiabatic.ticks_per_cycle") * self.hertz * self.tau)

    def ramps(self, farad):
        """A node up and down: twice the part φ that a ramp loses, but never more than an abrupt switch."""
        x = self.x()
        # The closed form cancels for short ramps.
        phi = (x - 1 + math.exp(-x)) / x**2 if x > 1e-2 else 0.5 - x / 6 + x**2 / 24 - x**3 / 120 + x**4 / 720
        shape = {"linear": 1.0, "sine": math.pi**2 / 8}[self.settings["ramp"]]
        self.charge("adiabatic", farad * self.volt**2 * 2 * min(shape * phi, 0.5))

    def leak(self, farad_ticks):
        self.charge("leakage", farad_ticks * self.volt**2 * self.ratio * self.x())

    def clock(self, farad):
        kind = self.settings["clock"]
        if kind == "resonant":
            quality = self.get("clock.quality")
            if "clock.at_hertz" in self.figure:
                quality *= min((self.hertz / self.get("clock.at_hertz")) ** self.get("clock.exponent"), 1.0)
            load = farad * self.get("clock.load_ratio", 1.0)
            self.charge("clock", math.pi / 4 * load * self.volt**2 / quality)
        elif kind == "recovered":
            # What is not recovered was measured with the ramps' loss: only the rest is the supply's.
            x, both = self.x(), (1 - self.get("clock.recovered_ratio")) * farad * self.volt**2
            before = dict(self.joules)
            self.ramps(farad)
            own = self.joules["adiabatic"] - before.get("adiabatic", 0.0)
            self.joules = before
            self.charge("clock", max(both - own, 0.0))

    def driver(self, ticks):
        if self.settings["clock"] == "resonant":
            self.charge("clock", ticks / self.get("adiabatic.ticks_per_cycle") * self.get("clock.driver_joule", 0.0))

    # The whole.

    def compute(self):
        data = self.data
        every = data["units"] + data["erasing"] + [data["program_counter"]] + data["unrolled"] + data["iterative"]
        for unit in every:
            for way in ("forward", "backward"):
                self.checked += check_netlist(unit["name"], unit[way], unit[way + "_parts"], self.mapping)
        for unit in data["units"]:
            self.use(unit, unit["times"])
        self.fetch(self.counts["instructions"])
        self.registers(self.counts["register_reads"], self.counts["register_writes"])
        self.traffic()
        self.lost()
        self.left_dirty()
        return math.fsum(self.joules.values())


def differs(a, b, whole):
    # What is a small difference of two large energies is rounded as they are.
    return abs(a - b) > TOLERANCE * abs(b) + 1e-14 * abs(whole)


def main(files):
    verbose = "--verbose" in files
    bad = bills = 0
    for path in (f for f in files if f != "--verbose"):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for data in report["bills"]:
            bill = Bill(data)
            bills += 1
            try:
                total = bill.compute()
            except Wrong as wrong:
                bad += 1
                print(f"{report['file']} on {data['technology']}: {wrong}")
                continue
            plug = total * (1 + bill.get("cooling.watt_per_watt", 0.0))
            pairs = [("total", total, data["total"]), ("at the plug", plug, data["at_the_plug"])]
            pairs += [(cause, bill.joules.get(cause, 0.0), joules) for cause, joules in data["bill"].items()]
            wrong = [p for p in pairs if differs(p[1], p[2], data["total"])]
            bad += bool(wrong)
            error = abs(total / data["total"] - 1) if data["total"] else abs(total)
            print(f"{report['file']} on {data['technology']}: {total:.6e} J, off by {error:.1e}, {bill.checked} circuits counted")
            for name, mine, theirs in wrong if not verbose else pairs:
                print(f"    {name}: {mine!r} here, {theirs!r} in the bill")
    print(f"{bills} bills, {bad} wrong")
    return 1 if bad or not bills else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
