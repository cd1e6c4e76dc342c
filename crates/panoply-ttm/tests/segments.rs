//! Segmenter against hand-segmented sentences and the dictionary segmenter of ICU, which has
//! another word list and no catalog names.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::collections::BTreeSet;
use std::sync::Arc;

use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use panoply_ttm::catalog::HerbCatalog;
use panoply_ttm::search::corpus;
use panoply_ttm::text::{Dictionary, Segmenter, Token, clusters, is_thai, normalize};

const BY_HAND: &str = include_str!("fixtures/segments_th.txt");

#[test]
fn word_boundaries_match_hand_segmentation() {
    let Measured { precision, recall, f1 } = by_hand(&cuts_of(&plain()));
    assert!(f1 >= 0.92, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
    // Catalog names such as `ไขมันในเลือด` are words, too; that lowers recall, not precision.
    let Measured { precision, recall, f1 } = by_hand(&cuts_of(&with_names()));
    assert!(precision >= 0.95, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
}

#[test]
fn segmenter_agrees_with_hand_segmentation_better_than_icu() {
    let icu = icu();
    let ours = by_hand(&cuts_of(&plain()));
    let theirs = by_hand(&|text| icu.segment_str(text).collect());
    // The baseline must be competent for the comparison to be meaningful.
    assert!(theirs.f1 > 0.85, "{theirs:?}");
    assert!(ours.f1 >= theirs.f1 + 0.04, "{ours:?} beside {theirs:?}");
}

/// Compares all cuts in the monographs. Most differences are granularity: one splits inside a word
/// of the other. The rest are names and loan words unknown to ICU.
#[test]
fn icu_differs_in_granularity_rather_than_position() {
    let (icu, ours) = (icu(), with_names());
    let catalog = HerbCatalog::read().unwrap();
    let thai = catalog.monographs.iter().filter(|monograph| monograph.lang == "th");
    let mut seen = Seen::default();
    for statement in thai.flat_map(|monograph| &monograph.statements) {
        let normalized = normalize(&statement.text);
        let text = normalized.text();
        let tokens = ours.segment(text);
        assert_eq!(put_together(text, &tokens), text, "no letter is lost, doubled or moved");
        seen.text(text, &tokens, &icu.segment_str(text).collect(), ours.dictionary());
    }
    let [ours, theirs, shared] = [seen.ours, seen.theirs, seen.shared].map(|count| count as f64);
    assert!(ours > 20_000.0, "{seen:?}");
    assert!(shared / ours > 0.95, "nearly every cut of ours is one of ICU's: {seen:?}");
    // Nine tenths of ICU's additional cuts are inside a name or dictionary word.
    assert!((seen.in_a_name + seen.in_a_word) as f64 > 0.9 * (theirs - shared), "{seen:?}");
    assert!(seen.in_unknown_letters < 200, "{seen:?}");
    // Crossing words: one of the two is wrong. More than half of these cuts of ICU are inside a
    // cluster, such as `พิโดเ`.
    assert!((seen.crossing as f64) < 0.055 * ours, "{seen:?}");
    assert!(2 * seen.inside_a_cluster > seen.crossing, "{seen:?}");
}

#[test]
fn herb_names_stay_whole_where_icu_splits_them() {
    let (icu, ours) = (icu(), with_names());
    let catalog = HerbCatalog::read().unwrap();
    let (mut whole, mut herbs) = (0, 0);
    for herb in &catalog.herbs {
        let (before, after) = ("หมอใช้", "รักษาคนไข้");
        let sentence = format!("{before}{}{after}", herb.names.th);
        let normalized = normalize(&sentence);
        let text = normalized.text();
        let name = before.len()..text.len() - after.len();
        if !text.get(name.clone()).unwrap().chars().all(is_thai) {
            continue;
        }
        let tokens = ours.segment(text);
        assert!(tokens.iter().any(|token| token.range == name), "{text}: {tokens:?}");
        let cuts: BTreeSet<usize> = icu.segment_str(text).collect();
        whole += usize::from(cuts.range(name.start..=name.end).eq([&name.start, &name.end]));
        herbs += 1;
    }
    assert!(herbs > 100 && whole < herbs / 2, "ICU keeps {whole} of {herbs} whole");
}

fn icu() -> WordSegmenterBorrowed<'static> {
    WordSegmenter::new_dictionary(Default::default())
}

/// Our segmenter with the word list only.
fn plain() -> Segmenter {
    Segmenter::new(Arc::new(Dictionary::new([]).unwrap()))
}

/// Our segmenter with the catalog names, as used by the search.
fn with_names() -> Segmenter {
    let corpus = corpus(&HerbCatalog::read().unwrap());
    let names = corpus.documents.iter().flat_map(|document| &document.names);
    Segmenter::new(Arc::new(Dictionary::new(names.map(String::as_str)).unwrap()))
}

fn cuts_of(segmenter: &Segmenter) -> impl Fn(&str) -> BTreeSet<usize> {
    |text| edges(&segmenter.segment(text))
}

fn edges(tokens: &[Token]) -> BTreeSet<usize> {
    tokens.iter().flat_map(|token| [token.range.start, token.range.end]).collect()
}

/// Reassembles the text; gaps contain no letters or digits.
fn put_together(text: &str, tokens: &[Token]) -> String {
    let mut made = String::new();
    let mut end = 0;
    let mut put = |start: usize, next: usize| {
        let between = text.get(end..start).unwrap();
        assert!(!between.chars().any(|letter| is_thai(letter) || letter.is_alphanumeric()));
        made.push_str(between);
        made.push_str(text.get(start..next).unwrap());
        end = next;
    };
    tokens.iter().for_each(|token| put(token.range.start, token.range.end));
    put(text.len(), text.len());
    made
}

/// Differences between two segmentations, counted in cuts between Thai letters.
#[derive(Debug, Default)]
struct Seen {
    ours: usize,
    theirs: usize,
    shared: usize,
    /// ICU's cuts inside a name, a dictionary word, or unknown letters.
    in_a_name: usize,
    in_a_word: usize,
    in_unknown_letters: usize,
    /// ICU's cuts that cross a word of ours.
    crossing: usize,
    /// ICU's cuts inside a cluster.
    inside_a_cluster: usize,
}

impl Seen {
    fn text(&mut self, text: &str, tokens: &[Token], theirs: &BTreeSet<usize>, names: &Dictionary) {
        let between = |at: &usize| {
            let (before, after) = text.split_at(*at);
            before.chars().next_back().is_some_and(is_thai) && after.starts_with(is_thai)
        };
        let ours: BTreeSet<usize> = edges(tokens).into_iter().filter(between).collect();
        let inner: BTreeSet<usize> = theirs.iter().copied().filter(between).collect();
        self.ours += ours.len();
        self.theirs += inner.len();
        self.shared += ours.intersection(&inner).count();
        for cut in inner.difference(&ours) {
            let token = tokens.iter().find(|token| token.range.contains(cut)).unwrap();
            let word = token.text(text);
            let class = if names.is_name(word) {
                &mut self.in_a_name
            } else if names.contains(word) {
                &mut self.in_a_word
            } else {
                &mut self.in_unknown_letters
            };
            *class += 1;
            let has_both = theirs.contains(&token.range.start) && theirs.contains(&token.range.end);
            self.crossing += usize::from(!has_both);
            let possible = clusters(word).iter().any(|one| token.range.start + one.end == *cut);
            self.inside_a_cluster += usize::from(!possible);
        }
    }
}

#[derive(Debug)]
struct Measured {
    precision: f64,
    recall: f64,
    f1: f64,
}

/// Precision, recall and F1 of word boundaries against the hand segmentation.
fn by_hand(cuts: &dyn Fn(&str) -> BTreeSet<usize>) -> Measured {
    let (mut right, mut cut, mut met) = (0, 0, 0);
    for line in BY_HAND.lines() {
        let text = line.replace('|', "");
        assert_eq!(normalize(&text).text(), text, "the sentences are spelt as we spell");
        let inside = |at: &usize| (1..text.len()).contains(at);
        let expected: BTreeSet<usize> = ends(line.split('|')).filter(inside).collect();
        let given: BTreeSet<usize> = cuts(&text).into_iter().filter(inside).collect();
        right += expected.len();
        cut += given.len();
        met += expected.intersection(&given).count();
    }
    let [right, cut, met] = [right, cut, met].map(|count| count as f64);
    Measured { precision: met / cut, recall: met / right, f1: 2.0 * met / (right + cut) }
}

/// Returns the end offsets of consecutive words.
fn ends<'w>(words: impl Iterator<Item = &'w str>) -> impl Iterator<Item = usize> {
    words.scan(0, |end, word| {
        *end += word.len();
        Some(*end)
    })
}
