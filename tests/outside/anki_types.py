"""Media, note types and image occlusion: from Anki through us and back, and from us to Anki."""

import base64
import json
import pathlib
import subprocess
import tempfile

from anki.collection import Collection, ExportAnkiPackageOptions, ImportAnkiPackageOptions, ImportAnkiPackageRequest

import server

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
NOT_COMPARED = {"id", "mod", "usn", "did", "req", "tags", "vers", "originalId"}


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        panoply = lambda *words: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True).stdout
        theirs = collection_with_types(place)
        for legacy in (False, True):
            package = place / f"theirs-{legacy}.apkg"
            theirs.export_anki_package(out_path=str(package), limit=None, options=ExportAnkiPackageOptions(with_scheduling=True, with_media=True, with_deck_configs=True, legacy=legacy))
            panoply("noema", "import", str(package))
        ours = place / "ours.apkg"
        panoply("noema", "export", str(ours))
        back = fresh(place / "back.anki2", ours)
        compare(theirs, back)
        occlusion_of_ours(panoply, place, back)
        theirs.close()


def collection_with_types(place: pathlib.Path) -> Collection:
    """A custom type with sound and picture, a cloze and an image occlusion, as a person makes them in Anki."""
    collection = Collection(str(place / "theirs.anki2"))
    kind = collection.models.new("Vocabulary")
    for name in ("Word", "Meaning", "Sound"):
        field = collection.models.new_field(name)
        field |= {"font": "Noto Sans Thai", "size": 28, "rtl": name == "Sound", "description": f"the {name}", "plainText": name == "Word"}
        collection.models.add_field(kind, field)
    for name, question in (("Recognise", "{{Word}} {{Sound}}"), ("Recall", "{{#Meaning}}{{Meaning}}{{/Meaning}} {{type:Word}}")):
        template = collection.models.new_template(name)
        template |= {"qfmt": question, "afmt": "{{FrontSide}}<hr id=answer>{{Meaning}}", "bqfmt": "{{Word}}", "bfont": "Arial", "bsize": 14}
        collection.models.add_template(kind, template)
    kind |= {"css": ".card { color: navy; }", "latexPre": "\\documentclass{article}\n", "latexsvg": True, "sortf": 1}
    collection.models.add(kind)
    sound, picture = collection.media.write_data("ม้า.mp3", b"ID3\x04\x00\x00\x00\x00\x00\x00"), collection.media.write_data("heart 1.png", PNG)
    note = collection.new_note(collection.models.by_name("Vocabulary"))
    note["Word"], note["Meaning"], note["Sound"] = "ม้า", f'horse <img src="{picture}"> \\(x^2\\) [latex]y[/latex]', f"[sound:{sound}]"
    collection.add_note(note, 1)
    collection._backend.add_image_occlusion_notetype()
    occluded = collection.new_note(collection.models.by_name("Image Occlusion"))
    occluded.fields[0] = "{{c1::image-occlusion:rect:left=.1:top=.2:width=.3:height=.1:oi=1}}<br>{{c2::image-occlusion:ellipse:left=.5:top=.5:rx=.1:ry=.05:oi=1}}"
    occluded.fields[1], occluded.fields[2] = f'<img src="{picture}">', "The heart"
    collection.add_note(occluded, 1)
    return collection


def fresh(file: pathlib.Path, package: pathlib.Path) -> Collection:
    collection = Collection(str(file))
    options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True, merge_notetypes=False)
    collection.import_anki_package(ImportAnkiPackageRequest(package_path=str(package), options=options))
    return collection


def without(value):
    """A type without what every collection numbers for itself."""
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if key not in NOT_COMPARED}
    return [without(one) for one in value] if isinstance(value, list) else value


def compare(theirs: Collection, back: Collection) -> None:
    for name in ("Vocabulary", "Image Occlusion"):
        one, two = without(theirs.models.by_name(name)), without(back.models.by_name(name))
        unlike = [f"{key}: {one.get(key)} and {two.get(key)}" for key in one if one[key] != two.get(key)]
        server.expect(not unlike, f"anki: the type {name} is the same after a round trip {unlike}")
    rows = "select n.guid, n.flds, n.tags, c.ord from notes n join cards c on c.nid = n.id order by 1, 4"
    server.expect(theirs.db.all(rows) == back.db.all(rows), f"anki: {len(back.db.all(rows))} cards of these types are the same")
    files = lambda collection: {file.name: file.read_bytes() for file in pathlib.Path(collection.media.dir()).iterdir()}
    server.expect(files(theirs) == files(back), f"anki: the media are the same: {sorted(files(back))}")
    shown = lambda collection: [(card.render_output().question_text, card.render_output().answer_text) for card in (collection.get_card(one) for one in sorted(collection.find_cards("")))]
    server.expect(shown(theirs) == shown(back), "anki: it renders the cards as before")


def occlusion_of_ours(panoply, place: pathlib.Path, back: Collection) -> None:
    """An image occlusion that we make is one to Anki."""
    back.close()
    deck = json.loads(panoply("call", "create-deck", '{"name": "Ours"}', "--json"))["data"]["deck"]["deckId"]
    regions = [{"left": 0.1, "top": 0.2, "width": 0.25, "height": 0.5}, {"left": 0.5, "top": 0, "width": 0.2, "height": 0.1, "shape": "ellipse"}]
    panoply("call", "create-occlusion", json.dumps({"deckId": deck, "image": "heart 1.png", "regions": regions, "hideAll": True, "header": "ours", "draft": False}))
    panoply("noema", "export", str(place / "second.apkg"))
    collection = fresh(place / "second.anki2", place / "second.apkg")
    note = collection.find_notes("ours")[0]
    seen = collection._backend.get_image_occlusion_note(note_id=note)
    shapes = sorted(((one.shapes[0].shape, {part.name: part.value for part in one.shapes[0].properties}) for one in seen.note.occlusions), key=lambda pair: pair[0])
    wanted = [("ellipse", {"left": ".5", "top": "0", "rx": ".1", "ry": ".05", "oi": "1"}), ("rect", {"left": ".1", "top": ".2", "width": ".25", "height": ".5", "oi": "1"})]
    server.expect(shapes == wanted and seen.note.header == "ours" and seen.note.image_data, f"anki: it reads our image occlusion: {shapes}")
    collection.close()


if __name__ == "__main__":
    main()
