"""Accuracy of PyThaiNLP's newmm on the sentences of the segmenter's test: pip install pythainlp==5.4.0"""

from pathlib import Path

from pythainlp.tokenize import word_tokenize

FIXTURE = Path(__file__).parents[2] / "panoply-ttm/tests/fixtures/segments_th.txt"


def boundaries(words):
    ends, at = set(), 0
    for word in words:
        at += len(word)
        ends.add(at)
    return ends - {at}


right = cut = met = 0
for line in FIXTURE.read_text(encoding="utf-8").splitlines():
    expected = boundaries(line.split("|"))
    given = boundaries(word_tokenize(line.replace("|", ""), engine="newmm"))
    right, cut, met = right + len(expected), cut + len(given), met + len(expected & given)
print(f"newmm: precision {met / cut:.3f}, recall {met / right:.3f}, F1 {2 * met / (cut + right):.3f}")
