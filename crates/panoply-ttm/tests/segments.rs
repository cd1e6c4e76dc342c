//! The segmenter against sentences that a reader cut by hand, before it had seen them, and beside
//! the dictionary segmenter of ICU, which knows another list of words and none of our names.
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
    // Names of the graph are words too, such as `ไขมันในเลือด`; that costs recall, and what is
    // cut must still be cut rightly.
    let Measured { precision, recall, f1 } = by_hand(&cuts_of(&with_names()));
    assert!(precision >= 0.95, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
}

#[test]
fn segmenter_agrees_with_hand_segmentation_better_than_icu() {
    let icu = icu();
    let ours = by_hand(&cuts_of(&plain()));
    let theirs = by_hand(&|text| icu.segment_str(text).collect());
    // One that cut at random, or not at all, would prove nothing by being worse.
    assert!(theirs.f1 > 0.85, "{theirs:?}");
    assert!(ours.f1 >= theirs.f1 + 0.04, "{ours:?} beside {theirs:?}");
}

/// What becomes of the monographs in both, cut by cut. Where they differ, one nearly always cuts
/// inside a word of the other; what remains is names and loan words that ICU does not know, and
/// which pull the words beside them to pieces.
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
    // ICU cuts more: nine tenths of what it has beside ours is inside a name or a word of the list.
    assert!((seen.in_a_name + seen.in_a_word) as f64 > 0.9 * (theirs - shared), "{seen:?}");
    assert!(seen.in_unknown_letters < 200, "{seen:?}");
    // Words that overlap: here one of the two is wrong. More than half of these cuts of ICU's are
    // where no word can end, such as `พิโดเ`.
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

/// Ours, with the word list alone.
fn plain() -> Segmenter {
    Segmenter::new(Arc::new(Dictionary::new([]).unwrap()))
}

/// Ours, with the names of the graph as the search has them.
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

/// The words and what stands between them, which holds no letter and no digit.
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

/// How two ways to cut the same Thai text differ, counted in cuts between two Thai letters.
#[derive(Debug, Default)]
struct Seen {
    ours: usize,
    theirs: usize,
    shared: usize,
    /// Theirs inside a name of the graph, a word of the list, letters that are neither.
    in_a_name: usize,
    in_a_word: usize,
    in_unknown_letters: usize,
    /// Theirs inside a word of ours whose ends they do not both have.
    crossing: usize,
    /// Theirs where no word can end.
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

/// Precision, recall and F1 of the places between words, as the reader has them.
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

/// Where words that follow one another end.
fn ends<'w>(words: impl Iterator<Item = &'w str>) -> impl Iterator<Item = usize> {
    words.scan(0, |end, word| {
        *end += word.len();
        Some(*end)
    })
}
