//! Questions that name no herb and no medicine: which are used for this, hold that, warn of it.
//!
//! A list is made from the graph. Each item cites the sentence of its own monograph that says so,
//! and what was checked stands apart from what was not.

use super::aspects::Aspect;
use super::page::Page;
use super::passages::{Passage, Section, name_of, of_entity, of_record};
use super::reading::{Reading, Sort};
use super::{Language, Role};
use crate::library::Library;
use crate::model::Level;
use crate::safety::{self, How, Patient};

/// So many items of a list are named.
const NAMED: usize = 8;
/// So many of those that were not checked.
const NAMED_UNCHECKED: usize = 4;
/// So many of those that are forbidden.
const NAMED_FORBIDDEN: usize = 40;

/// An item of a list: the passage that says so.
struct Item {
    name: String,
    passage: Passage,
}

/// Writes the lists that a question asks for, and tells which entities they name. `order` has
/// the ids that the search found, best first.
pub(super) fn write(page: &mut Page<'_>, reading: &Reading, order: &[String]) -> Vec<String> {
    let mut listed = Vec::new();
    let indications = reading.named(Sort::Indication);
    let cautions = asked_cautions(page.library, reading);
    let drugs = reading.safety.patient.medicines.clone();
    let constituents = reading.named(Sort::Constituent);
    if !constituents.is_empty() {
        for id in &constituents {
            listed.extend(holders(page, id, order));
        }
        // `Which herbs contain eugenol?` asks for herbs, by the word for medicines.
        page.met.extend([Aspect::Constituents, Aspect::Formulations, Aspect::Ingredients]);
    }
    let asks_for_use =
        cautions.is_empty() && drugs.is_empty() || reading.aspects.contains(&Aspect::Uses);
    if !indications.is_empty() && asks_for_use {
        for group in same_name(reading, Sort::Indication) {
            listed.extend(users(page, &group, order));
        }
        if !listed.is_empty() {
            page.met.insert(Aspect::Uses);
        }
    }
    if listed.is_empty() || indications.is_empty() {
        // What forbids goes before what asks for care, whatever it is that was named first.
        for level in [Level::Contraindicated, Level::Precaution, Level::Interaction] {
            for code in &cautions {
                listed.extend(warned_of(page, code, level, order));
            }
            for drug in &drugs {
                listed.extend(interacting(page, drug, level, order));
            }
        }
    }
    listed.dedup();
    listed
}

/// The medicines that hold all of these herbs, and are for one of these indications if any.
pub(super) fn medicines_with(
    page: &mut Page<'_>,
    herbs: &[String],
    indications: &[String],
    order: &[String],
) -> Vec<String> {
    let library = page.library;
    let fitting = library.formulations.iter().filter(|formulation| {
        herbs.iter().all(|herb| formulation.ingredients.contains(herb))
            && (indications.is_empty()
                || formulation.indications.iter().any(|used| indications.contains(&used.icd)))
    });
    let ids: Vec<String> = fitting.map(|formulation| formulation.id.clone()).collect();
    let needles: Vec<String> = herbs.iter().filter_map(|id| short_name(page, id)).collect();
    let items = items(page, &ids, Section::Ingredients, &needles, order);
    let names = needles.join(and(page.language));
    let lead = match page.language {
        Language::Th => format!("ยาในบัญชียาหลักแห่งชาติที่มี{names}เป็นตัวยา"),
        Language::En => format!("Medicines of the national list with {names}"),
    };
    list(page, &lead, items, Role::Fact)
}

/// What is used for an indication.
fn users(page: &mut Page<'_>, codes: &[String], order: &[String]) -> Vec<String> {
    let library = page.library;
    let herbs = library.herbs.iter().map(|herb| (&herb.id, &herb.indications));
    let medicines = library.formulations.iter().map(|one| (&one.id, &one.indications));
    let fitting = medicines.chain(herbs);
    let fitting = fitting.filter(|(_, uses)| uses.iter().any(|used| codes.contains(&used.icd)));
    let ids: Vec<String> = fitting.map(|(id, _)| id.clone()).collect();
    // A monograph names its indications by their codes too.
    let items = gathered(page, &ids, Section::Uses, order, |text| {
        codes.iter().any(|code| holds(text, code))
    });
    let label = codes.iter().filter_map(|code| indication_name(page, code)).collect::<Vec<_>>();
    let label = label.join("; ");
    let lead = match page.language {
        Language::Th => format!("ข้อบ่งใช้สำหรับ{label} มีในข้อมูลของ"),
        Language::En => format!("Indicated for {label}"),
    };
    list(page, &lead, items, Role::Fact)
}

/// The herbs that hold a substance.
fn holders(page: &mut Page<'_>, constituent: &str, order: &[String]) -> Vec<String> {
    let Some(known) = page.library.constituent(constituent) else { return Vec::new() };
    let items = items(
        page,
        &known.herbs,
        Section::Constituents,
        std::slice::from_ref(&known.names.en),
        order,
    );
    let name = known.names.in_tongue(page.language.tongue());
    let lead = match page.language {
        Language::Th => format!("{name}เป็นสารสำคัญของ"),
        Language::En => format!("{name} is a constituent of"),
    };
    list(page, &lead, items, Role::Fact)
}

/// The cautions that a question without a herb asks for: those of the groups it names, whatever
/// part of them, and those it names as such.
fn asked_cautions(library: &Library, reading: &Reading) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    // `ไข้` is an illness to treat unless dangers are asked for.
    let dangers = reading.aspects.iter().any(|aspect| aspect.is_dangerous());
    let patient = &reading.safety.patient;
    let groups = patient.groups.iter().filter_map(|id| library.group(id));
    for group in groups.filter(|group| dangers || !group.treatable) {
        let near = group.covers.iter().filter(|cover| cover.how != How::Related);
        codes.extend(near.map(|cover| cover.code.clone()));
    }
    codes.extend(patient.cautions.iter().cloned());
    let mut once: Vec<String> = Vec::new();
    for code in codes {
        if !once.contains(&code) {
            once.push(code);
        }
    }
    once
}

/// What warns of something at a level.
fn warned_of(page: &mut Page<'_>, code: &str, level: Level, order: &[String]) -> Vec<String> {
    let library = page.library;
    let Some(caution) = library.caution(code) else { return Vec::new() };
    let name = caution.names.in_tongue(page.language.tongue());
    let herbs = library.herbs.iter().map(|herb| (&herb.id, &herb.cautions));
    let medicines = library.formulations.iter().map(|one| (&one.id, &one.cautions));
    // One that forbids and asks for care too forbids.
    let warning = medicines.chain(herbs).filter(|(_, cautions)| {
        let levels = cautions.iter().filter(|warned| warned.code == code).map(|one| one.level);
        levels.min() == Some(level)
    });
    let ids: Vec<String> = warning.map(|(id, _)| id.clone()).collect();
    let together = caution.kind == "interaction";
    let section = if together { Section::Interactions } else { Section::Cautions };
    let items = items(page, &ids, section, std::slice::from_ref(&name), order);
    let lead = lead(page.language, level, together, &name);
    let named = list(page, &lead, items, Role::Danger);
    if !named.is_empty() {
        page.met.insert(Aspect::Cautions);
        page.matched.insert(code.to_owned());
    }
    named
}

/// The beginning of a list of warnings, in the words of its level.
fn lead(language: Language, level: Level, together: bool, name: &str) -> String {
    let forbids = level == Level::Contraindicated;
    match (language, forbids, together) {
        (Language::Th, true, true) => format!("ห้ามใช้ร่วมกับ{name}"),
        (Language::Th, false, true) => format!("ให้ระวังเมื่อใช้ร่วมกับ{name}"),
        (Language::Th, true, false) => format!("ห้ามใช้ในกรณี{name}"),
        (Language::Th, false, false) => format!("ให้ระวังในกรณี{name}"),
        (Language::En, true, true) => format!("Must not be combined with {name}"),
        (Language::En, false, true) => format!("Care is needed together with {name}"),
        (Language::En, true, false) => format!("Contraindicated in {name}"),
        (Language::En, false, false) => format!("To be used with caution in {name}"),
    }
}

/// What interacts with a medicine at a level.
fn interacting(page: &mut Page<'_>, drug: &str, level: Level, order: &[String]) -> Vec<String> {
    let library = page.library;
    let herbs = library.herbs.iter().map(|herb| herb.id.clone());
    let all: Vec<String> =
        herbs.chain(library.formulations.iter().map(|one| one.id.clone())).collect();
    let patient = Patient { medicines: vec![drug.to_owned()], ..Patient::default() };
    let tongue = page.language.tongue();
    let mut items: Vec<Item> = Vec::new();
    let found = safety::alerts(library, &all, &patient);
    let own = found.iter().filter(|alert| alert.is_asked() && !alert.record.through_ingredient);
    // What a source says of the medicine itself goes before what it says of its class.
    let direct = |one: &&safety::Alert<'_>| one.medicines.iter().any(|one| one.through.is_none());
    let (first, then): (Vec<_>, Vec<_>) = own.partition(direct);
    let mut forbidden: Vec<&str> = Vec::new();
    for alert in first.iter().chain(&then) {
        if alert.record.forbids() {
            forbidden.push(alert.record.carrier);
        }
    }
    for alert in first.iter().chain(&then) {
        let carrier = alert.record.carrier;
        let own_level = match (alert.record.forbids(), forbidden.contains(&carrier)) {
            (true, _) => Level::Contraindicated,
            (false, true) => continue,
            (false, false) => Level::Interaction,
        };
        if own_level != level || items.iter().any(|item| item.passage.id == carrier) {
            continue;
        }
        let passage = of_record(library, &alert.record, page.language);
        let name = name_of(library, carrier, tongue);
        if let Some((passage, name)) = passage.zip(name) {
            items.push(Item { name: clean(&name), passage });
        }
    }
    sort(&mut items, order);
    let name = name_of(library, drug, tongue).unwrap_or_else(|| drug.to_owned());
    let lead = lead(page.language, level, true, &name);
    let listed = list(page, &lead, items, Role::Danger);
    if !listed.is_empty() {
        page.matched.insert(drug.to_owned());
        page.met.insert(Aspect::Interactions);
    }
    listed
}

/// Writes what was checked and what was not as two sentences, and tells whom they name.
fn list(page: &mut Page<'_>, lead: &str, items: Vec<Item>, role: Role) -> Vec<String> {
    let (checked, unchecked): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| item.passage.verified);
    let mut listed = Vec::new();
    let forbids = ["Must not", "Contraindicated", "ห้าม"].iter().any(|word| lead.starts_with(word));
    let named = if forbids { NAMED_FORBIDDEN } else { NAMED };
    for (items, most, is_checked) in [(checked, named, true), (unchecked, NAMED_UNCHECKED, false)] {
        let Some(text) = sentence(page.language, lead, &items, most, is_checked) else { continue };
        let passages: Vec<Passage> =
            items.into_iter().take(most).map(|item| item.passage).collect();
        listed.extend(passages.iter().map(|passage| passage.id.clone()));
        page.write(text, &passages, role);
    }
    listed
}

fn sentence(
    language: Language,
    lead: &str,
    items: &[Item],
    most: usize,
    checked: bool,
) -> Option<String> {
    let names: Vec<&str> = items.iter().take(most).map(|item| item.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let more = items.len() > most;
    Some(match (language, checked) {
        (Language::Th, true) => {
            format!("{lead}: {}{}", names.join(", "), if more { " เป็นต้น" } else { "" })
        }
        (Language::Th, false) => format!(
            "{lead} ตามความรู้ทั่วไปที่ยังไม่ได้ตรวจสอบ: {}{}",
            names.join(", "),
            if more { " เป็นต้น" } else { "" }
        ),
        (Language::En, true) => {
            format!("{lead}: {}{}", names.join(", "), if more { ", among others" } else { "" })
        }
        (Language::En, false) => format!(
            "{lead}, by general knowledge that was not checked: {}{}",
            names.join(", "),
            if more { ", among others" } else { "" }
        ),
    })
}

/// The passages of these entities that say all of `needles`.
fn items(
    page: &Page<'_>,
    ids: &[String],
    section: Section,
    needles: &[String],
    order: &[String],
) -> Vec<Item> {
    gathered(page, ids, section, order, |text| needles.iter().all(|needle| holds(text, needle)))
}

/// The first passage in a section of each of these entities whose text fits.
fn gathered(
    page: &Page<'_>,
    ids: &[String],
    section: Section,
    order: &[String],
    fits: impl Fn(&str) -> bool,
) -> Vec<Item> {
    let told = |passage: &Passage| passage.section == section && fits(&passage.text);
    let each = ids.iter().filter_map(|id| {
        let passage = of_entity(page.library, id, page.language).into_iter().find(told)?;
        let name = name_of(page.library, id, page.language.tongue())?;
        Some(Item { name: clean(&name), passage })
    });
    let mut items: Vec<Item> = each.collect();
    sort(&mut items, order);
    items
}

/// What the search found goes first, in its order.
fn sort(items: &mut [Item], order: &[String]) {
    items.sort_by_key(|item| {
        order.iter().position(|id| *id == item.passage.id).unwrap_or(usize::MAX)
    });
}

/// Whether a text has these words, whatever their case.
pub(super) fn holds(text: &str, needle: &str) -> bool {
    !needle.is_empty() && text.to_lowercase().contains(&needle.to_lowercase())
}

/// `Andrographis (King of Bitters)` without what is in brackets, as monographs write it.
pub(super) fn clean(name: &str) -> String {
    name.split(" (").next().unwrap_or(name).trim().to_owned()
}

fn short_name(page: &Page<'_>, id: &str) -> Option<String> {
    name_of(page.library, id, page.language.tongue()).map(|name| clean(&name))
}

fn indication_name(page: &Page<'_>, code: &str) -> Option<String> {
    let indication = page.library.indication(code)?;
    let name = match page.language {
        Language::Th => &indication.names.th,
        Language::En => &indication.plain,
    };
    Some(format!("{name} ({code})"))
}

/// The ids of each name of a sort, together: `ปวดท้อง` may mean several codes.
fn same_name(reading: &Reading, sort: Sort) -> Vec<Vec<String>> {
    let each = reading.things.iter().map(|thing| thing.of(sort).map(str::to_owned).collect());
    each.filter(|ids: &Vec<String>| !ids.is_empty()).collect()
}

const fn and(language: Language) -> &'static str {
    match language {
        Language::Th => "และ",
        Language::En => " and ",
    }
}
