"""How long cgt-calc takes for a portfolio: cgt_peer_speed.py FILE YEAR prints milliseconds of processor time.

The file has cgt-calc's own CSV rows, in pounds. Loading the program is not counted. Called by `panoply-bench cgt`.
"""

import csv
import sys
import time

import cgt_peer

file, year = sys.argv[1:]
start = time.process_time()
with open(file, encoding="utf-8") as rows:
    report = cgt_peer.compute(int(year), list(csv.reader(rows)), {})
print(round((time.process_time() - start) * 1e3, 1), len(report["disposals"]))
