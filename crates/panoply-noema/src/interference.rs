//! Interference: two cards whose questions are so alike that the learner mixes up their answers.
//!
//! Wozniak's rule 11, "combat interference". Three kinds are told apart: the same question with
//! another answer, the same question asked twice in other words, and questions that differ only in
//! terms that are spelt alike. Cards of one pattern, such as the capitals of two countries, do not
//! interfere. The comparison is deterministic and prefers silence to a false alarm.

use unicode_normalization::char::is_combining_mark;

use crate::grading::edit_distance;
use crate::html;
use crate::note::{Form, NoteType};
use crate::occlusion;
use crate::render;

/// Question and answer of one card, as words.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Template of the card.
    pub ordinal: u32,
    /// The question for a person.
    pub shown: String,
    question: Vec<String>,
    answer: Vec<String>,
}

/// How two cards interfere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Interference {
    /// The same question has another answer.
    OtherAnswer,
    /// The same question with the same answer, worded otherwise.
    AskedTwice,
    /// The questions differ only in these two terms, which are spelt alike.
    SimilarTerms(String, String),
}

/// The prompts of a note, one for each card that can be compared.
pub fn prompts(note_type: &NoteType, fields: &[String]) -> Vec<Prompt> {
    if occlusion::is_occlusion(note_type) {
        return Vec::new();
    }
    let text = |index: usize| fields.get(index).map_or("", String::as_str);
    if note_type.id == Form::Choice.note_type().id {
        return Prompt::new(0, text(0), text(2)).into_iter().collect();
    }
    if note_type.cloze {
        let mut numbers = render::cloze_numbers(text(0));
        numbers.sort_unstable();
        numbers.dedup();
        let of_number = |number: u32| {
            let ordinal = number.checked_sub(1)?;
            let question = render::sides(note_type, fields, &[], ordinal).front;
            Prompt::new(ordinal, &question, &render::cloze_answers(text(0), number).join(" "))
        };
        return numbers.into_iter().filter_map(of_number).collect();
    }
    let of_template = |ordinal: u32| {
        let template = note_type.template(ordinal)?;
        if !render::front_has_content(template, note_type, fields) {
            return None;
        }
        let sides = render::sides(note_type, fields, &[], ordinal);
        let answer = sides.typed.unwrap_or_else(|| render::answer_alone(&sides.front, &sides.back));
        Prompt::new(ordinal, &sides.front, &answer)
    };
    (0..).zip(&note_type.templates).filter_map(|(ordinal, _)| of_template(ordinal)).collect()
}

impl Prompt {
    /// `None` if there is nothing to compare: no words in the question or in the answer.
    fn new(ordinal: u32, question: &str, answer: &str) -> Option<Self> {
        let shown = html::shown(question);
        let (question, answer) = (words(question), words(answer));
        let is_comparable = question.iter().any(|word| is_word(word)) && !answer.is_empty();
        is_comparable.then_some(Self { ordinal, shown, question, answer })
    }

    /// Texts of which an interfering card contains at least one: the two longest words of the
    /// question, or the thirds of its only word.
    pub fn search_texts(&self) -> Vec<String> {
        let mut words: Vec<&String> = self.question.iter().filter(|word| is_word(word)).collect();
        words.sort_by_key(|word| (std::cmp::Reverse(word.chars().count()), (*word).clone()));
        words.dedup();
        if let [only] = words.as_slice()
            && let letters = only.chars().collect::<Vec<_>>()
            && letters.len() >= MIN_TERM_CHARS
        {
            return letters
                .chunks(letters.len().div_ceil(3))
                .map(|part| part.iter().collect())
                .collect();
        }
        words.into_iter().take(2).cloned().collect()
    }

    /// How this card interferes with another; `None` if it does not.
    pub fn interference(&self, other: &Self) -> Option<Interference> {
        let same_answer =
            is_part(&self.answer, &other.answer) || is_part(&other.answer, &self.answer);
        if self.question == other.question {
            return Some(if same_answer {
                Interference::AskedTwice
            } else {
                Interference::OtherAnswer
            });
        }
        if same_answer {
            // "France, capital" asks for the capital of France; with other answers the order may
            // matter, as in a conversion from miles to kilometres.
            return (sorted(&self.question) == sorted(&other.question))
                .then_some(Interference::AskedTwice);
        }
        if self.question.len() != other.question.len() {
            return None;
        }
        let mut pairs = self.question.iter().zip(&other.question).filter(|(one, two)| one != two);
        let (one, two) = pairs.next().filter(|_| pairs.next().is_none())?;
        are_confusable(one, two).then(|| Interference::SimilarTerms(one.clone(), two.clone()))
    }
}

/// Shortest terms that are compared letter by letter: among shorter words chance neighbours such
/// as `table` and `cable` are common.
const MIN_TERM_CHARS: usize = 6;
/// Shortest terms that may differ in two letters.
const MIN_LONG_TERM_CHARS: usize = 7;

/// Whether two terms are spelt alike, in a script that separates words by spaces.
fn are_confusable(one: &str, two: &str) -> bool {
    let is_term =
        |word: &str| word.chars().all(|letter| letter.is_alphabetic() && letter < '\u{590}');
    if !is_term(one) || !is_term(two) {
        return false;
    }
    let shortest = one.chars().count().min(two.chars().count());
    let allowed = match shortest {
        MIN_LONG_TERM_CHARS.. => 2,
        MIN_TERM_CHARS.. => 1,
        _ => return false,
    };
    edit_distance(one, two) <= allowed
}

/// Words of a question that say nothing about what is asked. Words that do, such as `who`, `when`,
/// `to` and `not`, stay.
const FILLERS: [&str; 15] = [
    "the", "an", "is", "are", "of", "what", "which", "do", "does", "s", "please", "name", "named",
    "called", "it",
];
/// Characters that end or separate words and carry no meaning of their own. Signs such as `+` and
/// brackets do.
const PUNCTUATION: &str = ".,;:!?…\"'’‘“”¿¡«»—–-/、。？！，";

/// The words, signs and media names of a text, in lower case, without fillers and plurals.
fn words(html: &str) -> Vec<String> {
    let text = html::strip(html).to_lowercase();
    let letters: Vec<char> = text.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let is_digit_at = |index: Option<usize>| {
            index.and_then(|index| letters.get(index)).is_some_and(char::is_ascii_digit)
        };
        let next_is_digit = is_digit_at(Some(index + 1));
        let in_number =
            matches!(letter, '.' | ',') && is_digit_at(index.checked_sub(1)) && next_is_digit;
        if letter.is_alphanumeric() || is_combining_mark(*letter) || in_number {
            word.push(*letter);
            continue;
        }
        words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        let is_minus = *letter == '-' && next_is_digit;
        if is_minus || !letter.is_whitespace() && !PUNCTUATION.contains(*letter) {
            words.push(letter.to_string());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    let last = words.len().saturating_sub(1);
    let is_filler = |(index, word): (usize, &String)| {
        // `Vitamin A` ends with a name, not with an article.
        FILLERS.contains(&word.as_str()) || word == "a" && index < last
    };
    let mut kept: Vec<String> = words
        .iter()
        .enumerate()
        .filter(|(index, word)| !is_filler((*index, word)))
        .map(|(_, word)| singular(word))
        .collect();
    kept.extend(html::media_names(html).into_iter().map(|name| format!("<{name}>")));
    kept
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

fn singular(word: &str) -> String {
    let is_plural = word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if is_plural { word.trim_end_matches('s').to_owned() } else { word.to_owned() }
}

fn is_part(part: &[String], whole: &[String]) -> bool {
    part.iter().all(|word| whole.contains(word))
}

fn sorted(words: &[String]) -> Vec<&String> {
    let mut sorted: Vec<&String> = words.iter().collect();
    sorted.sort();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(front: &str, back: &str) -> Prompt {
        let fields = [front.to_owned(), back.to_owned()];
        prompts(&Form::Basic.note_type(), &fields).into_iter().next().unwrap()
    }

    /// Pairs judged by reading them, before the rules were written: does a learner who knows one
    /// card answer the other with it?
    #[test]
    fn judged_pairs_interfere_or_do_not() {
        const OTHER: &str = "other answer";
        const TWICE: &str = "asked twice";
        const TERMS: &str = "similar terms";
        const NO: &str = "no";
        let cases = [
            // The same question with another answer.
            (
                ("What is the capital of Thailand?", "Bangkok"),
                ("Capital of Thailand", "Krung Thep"),
                OTHER,
            ),
            (("Who wrote Faust?", "Goethe"), ("Who wrote <b>Faust</b>?", "Marlowe"), OTHER),
            (
                ("What are enzymes?", "proteins that catalyse"),
                ("What is an enzyme?", "a kind of yeast"),
                OTHER,
            ),
            (("เมืองหลวงของไทย", "กรุงเทพ"), ("เมืองหลวงของไทย?", "เชียงใหม่"), OTHER),
            // The same question twice.
            (
                ("What is the capital of Thailand?", "Bangkok"),
                ("Thailand's capital is called?", "Bangkok"),
                TWICE,
            ),
            (
                ("Capital of Laos?", "Vientiane"),
                ("Laos: capital", "Vientiane, on the Mekong"),
                TWICE,
            ),
            // Terms that are spelt alike.
            (
                ("Define abduction", "movement away"),
                ("Define adduction", "movement towards"),
                TERMS,
            ),
            (("hyperglycemia", "high blood sugar"), ("hypoglycemia", "low blood sugar"), TERMS),
            (("What is a stalactite?", "hangs"), ("What is a stalagmite?", "stands"), TERMS),
            (("Capital of Austria?", "Vienna"), ("Capital of Australia?", "Canberra"), TERMS),
            (("Capital of Slovakia?", "Bratislava"), ("Capital of Slovenia?", "Ljubljana"), TERMS),
            (("Formula of methane?", "CH4"), ("Formula of ethane?", "C2H6"), TERMS),
            (("to affect", "influence"), ("to effect", "bring about"), TERMS),
            // Cards of one pattern.
            (("Capital of France?", "Paris"), ("Capital of Japan?", "Tokyo"), NO),
            (("Who wrote Faust?", "Goethe"), ("Who wrote Hamlet?", "Shakespeare"), NO),
            (("เมืองหลวงของลาว", "เวียงจันทน์"), ("เมืองหลวงของไทย", "กรุงเทพ"), NO),
            (("Thai for table?", "โต๊ะ"), ("Thai for cable?", "สาย"), NO),
            (("Thai for horse?", "ม้า"), ("Thai for house?", "บ้าน"), NO),
            (("Symbol of sodium?", "Na"), ("Symbol of potassium?", "K"), NO),
            (("Chapter 12, rule 3", "be brief"), ("Chapter 12, rule 4", "be kind"), NO),
            // Words that decide.
            (("When did Rome fall?", "476"), ("Why did Rome fall?", "many causes"), NO),
            (
                ("Who is the king of Thailand?", "Rama X"),
                ("Who was the king of Thailand?", "Rama IX"),
                NO,
            ),
            (
                ("Convert miles to kilometres", "× 1.609"),
                ("Convert kilometres to miles", "× 0.621"),
                NO,
            ),
            (("Which gas is inert?", "argon"), ("Which gas is not inert?", "oxygen"), NO),
            (("What does vitamin A do?", "sight"), ("What does vitamin B do?", "metabolism"), NO),
            (("Give vitamin A", "retinol"), ("Give vitamin", "a nutrient"), NO),
            // Signs and numbers.
            (("6 + 6", "12"), ("6 × 6", "36"), NO),
            (("(2 + 3) · 4", "20"), ("2 + 3 · 4", "14"), NO),
            (("What is -5 squared?", "25"), ("What is 5 squared?", "a square"), NO),
            (("What is 1.5 in binary?", "1.1"), ("What is 15 in binary?", "1111"), NO),
            (("What is C++?", "a language"), ("What is C?", "another one"), NO),
            (("Treaty of 1918?", "Brest-Litovsk"), ("Treaty of 1919?", "Versailles"), NO),
            // Pictures.
            (
                ("Which bone? <img src=a.png>", "femur"),
                ("Which bone? <img src=b.png>", "tibia"),
                NO,
            ),
            // One answer for many questions.
            (("Largest city of Thailand?", "Bangkok"), ("Capital of Thailand?", "Bangkok"), NO),
            (("Who wrote Faust?", "Goethe"), ("Who wrote Faust II?", "Goethe"), NO),
            (("Who wrote Faust?", "Goethe"), ("Who wrote Werther?", "Goethe"), NO),
            // Judged to interfere and not found: five letters are too few to tell from chance.
            (("What is the ileum?", "gut"), ("What is the ilium?", "bone"), NO),
        ];
        for ((one, one_answer), (two, two_answer), expected) in cases {
            let (first, second) = (basic(one, one_answer), basic(two, two_answer));
            let kind = |found: Option<Interference>| match found {
                Some(Interference::OtherAnswer) => OTHER,
                Some(Interference::AskedTwice) => TWICE,
                Some(Interference::SimilarTerms(..)) => TERMS,
                None => NO,
            };
            assert_eq!(kind(first.interference(&second)), expected, "{one:?} and {two:?}");
            assert_eq!(kind(second.interference(&first)), expected, "{two:?} and {one:?}");
            if expected != NO {
                let content = format!("{two} {two_answer}").to_lowercase();
                let texts = first.search_texts();
                assert!(texts.iter().any(|text| content.contains(text)), "{texts:?} in {content}");
            }
        }
    }

    #[test]
    fn reversed_and_cloze_cards_are_compared_by_the_side_that_asks() {
        let reversed = |front: &str, back: &str| {
            prompts(&Form::Reversed.note_type(), &[front.to_owned(), back.to_owned()])
        };
        let (big, large) = (reversed("big", "ใหญ่"), reversed("large", "ใหญ่"));
        assert_eq!(big[0].interference(&large[0]), None);
        assert_eq!(big[1].interference(&large[1]), Some(Interference::OtherAnswer), "synonyms");
        let cloze =
            |text: &str| prompts(&Form::Cloze.note_type(), &[text.to_owned(), String::new()]);
        let one = cloze("The capital of {{c1::France}} is {{c2::Paris}}");
        let two = cloze("The capital of {{c1::Japan}} is {{c2::Tokyo}}");
        let other = cloze("The capital of France is {{c1::Lyon}}");
        assert_eq!(one[0].interference(&two[0]), None);
        assert_eq!(one[1].interference(&other[0]), Some(Interference::OtherAnswer));
    }

    proptest::proptest! {
        #[test]
        fn any_two_texts_are_compared_without_a_panic(one in ".{0,60}", two in ".{0,60}") {
            let note_type = Form::Basic.note_type();
            let found = |front: &String, back: &String| prompts(&note_type, &[front.clone(), back.clone()]);
            for prompt in found(&one, &two) {
                let _ = prompt.search_texts();
                proptest::prop_assert_eq!(prompt.interference(&prompt), Some(Interference::AskedTwice));
            }
        }
    }
}
