//! Answers questions that name no herb or formulation with lists: indicated for X, containing Y,
//! contraindicated in Z.
//!
//! Lists are built from the catalog. Each item cites the sentence of its own monograph; verified
//! and unverified items form separate sentences.

use super::aspects::Aspect;
use super::builder::AnswerBuilder;
use super::passages::{Passage, Section, name_of, of_entity, of_record};
use super::question::{EntityKind, ParsedQuestion};
use super::{Language, Role};
use crate::catalog::HerbCatalog;
use crate::collections::unique;
use crate::model::Level;
use crate::safety::{self, CoverKind, Patient};

/// Maximum number of items named.
const MAX_NAMED: usize = 8;
/// Maximum number of unverified items named.
const MAX_NAMED_UNVERIFIED: usize = 4;
/// Maximum number of contraindicated items named.
const MAX_NAMED_FORBIDDEN: usize = 40;

/// A list item and the passage that supports it.
struct Item {
    name: String,
    passage: Passage,
}

/// Writes the lists that a question asks for and returns the entities they name. `order` has the
/// ids found by the search, best first.
pub(super) fn write(
    builder: &mut AnswerBuilder<'_>,
    question: &ParsedQuestion,
    order: &[String],
) -> Vec<String> {
    let mut listed = Vec::new();
    let indications = question.named(EntityKind::Indication);
    let cautions = asked_cautions(builder.catalog, question);
    let drugs = question.safety.patient.medicines.clone();
    let constituents = question.named(EntityKind::Constituent);
    if !constituents.is_empty() {
        for id in &constituents {
            listed.extend(containing_constituent(builder, id, order));
        }
        // `Which herbs contain eugenol?` uses the same cue as a question for formulations.
        builder.answered_aspects.extend([
            Aspect::Constituents,
            Aspect::Formulations,
            Aspect::Ingredients,
        ]);
    }
    let asks_for_use =
        cautions.is_empty() && drugs.is_empty() || question.aspects.contains(&Aspect::Uses);
    if !indications.is_empty() && asks_for_use {
        for group in same_name(question, EntityKind::Indication) {
            listed.extend(used_for(builder, &group, order));
        }
        if !listed.is_empty() {
            builder.answered_aspects.insert(Aspect::Uses);
        }
    }
    if listed.is_empty() || indications.is_empty() {
        // Contraindications precede precautions and interactions.
        for level in [Level::Contraindicated, Level::Precaution, Level::Interaction] {
            for code in &cautions {
                listed.extend(with_caution(builder, code, level, order));
            }
            for drug in &drugs {
                listed.extend(interacting(builder, drug, level, order));
            }
        }
    }
    listed.dedup();
    listed
}

/// Lists the medicines that contain all of these herbs and, if given, treat one of these
/// indications.
pub(super) fn medicines_with(
    builder: &mut AnswerBuilder<'_>,
    herbs: &[String],
    indications: &[String],
    order: &[String],
) -> Vec<String> {
    let catalog = builder.catalog;
    let fitting = catalog.formulations.iter().filter(|formulation| {
        herbs.iter().all(|herb| formulation.ingredients.contains(herb))
            && (indications.is_empty()
                || formulation.indications.iter().any(|used| indications.contains(&used.icd)))
    });
    let ids: Vec<String> = fitting.map(|formulation| formulation.id.clone()).collect();
    let needles: Vec<String> = herbs.iter().filter_map(|id| short_name(builder, id)).collect();
    let items = items(builder, &ids, Section::Ingredients, &needles, order);
    let names = needles.join(and(builder.language));
    let lead = match builder.language {
        Language::Th => format!("ยาในบัญชียาหลักแห่งชาติที่มี{names}เป็นตัวยา"),
        Language::En => format!("Medicines of the national list with {names}"),
    };
    list(builder, &lead, items, Role::Fact)
}

/// Lists what is indicated for these codes.
fn used_for(builder: &mut AnswerBuilder<'_>, codes: &[String], order: &[String]) -> Vec<String> {
    let catalog = builder.catalog;
    let herbs = catalog.herbs.iter().map(|herb| (&herb.id, &herb.indications));
    let medicines = catalog.formulations.iter().map(|one| (&one.id, &one.indications));
    let fitting = medicines.chain(herbs);
    let fitting = fitting.filter(|(_, uses)| uses.iter().any(|used| codes.contains(&used.icd)));
    let ids: Vec<String> = fitting.map(|(id, _)| id.clone()).collect();
    // Monographs state indications with their ICD codes.
    let items = first_passages(builder, &ids, Section::Uses, order, |text| {
        codes.iter().any(|code| contains_ignoring_case(text, code))
    });
    let label = codes.iter().filter_map(|code| indication_name(builder, code)).collect::<Vec<_>>();
    let label = label.join("; ");
    let lead = match builder.language {
        Language::Th => format!("ข้อบ่งใช้สำหรับ{label} มีในข้อมูลของ"),
        Language::En => format!("Indicated for {label}"),
    };
    list(builder, &lead, items, Role::Fact)
}

/// Lists the herbs that contain a constituent.
fn containing_constituent(
    builder: &mut AnswerBuilder<'_>,
    constituent: &str,
    order: &[String],
) -> Vec<String> {
    let Some(known) = builder.catalog.constituent(constituent) else { return Vec::new() };
    let items = items(
        builder,
        &known.herbs,
        Section::Constituents,
        std::slice::from_ref(&known.names.en),
        order,
    );
    let name = known.names.in_language(builder.language.display());
    let lead = match builder.language {
        Language::Th => format!("{name}เป็นสารสำคัญของ"),
        Language::En => format!("{name} is a constituent of"),
    };
    list(builder, &lead, items, Role::Fact)
}

/// Returns the caution codes that a question without an entity asks for.
fn asked_cautions(catalog: &HerbCatalog, question: &ParsedQuestion) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    // `ไข้` (fever) is an indication unless the question is about safety.
    let dangers = question.aspects.iter().any(|aspect| aspect.is_dangerous());
    let patient = &question.safety.patient;
    let groups = patient.groups.iter().filter_map(|id| catalog.group(id));
    for group in groups.filter(|group| dangers || !group.treatable) {
        let near = group.covers.iter().filter(|cover| cover.how != CoverKind::Related);
        codes.extend(near.map(|cover| cover.code.clone()));
    }
    codes.extend(patient.cautions.iter().cloned());
    // A named medicine is looked up with all its classes.
    if !patient.medicines.is_empty() {
        let is_interaction = |code: &String| {
            catalog.caution(code).is_some_and(|caution| caution.kind == "interaction")
        };
        codes.retain(|code| !is_interaction(code));
    }
    unique(codes)
}

/// Lists what carries a caution at a level.
fn with_caution(
    builder: &mut AnswerBuilder<'_>,
    code: &str,
    level: Level,
    order: &[String],
) -> Vec<String> {
    let catalog = builder.catalog;
    let Some(caution) = catalog.caution(code) else { return Vec::new() };
    let name = caution.names.in_language(builder.language.display());
    let herbs = catalog.herbs.iter().map(|herb| (&herb.id, &herb.cautions));
    let medicines = catalog.formulations.iter().map(|one| (&one.id, &one.cautions));
    // An entity with both a contraindication and a precaution counts as contraindicated.
    let warning = medicines.chain(herbs).filter(|(_, cautions)| {
        let levels = cautions.iter().filter(|warned| warned.code == code).map(|one| one.level);
        levels.min() == Some(level)
    });
    let ids: Vec<String> = warning.map(|(id, _)| id.clone()).collect();
    let is_combination = caution.kind == "interaction";
    let section = if is_combination { Section::Interactions } else { Section::Cautions };
    let items = items(builder, &ids, section, std::slice::from_ref(&name), order);
    let lead = lead(builder.language, level, is_combination, &name);
    let named = list(builder, &lead, items, Role::Danger);
    if !named.is_empty() {
        builder.answered_aspects.insert(Aspect::Cautions);
        builder.matched.insert(code.to_owned());
    }
    named
}

/// Returns the lead-in of a list of warnings.
fn lead(language: Language, level: Level, is_combination: bool, name: &str) -> String {
    let forbids = level == Level::Contraindicated;
    match (language, forbids, is_combination) {
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

/// Lists what interacts with a medicine at a level.
fn interacting(
    builder: &mut AnswerBuilder<'_>,
    drug: &str,
    level: Level,
    order: &[String],
) -> Vec<String> {
    let catalog = builder.catalog;
    let herbs = catalog.herbs.iter().map(|herb| herb.id.clone());
    let all: Vec<String> =
        herbs.chain(catalog.formulations.iter().map(|one| one.id.clone())).collect();
    let patient = Patient { medicines: vec![drug.to_owned()], ..Patient::default() };
    let display = builder.language.display();
    let mut items: Vec<Item> = Vec::new();
    let found = safety::alerts(catalog, &all, &patient);
    let own = found.iter().filter(|alert| alert.is_asked() && !alert.record.through_ingredient);
    // Records that name the medicine precede records of its class.
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
        let passage = of_record(catalog, &alert.record, builder.language);
        let name = name_of(catalog, carrier, display);
        if let Some((passage, name)) = passage.zip(name) {
            items.push(Item { name: clean(&name), passage });
        }
    }
    sort(&mut items, order);
    let name = name_of(catalog, drug, display).unwrap_or_else(|| drug.to_owned());
    let lead = lead(builder.language, level, true, &name);
    let listed = list(builder, &lead, items, Role::Danger);
    if !listed.is_empty() {
        builder.matched.insert(drug.to_owned());
        builder.answered_aspects.insert(Aspect::Interactions);
    }
    listed
}

/// Writes one sentence for verified and one for unverified items; returns the ids named.
fn list(builder: &mut AnswerBuilder<'_>, lead: &str, items: Vec<Item>, role: Role) -> Vec<String> {
    let (checked, unchecked): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| item.passage.verified);
    let mut listed = Vec::new();
    let forbids = ["Must not", "Contraindicated", "ห้าม"].iter().any(|word| lead.starts_with(word));
    let named = if forbids { MAX_NAMED_FORBIDDEN } else { MAX_NAMED };
    for (items, most, is_checked) in
        [(checked, named, true), (unchecked, MAX_NAMED_UNVERIFIED, false)]
    {
        let Some(text) = sentence(builder.language, lead, &items, most, is_checked) else {
            continue;
        };
        let passages: Vec<Passage> =
            items.into_iter().take(most).map(|item| item.passage).collect();
        listed.extend(passages.iter().map(|passage| passage.id.clone()));
        builder.write(text, &passages, role);
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
    // A medicine may have the name of its herb.
    let names = unique(items.iter().take(most).map(|item| &item.name));
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

/// Returns the passages of these entities that contain all of `needles`.
fn items(
    builder: &AnswerBuilder<'_>,
    ids: &[String],
    section: Section,
    needles: &[String],
    order: &[String],
) -> Vec<Item> {
    first_passages(builder, ids, section, order, |text| {
        needles.iter().all(|needle| contains_ignoring_case(text, needle))
    })
}

/// Returns the first matching passage of each entity in a section.
fn first_passages(
    builder: &AnswerBuilder<'_>,
    ids: &[String],
    section: Section,
    order: &[String],
    fits: impl Fn(&str) -> bool,
) -> Vec<Item> {
    let matches = |passage: &Passage| passage.section == section && fits(&passage.text);
    let each = ids.iter().filter_map(|id| {
        let passage = of_entity(builder.catalog, id, builder.language).into_iter().find(matches)?;
        let name = name_of(builder.catalog, id, builder.language.display())?;
        Some(Item { name: clean(&name), passage })
    });
    let mut items: Vec<Item> = each.collect();
    sort(&mut items, order);
    items
}

/// Sorts items by search rank.
fn sort(items: &mut [Item], order: &[String]) {
    items.sort_by_key(|item| {
        order.iter().position(|id| *id == item.passage.id).unwrap_or(usize::MAX)
    });
}

/// Case-insensitive substring test.
pub(super) fn contains_ignoring_case(text: &str, needle: &str) -> bool {
    !needle.is_empty() && text.to_lowercase().contains(&needle.to_lowercase())
}

/// Strips the bracketed part: `Andrographis (King of Bitters)` becomes `Andrographis`.
pub(super) fn clean(name: &str) -> String {
    name.split(" (").next().unwrap_or(name).trim().to_owned()
}

fn short_name(builder: &AnswerBuilder<'_>, id: &str) -> Option<String> {
    name_of(builder.catalog, id, builder.language.display()).map(|name| clean(&name))
}

fn indication_name(builder: &AnswerBuilder<'_>, code: &str) -> Option<String> {
    let indication = builder.catalog.indication(code)?;
    let name = match builder.language {
        Language::Th => &indication.names.th,
        Language::En => &indication.plain,
    };
    Some(format!("{name} ({code})"))
}

/// Groups the ids of each name: `ปวดท้อง` may denote several codes.
fn same_name(question: &ParsedQuestion, kind: EntityKind) -> Vec<Vec<String>> {
    let each =
        question.named_entities.iter().map(|entity| entity.of(kind).map(str::to_owned).collect());
    each.filter(|ids: &Vec<String>| !ids.is_empty()).collect()
}

const fn and(language: Language) -> &'static str {
    match language {
        Language::Th => "และ",
        Language::En => " and ",
    }
}
