//! Compiles the word lists of `data/ttm` into finite-state automata (FST) that need no parsing at
//! run time.
//!
//! The lexicon keys use the same normalisation and stemming code as the index.

#[path = "src/text/english.rs"]
#[expect(dead_code, unreachable_pub, reason = "a module of the crate; the build needs its stems")]
mod english;
#[path = "src/text/keys.rs"]
mod keys;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[expect(clippy::disallowed_methods, reason = "cargo says by the environment where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/ttm");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let read = |name: &str| {
        println!("cargo::rerun-if-changed={}", data.join(name).display());
        fs::read_to_string(data.join(name))
    };
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/text/english.rs");
    println!("cargo::rerun-if-changed=src/text/keys.rs");
    write_set(&out.join("words.fst"), read("words_th.txt")?.lines().filter(|word| is_word(word)))?;
    write_set(&out.join("stop_words.fst"), read("stopwords_th.txt")?.lines())?;
    // The first line of a lemma wins, so the domain lexicon precedes WordNet.
    let lexicon = read("lexicon_domain.tsv")? + &read("lexicon.tsv")?;
    fs::write(out.join("lexicon.tsv"), &lexicon)?;
    write_lexicon(&out, &lexicon)
}

/// Returns whether a word-list line is usable for segmentation: Thai letters only and longer than
/// one letter. Single letters would split every unknown name into words.
fn is_word(line: &str) -> bool {
    let letters = line.chars().count();
    let thai = line.chars().all(|letter| {
        ('\u{0E01}'..='\u{0E4E}').contains(&letter) && letter != '\u{0E2F}' && letter != '\u{0E46}'
    });
    thai && (letters > 1 || line == "ณ")
}

fn write_set<'w>(path: &Path, words: impl Iterator<Item = &'w str>) -> Result<(), Box<dyn Error>> {
    let words = words.map(str::trim).filter(|word| !word.is_empty());
    let words: BTreeSet<Vec<u8>> = words.map(keys::key).collect();
    Ok(fs::write(path, fst::Set::from_iter(words)?.as_fst().as_bytes())?)
}

/// Maps a Thai lemma to the offset of its line, and an English stem to the offset of a list of line
/// offsets.
fn write_lexicon(out: &Path, lexicon: &str) -> Result<(), Box<dyn Error>> {
    let mut thai: BTreeMap<&str, u64> = BTreeMap::new();
    let mut english: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut offset = 0;
    for line in lexicon.split_inclusive('\n') {
        let (lemma, translations) =
            line.trim_end().split_once('\t').ok_or("a line without a tab")?;
        thai.entry(lemma).or_insert(offset);
        for translation in translations.split('|') {
            let phrase = translation.rsplit_once(':').map_or(translation, |(phrase, _)| phrase);
            let places = english.entry(english::stem_phrase(phrase)).or_default();
            let place = u32::try_from(offset)?;
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
        offset += line.len() as u64;
    }
    english.remove("");
    let mut lists: Vec<u8> = Vec::new();
    let mut starts: Vec<(String, u64)> = Vec::new();
    for (stem, places) in english {
        starts.push((stem, lists.len() as u64));
        lists.extend(u32::try_from(places.len())?.to_le_bytes());
        places.iter().for_each(|place| lists.extend(place.to_le_bytes()));
    }
    fs::write(out.join("thai.fst"), fst::Map::from_iter(thai)?.as_fst().as_bytes())?;
    fs::write(out.join("english.fst"), fst::Map::from_iter(starts)?.as_fst().as_bytes())?;
    Ok(fs::write(out.join("english.lists"), lists)?)
}
