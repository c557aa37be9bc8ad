"""Kills, full disks and Ctrl-C in every mode: `python -m tests.hardening_long [--kills 100] [--disks 10] [--seed 1]`.

Prints how the jobs of each mode ended and every defect, and exits 1 if there is one. `--modes` names some of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.cli_cases import CLEAN, write
from tests.hardening import interrupts, modes
from tests.hardening.modes import MODES, Tried


def show(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="in each mode")
    parser.add_argument("--disks", type=int, default=10, help="full disks, and limits of a file, in each mode")
    parser.add_argument("--interrupts", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--modes", nargs="*", default=list(MODES), choices=list(MODES))
    chosen = parser.parse_args()
    defects = list[str]()
    with tempfile.TemporaryDirectory() as name:
        source = write(Path(name) / "a.json", CLEAN)
        found = list(interrupts.defects(source, chosen.interrupts, chosen.seed))
        show(f"Ctrl-C at {chosen.interrupts} moments after the start: {len(found)} defects")
        defects += found
    for mode in chosen.modes:
        for what, count, action in (
            ("killed", chosen.kills, modes.killed),
            ("limited", chosen.disks, modes.limited),
            ("on a full disk", chosen.disks if modes.may_mount() else 0, modes.on_full_disk),
        ):
            with tempfile.TemporaryDirectory() as name:
                modes.write_inputs(Path(name))
                tried: Tried = action(mode, Path(name), count, chosen.seed)
            show(f"{mode}, {what} {count} times: {dict(tried.ends)}, {len(tried.defects)} defects")
            defects += tried.defects
    show(*defects)
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
