"""trec_eval, the judge of the TREC conferences, computes R@k, MRR and nDCG again from a report's rankings.

pytrec_eval carries trec_eval's own C code. It knows no ceiling on recall: with more relevant ids than
places ours counts against the places, so its count of relevant ids among the first k (P_k times k) is
divided by what is possible. Its means are taken here, over the questions that have an answer.
"""

import json
import math
import subprocess

import pytrec_eval

import server

K = 10
CUTS = (5, K)
EXACT = 1e-6  # A report rounds to six digits.


def main() -> None:
    given = server.arguments()
    with server.home() as environment:
        for split in ("held", "tune"):
            report = run(given.panoply, environment, split)
            questions = [one for one in report["asked"] if one["relevant"]]
            again = judged(questions)
            compare(report["metrics"], again, questions, f"{split}, all")
            for lang in ("th", "en"):
                of_lang = [one for one in questions if one["lang"] == lang]
                compare(report["by_lang"][lang], again, of_lang, f"{split}, {lang}")
            for question in questions:
                ours, theirs = question["figures"], again[question["id"]]
                for name, mine in (("recall", f"R@{K}"), ("reciprocal_rank", "MRR"), ("ndcg", f"nDCG@{K}")):
                    same(ours[name], theirs[mine], f"{question['id']} {name}")
            said = ", ".join(f"{one['name']} {one['value']:.3f}" for one in report["metrics"])
            server.expect(len(questions) > 100, f"{split}, {len(questions)} questions, as trec_eval has it: {said}")


def run(panoply, environment, split: str) -> dict:
    metrics = ["MRR", *(f"R@{cut}" for cut in CUTS), *(f"nDCG@{cut}" for cut in CUTS)]
    input = {"set": "curated", "metrics": metrics, "params": {"k": K, "split": split}}
    command = [panoply, "call", "eval_run", json.dumps(input), "--json"]
    reply = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    path = f"{environment['PANOPLY_HOME']}/report.json"
    command = [panoply, "ttm", "eval", "--set", "curated", "--split", split, "--metrics", ",".join(metrics)]
    subprocess.run([*command, "--k", str(K), "--report", path], env=environment, check=True, capture_output=True)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    server.expect(report_id(reply) == report["id"], "the tool and the command made the same report")
    return report


def report_id(reply: dict) -> str:
    data = reply.get("structuredContent", reply)
    return data["report_uri"].rsplit("/", 1)[1]


def judged(questions: list) -> dict:
    """What trec_eval says of each question, by our names."""
    wanted = {one["id"]: {id: 1 for id in one["relevant"]} for one in questions}
    # trec_eval puts equals in the order of their ids; places as scores keep ours.
    ranked = {
        one["id"]: {hit["id"]: float(K - place) for place, hit in enumerate(one["ranked"][:K])} for one in questions
    }
    cuts = ",".join(map(str, CUTS))
    evaluator = pytrec_eval.RelevanceEvaluator(wanted, {f"P.{cuts}", "recip_rank", f"ndcg_cut.{cuts}"})
    found = evaluator.evaluate(ranked)
    said = {}
    for id, relevant in wanted.items():
        # A question without a single hit is unknown to it.
        of = found.get(id, {})
        said[id] = {"MRR": of.get("recip_rank", 0.0)}
        for cut in CUTS:
            said[id][f"R@{cut}"] = of.get(f"P_{cut}", 0.0) * cut / min(cut, len(relevant))
            said[id][f"nDCG@{cut}"] = of.get(f"ndcg_cut_{cut}", 0.0)
    return said


def compare(metrics: list, again: dict, questions: list, where: str) -> None:
    for metric in metrics:
        values = [again[one["id"]][metric["name"]] for one in questions]
        same(metric["value"], math.fsum(values) / len(values), f"{where} {metric['name']}")
        if metric["of"] != len(questions):
            raise SystemExit(f"FAILED: {where} {metric['name']} is of {metric['of']} questions, not {len(questions)}")


def same(ours: float, theirs: float, what: str) -> None:
    """A thousand figures: only one that differs is told."""
    if abs(ours - theirs) > EXACT:
        raise SystemExit(f"FAILED: {what}: we say {ours}, trec_eval {theirs}")


if __name__ == "__main__":
    main()
