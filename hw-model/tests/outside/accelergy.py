#!/usr/bin/env python3
"""Loads the export for Accelergy in Accelergy itself, and compares what it computes with the bill.

    accelergy.py PENDULA [PROGRAM [TECHNOLOGY…]]

PENDULA is the program `pendula`. Accelergy 0.4 (https://github.com/Accelergy-Project/accelergy) must be on the search path as `accelergy`, or be named
in the environment as ACCELERGY. Where it is not installed, the script says so and ends with status 77.

Checked for each technology: Accelergy reads the architecture, the energy table and the counts; its sum, with the component `cooling`, is the energy at
the plug of `pendula energy --json`, and without it the energy in the device; and the tables have what Timeloop asserts when it reads them (topology.cpp,
ParseAccelergyERT and ParseAccelergyART): version 0.4, a list of tables, names with the design before the component, actions with names and energies.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

LEFT_OUT = 77
TECHNOLOGIES = ["landauer", "cmos45", "cmos7", "scald500", "acmos22-fdsoi", "acmos22-pipelined", "aqfp", "rqfp", "rql"]


def load(path):
    # Accelergy depends on it.
    try:
        import yaml

        with open(path, encoding="utf-8") as file:
            return yaml.safe_load(file)
    except ModuleNotFoundError:
        from ruamel.yaml import YAML

        with open(path, encoding="utf-8") as file:
            return YAML(typ="safe").load(file)


def check_as_timeloop(folder):
    """What Timeloop demands, as far as it can be seen without running it; the storages and the multiplier that it would map to."""
    ert, art = load(f"{folder}/ERT.yaml")["ERT"], load(f"{folder}/ART.yaml")["ART"]
    assert ert["version"] == 0.4 and art["version"] == 0.4, "version"
    energies = {}
    for table in ert["tables"]:
        component = table["name"].rsplit(".", 1)[1]
        energies[component] = {action["name"]: action["energy"] for action in table["actions"]}
        assert all(isinstance(energy, float) for energy in energies[component].values()), component
    areas = {table["name"].rsplit(".", 1)[1]: table["area"] for table in art["tables"]}
    assert set(areas) <= set(energies), "areas of components without energies"
    (design,) = load(f"{folder}/architecture.yaml")["architecture"]["subtree"]
    classes = {local["name"]: local["class"] for local in design["local"]}
    assert set(classes) == set(energies), "components of the architecture"
    for name, cls in classes.items():
        wanted = {"SRAM": "read write update leak", "regfile": "read write leak", "DRAM": "read write", "intmac": "compute leak"}
        for action in wanted.get(cls, "").split():
            assert action in energies[name], f"{name}.{action}"
    # Timeloop takes one kind of arithmetic.
    assert sum(cls == "intmac" for cls in classes.values()) <= 1
    return len(areas)


def main(pendula, program="examples/bessel.rasm", *technologies):
    accelergy = shutil.which(os.environ.get("ACCELERGY", "accelergy"))
    if accelergy is None:
        print("left out: Accelergy is not installed")
        return LEFT_OUT
    for technology in technologies or TECHNOLOGIES:
        with tempfile.TemporaryDirectory() as folder:
            command = [pendula, "energy", program, "--tech", technology, "--accelergy", folder, "--json"]
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            bill = json.loads(out)["technologies"][0]
            inputs = [f"{folder}/{name}.yaml" for name in ("architecture", "ERT", "action_counts")]
            # Its configuration goes into the folder, and nothing into the user's home.
            done = subprocess.run(
                [accelergy, *inputs, "-o", folder, "-p", "12", "-f", "energy_estimation", "flattened_arch"],
                env={**os.environ, "HOME": folder},
                cwd=folder,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
            result = load(f"{folder}/energy_estimation.yaml")["energy_estimation"]
            total = result["Total"] * 1e-12
            parts = {c["name"].rsplit(".", 1)[1]: c["energy"] * 1e-12 for c in result["components"]}
            device = math.fsum(energy for name, energy in parts.items() if name != "cooling")
            areas = check_as_timeloop(folder)
            for name, mine, theirs in [("at the plug", bill["at_the_plug"], total), ("in the device", bill["total"]["total"], device)]:
                assert abs(mine - theirs) <= 1e-9 * abs(mine), f"{technology} {name}: {mine} here, {theirs} by Accelergy"
            print(f"{program} on {technology}: {total:.6e} J at the plug, {len(parts)} components counted, {areas} areas")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
