"""Measures Anki's backend on a package: CPU and wall-clock milliseconds, as JSON."""

import json
import shutil
import sys
import time

from anki.collection import Collection, ExportAnkiPackageOptions, ImportAnkiPackageOptions, ImportAnkiPackageRequest
from anki.buildinfo import version
from anki.scheduler.v3 import CardAnswer

package, file, on_disk, searches = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
spent = {}


def least(name, runs, work):
    """CPU time of the whole process, because the backend may use several threads."""
    times = []
    for _ in range(runs):
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        work()
        times.append((time.process_time_ns() - cpu, time.perf_counter_ns() - wall))
    spent[name] = [min(time[0] for time in times) / 1e6, min(time[1] for time in times) / 1e6]


def median(times):
    return sorted(times)[(len(times) - 1) // 2]


def sitting():
    """Reviews card after card. Returns the times of fetching and of answering."""
    nexts, answers = [], []
    for _ in range(100):
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        queued = col.sched.get_queued_cards()
        nexts.append((time.process_time_ns() - cpu, time.perf_counter_ns() - wall))
        if not queued.cards:
            break
        top = queued.cards[0]
        card = col.get_card(top.card.id)
        card.start_timer()
        answer = col.sched.build_answer(card=card, states=top.states, rating=CardAnswer.GOOD)
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        col.sched.answer_card(answer)
        answers.append((time.process_time_ns() - cpu, time.perf_counter_ns() - wall))
    return nexts, answers


def of_each(choose, times):
    return [choose([time[place] for time in times]) / 1e6 for place in (0, 1)]


col = Collection(file)
options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True)
request = ImportAnkiPackageRequest(package_path=package, options=options)
least("import", 1, lambda: col.import_anki_package(request))
col.set_config("fsrs", True)
col.close()


def reopen():
    global col
    col = Collection(file)


least("open", 1, reopen)
for _ in range(5):
    col.close()
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    col = Collection(file)
    taken = [(time.process_time_ns() - cpu) / 1e6, (time.perf_counter_ns() - wall) / 1e6]
    spent["open"] = min(spent["open"], taken)
for search in searches:
    least(search, 5, lambda: col.find_cards(search))
least("list-decks", 5, lambda: col.sched.deck_due_tree())
least("get-stats", 3, lambda: col._backend.graphs(search="", days=365))
col.decks.select(col.decks.id("Subject 1"))
firsts = []
for _ in range(5):
    col.close()
    col = Collection(file)
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    col.sched.get_queued_cards()
    firsts.append([(time.process_time_ns() - cpu) / 1e6, (time.perf_counter_ns() - wall) / 1e6])
spent["get-next-card"] = min(firsts)
nexts, answers = sitting()
spent["next"], spent["answer"] = of_each(median, nexts), of_each(median, answers)
out = file + ".apkg"
export = ExportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True, with_media=True, legacy=True)
least("export", 1, lambda: col.export_anki_package(out_path=out, options=export, limit=None))
cards = col.card_count()
col.close()
shutil.copy(file, on_disk)
col = Collection(on_disk)
_, answers = sitting()
spent["answer on disk"], spent["least answer on disk"] = of_each(median, answers), of_each(min, answers)
col.close()
print(json.dumps({"version": version, "cards": cards, "spent": spent}))
