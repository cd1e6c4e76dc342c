#!/usr/bin/env python3
"""Records the checksums of the data after a change that is meant: in SHA256SUMS and in the README.

    python3 data/ttm/tools/sums.py
"""
import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- sums: written by tools/sums.py -->\n", "<!-- end of sums -->\n"
DIGITS = 16


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    # What people write (README.md) and what is run (tools/) changes without the data changing.
    names = sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file())
    names = [n for n in names if not n.startswith("tools/") and not n.endswith("README.md") and n != "SHA256SUMS"]
    sums = ROOT / "SHA256SUMS"
    sums.write_text("".join(f"{digest(ROOT / name)}  {name}\n" for name in names))
    rows = "".join(f"| `{name}` | `{digest(ROOT / name)[:DIGITS]}…` |\n" for name in [*names, "SHA256SUMS"])
    readme = ROOT / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    readme.write_text(f"{before}{BEGIN}| file | SHA-256 |\n|---|---|\n{rows}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
