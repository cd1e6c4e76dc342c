//! Resource documents of herbs, formulations and papers: contract members first, then additions.

use serde::Serialize;

use super::safety_words::SafetyWords;
use super::wire::{NOTICE, Notice};
use crate::catalog::HerbCatalog;
use crate::graph::NodeType;
use crate::knowledge::Knowledge;
use crate::model::{
    Bilingual, DisplayLanguage, Formulation, Herb, Paper, RecordedCaution, RecordedUse,
};
use crate::papers::Record;
use crate::safety::{Statement, Subject, Urgency};

/// `kg://herb/{id}`.
#[derive(Debug, Serialize)]
pub(crate) struct HerbDocument {
    id: String,
    names: NamesOut,
    parts: Vec<String>,
    constituents: Vec<ConstituentOut>,
    indications: Vec<IndicationOut>,
    sources: Vec<String>,
    scientific: String,
    family: String,
    synonyms: Vec<String>,
    names_verified: bool,
    contraindications: Vec<WarningOut>,
    formulations: Vec<NamedOut>,
    papers: Vec<String>,
    monograph: MonographOut,
    notice: Notice,
}

/// `kg://formulation/{id}`.
#[derive(Debug, Serialize)]
pub(crate) struct FormulationDocument {
    id: String,
    names: NamesOut,
    list: Vec<String>,
    herbs: Vec<NamedOut>,
    #[serde(rename = "use")]
    purpose: NamesOut,
    indications: Vec<IndicationOut>,
    contraindications: Vec<WarningOut>,
    papers: Vec<String>,
    sources: Vec<String>,
    monograph: MonographOut,
    notice: Notice,
}

/// `paper://pmid/{id}`.
#[derive(Debug, Serialize)]
pub(crate) struct PaperDocument {
    pmid: String,
    title: String,
    /// Empty if unknown: abstracts are not bundled.
    #[serde(rename = "abstract")]
    abstract_text: String,
    authors: Vec<String>,
    journal: String,
    year: Option<u16>,
    links: Vec<String>,
    /// Summary; absent for imported papers.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<FindingOut>,
    title_complete: bool,
    mesh: Vec<String>,
    publication_types: Vec<String>,
    herbs: Vec<String>,
    constituents: Vec<String>,
    formulations: Vec<String>,
    indications: Vec<String>,
    sources: Vec<String>,
    notice: Notice,
}

#[derive(Debug, Serialize)]
struct NamesOut {
    th: String,
    en: String,
}

impl From<&Bilingual> for NamesOut {
    fn from(names: &Bilingual) -> Self {
        Self { th: names.th.clone(), en: names.en.clone() }
    }
}

#[derive(Debug, Serialize)]
struct ConstituentOut {
    id: String,
    name: String,
    verified: bool,
    source: String,
}

#[derive(Debug, Serialize)]
struct IndicationOut {
    #[serde(rename = "icdCode")]
    icd_code: String,
    description: String,
    verified: bool,
    source: String,
}

#[derive(Debug, Serialize)]
struct WarningOut {
    code: String,
    contraindication: String,
    evidence: String,
    strength: &'static str,
    level: &'static str,
    verified: bool,
}

#[derive(Debug, Serialize)]
struct NamedOut {
    id: String,
    name: String,
}

#[derive(Debug, Serialize)]
struct MonographOut {
    th: Vec<StatementOut>,
    en: Vec<StatementOut>,
}

#[derive(Debug, Serialize)]
struct StatementOut {
    section: String,
    text: String,
    sources: Vec<String>,
    verified: bool,
}

#[derive(Debug, Serialize)]
struct FindingOut {
    th: String,
    en: String,
    from: String,
}

impl HerbDocument {
    pub(crate) fn of(knowledge: &Knowledge, herb: &Herb) -> Self {
        let catalog = &knowledge.catalog;
        let constituents = herb.constituents.iter().map(|holds| ConstituentOut {
            id: holds.id.clone(),
            name: catalog.constituent(&holds.id).map_or_else(
                || holds.id.clone(),
                |known| known.names.in_language(DisplayLanguage::En),
            ),
            verified: !holds.provenance.unverified,
            source: holds.provenance.source.clone(),
        });
        let synonyms = &herb.synonyms;
        let synonyms = synonyms.th.iter().chain(&synonyms.romanised).chain(&synonyms.scientific);
        let papers = catalog.papers.iter().filter(|paper| paper.herbs.contains(&herb.id));
        Self {
            id: herb.id.clone(),
            names: (&herb.names).into(),
            parts: herb.parts.clone(),
            constituents: constituents.collect(),
            indications: indications(catalog, &herb.indications),
            sources: herb.sources.clone(),
            scientific: herb.scientific.clone(),
            family: herb.family.clone(),
            synonyms: synonyms.cloned().collect(),
            names_verified: !herb.names_unverified,
            contraindications: warnings(catalog, NodeType::Herb, &herb.id, &herb.cautions),
            formulations: named(herb.formulations.iter(), |id| {
                catalog.formulation(id).map(|one| &one.names)
            }),
            papers: papers.map(|paper| paper.pmid.clone()).collect(),
            monograph: monograph(catalog, &herb.id),
            notice: NOTICE,
        }
    }
}

impl FormulationDocument {
    pub(crate) fn of(knowledge: &Knowledge, formulation: &Formulation) -> Self {
        let catalog = &knowledge.catalog;
        let id = &formulation.id;
        let papers = catalog.papers.iter().filter(|paper| paper.formulations.contains(id));
        Self {
            id: id.clone(),
            names: (&formulation.names).into(),
            list: formulation.list.clone(),
            herbs: named(formulation.ingredients.iter(), |id| {
                catalog.herb(id).map(|herb| &herb.names)
            }),
            purpose: (&formulation.purpose).into(),
            indications: indications(catalog, &formulation.indications),
            contraindications: warnings(catalog, NodeType::Formulation, id, &formulation.cautions),
            papers: papers.map(|paper| paper.pmid.clone()).collect(),
            sources: formulation.sources.clone(),
            monograph: monograph(catalog, id),
            notice: NOTICE,
        }
    }
}

impl PaperDocument {
    /// Merges the bundled and the imported record of a paper.
    pub(crate) fn of(bundled: Option<&Paper>, imported: Option<&Record>) -> Self {
        let of_bundled =
            |take: fn(&Paper) -> &Vec<String>| bundled.map(take).cloned().unwrap_or_default();
        let pmid = imported.map(|record| &record.pmid).or(bundled.map(|paper| &paper.pmid));
        let pmid = pmid.cloned().unwrap_or_default();
        let mut links = of_bundled(|paper| &paper.links);
        if links.is_empty() {
            links.push(format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"));
        }
        links.extend(
            imported
                .and_then(|record| record.doi.as_ref())
                .map(|doi| format!("https://doi.org/{doi}")),
        );
        let mut sources = of_bundled(|paper| &paper.sources);
        sources.extend(imported.map(|_| "imported".to_owned()));
        let text = |own: fn(&Record) -> &String, ours: fn(&Paper) -> &String| {
            let own = imported.map(own).filter(|text| !text.is_empty());
            own.or(bundled.map(ours)).cloned().unwrap_or_default()
        };
        let list = |own: fn(&Record) -> &Vec<String>, ours: fn(&Paper) -> &Vec<String>| {
            let own = imported.map(own).filter(|list| !list.is_empty());
            own.or(bundled.map(ours)).cloned().unwrap_or_default()
        };
        Self {
            title: text(|record| &record.title, |paper| &paper.title),
            abstract_text: imported.map(|record| record.abstract_text.clone()).unwrap_or_default(),
            authors: list(|record| &record.authors, |paper| &paper.authors),
            journal: text(|record| &record.journal, |paper| &paper.journal),
            year: imported.and_then(|record| record.year).or(bundled.and_then(|paper| paper.year)),
            links,
            finding: bundled.map(|paper| FindingOut {
                th: paper.finding.th.clone(),
                en: paper.finding.en.clone(),
                from: paper.finding.from.clone(),
            }),
            title_complete: imported.is_some() || bundled.is_some_and(|paper| paper.title_complete),
            mesh: list(|record| &record.mesh, |paper| &paper.mesh),
            publication_types: list(
                |record| &record.publication_types,
                |paper| &paper.publication_types,
            ),
            herbs: of_bundled(|paper| &paper.herbs),
            constituents: of_bundled(|paper| &paper.constituents),
            formulations: of_bundled(|paper| &paper.formulations),
            indications: of_bundled(|paper| &paper.indications),
            sources,
            notice: NOTICE,
            pmid,
        }
    }
}

fn indications(catalog: &HerbCatalog, uses: &[RecordedUse]) -> Vec<IndicationOut> {
    let each = uses.iter().map(|one| IndicationOut {
        icd_code: one.icd.clone(),
        description: catalog.indication(&one.icd).map_or_else(
            || one.icd.clone(),
            |known| known.names.in_language(DisplayLanguage::Both),
        ),
        verified: !one.provenance.unverified,
        source: one.provenance.source.clone(),
    });
    each.collect()
}

fn warnings(
    catalog: &HerbCatalog,
    entity_type: NodeType,
    id: &str,
    cautions: &[RecordedCaution],
) -> Vec<WarningOut> {
    let words = SafetyWords { catalog, display: DisplayLanguage::Both };
    let each = cautions.iter().map(|warned| {
        let statement = Statement {
            entity: id.to_owned(),
            entity_type,
            subject: Subject::Caution { code: warned.code.clone(), level: warned.level },
            strength: warned.strength,
            sources: vec![warned.provenance.source.clone()],
            verified: !warned.provenance.unverified,
            pmids: warned.pmids.clone(),
            via: Vec::new(),
            matches: Vec::new(),
            groups: Vec::new(),
            urgency: Urgency::of_caution(catalog, warned),
        };
        WarningOut {
            code: warned.code.clone(),
            contraindication: words.contraindication(&statement),
            evidence: words.evidence(&statement),
            strength: warned.strength.as_str(),
            level: warned.level.as_str(),
            verified: statement.verified,
        }
    });
    each.collect()
}

fn named<'a>(
    ids: impl Iterator<Item = &'a String>,
    names: impl Fn(&str) -> Option<&'a Bilingual>,
) -> Vec<NamedOut> {
    let each = ids.map(|id| NamedOut {
        id: id.clone(),
        name: names(id)
            .map_or_else(|| id.clone(), |names| names.in_language(DisplayLanguage::Both)),
    });
    each.collect()
}

fn monograph(catalog: &HerbCatalog, id: &str) -> MonographOut {
    let in_language = |lang: &str| -> Vec<StatementOut> {
        let statements = catalog.monograph(id, lang).map_or(&[][..], |one| &one.statements);
        let each = statements.iter().map(|statement| StatementOut {
            section: statement.section.clone(),
            text: statement.text.clone(),
            sources: statement.sources.clone(),
            verified: !statement.unverified,
        });
        each.collect()
    };
    MonographOut { th: in_language("th"), en: in_language("en") }
}
