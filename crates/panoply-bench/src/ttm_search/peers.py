"""bm25s, and SQLite FTS5 with its own tokenizers, on the documents and questions of the bench."""

import json
import re
import sqlite3
import sys
import time

import bm25s

documents = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
questions = json.load(open(sys.argv[2], encoding="utf-8"))
ids = [document["id"] for document in documents]
texts = [document["text"] for document in documents]


def report(name, built, answer):
    times, recall = [], {"th": [], "en": []}
    for question in questions:
        start = time.perf_counter()
        found = answer(question["query"])
        times.append((time.perf_counter() - start) * 1e3)
        relevant = set(question["relevant"])
        recall[question["lang"]].append(len(relevant & set(found)) / min(10, len(relevant)))
    times.sort()
    mean = {lang: sum(values) / max(1, len(values)) for lang, values in recall.items()}
    print(
        f"{name:<24} {len(documents) / built:>9.0f} documents/s   median {times[len(times) // 2]:7.2f} ms"
        f"   p95 {times[len(times) * 95 // 100]:7.2f} ms   R@10 th {mean['th']:.3f} en {mean['en']:.3f}"
    )


start = time.perf_counter()
tokens = bm25s.tokenize(texts, show_progress=False)
retriever = bm25s.BM25()
retriever.index(tokens, show_progress=False)
built = time.perf_counter() - start


def with_bm25s(query):
    asked = bm25s.tokenize(query, show_progress=False)
    if not asked.vocab:
        return []
    places, _ = retriever.retrieve(asked, k=10, show_progress=False)
    return [ids[place] for place in places[0]]


report("bm25s", built, with_bm25s)

for tokenizer in ("unicode61", "trigram"):
    database = sqlite3.connect(":memory:")
    start = time.perf_counter()
    database.execute(f"create virtual table d using fts5(text, tokenize='{tokenizer}')")
    database.executemany("insert into d(rowid, text) values (?, ?)", enumerate(texts))
    built = time.perf_counter() - start

    def with_fts5(query, database=database, tokenizer=tokenizer):
        words = re.findall(r"\w+", query)
        if tokenizer == "trigram":
            joined = re.findall(r"[\w\u0e00-\u0e7f]+", query)
            words = [word[at : at + 3] for word in joined for at in range(len(word) - 2)]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute("select rowid from d where d match ? order by rank limit 10", (match,))
        return [ids[row] for (row,) in rows]

    report(f"SQLite FTS5 {tokenizer}", built, with_fts5)
