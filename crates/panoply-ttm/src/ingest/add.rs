//! Merges the facts of user documents into the catalog.

use crate::catalog::HerbCatalog;
use crate::model::{
    Bilingual, HerbConstituent, Interaction, InteractionLevel, Provenance, RecordedCaution,
    RecordedUse, Source,
};
use crate::user_data::{Claim, Fact, UserData, UserDocument, document_uri};

/// Source kind of user documents.
pub const DOCUMENT: &str = "document";

impl HerbCatalog {
    /// Returns the catalog extended by facts of user documents that it does not contain. Facts
    /// about unknown ids, for example of a newer release, are ignored.
    pub fn with_user_data(&self, user_data: UserData) -> Self {
        let mut catalog = self.clone();
        catalog.sources.extend(user_data.documents.iter().map(source_of));
        for fact in &user_data.facts {
            catalog.add(fact);
        }
        catalog.user_data = user_data;
        catalog
    }

    fn add(&mut self, fact: &Fact) {
        let provenance = Provenance { source: fact.said.document.clone(), unverified: true };
        match &fact.claim {
            Claim::Holds { constituent } => self.add_holds(&fact.subject, constituent, provenance),
            Claim::UsedFor { icd } => self.add_use(&fact.subject, icd, provenance),
            Claim::Warns { code, level } => {
                let strength = fact.claim.strength();
                let (code, level) = (code.clone(), *level);
                let warned =
                    RecordedCaution { code, level, strength, pmids: Vec::new(), provenance };
                self.add_warning(&fact.subject, warned);
            }
            Claim::InteractsWith { drug } => self.add_interaction(fact, drug, provenance),
        }
    }

    fn add_holds(&mut self, herb: &str, constituent: &str, provenance: Provenance) {
        if self.constituent(constituent).is_none() {
            return;
        }
        let Some(herb) = self.herb_mut(herb) else { return };
        if !herb.constituents.iter().any(|holds| holds.id == constituent) {
            herb.constituents.push(HerbConstituent { id: constituent.to_owned(), provenance });
        }
    }

    fn add_use(&mut self, subject: &str, icd: &str, provenance: Provenance) {
        if self.indication(icd).is_none() {
            return;
        }
        let Some(uses) = self.uses_mut(subject) else { return };
        if !uses.iter().any(|used| used.icd == icd) {
            uses.push(RecordedUse { icd: icd.to_owned(), provenance });
        }
    }

    /// A caution that exists at any level stays unchanged: documents neither weaken nor strengthen
    /// it.
    fn add_warning(&mut self, subject: &str, warned: RecordedCaution) {
        if self.caution(&warned.code).is_none() {
            return;
        }
        let Some(warnings) = self.warnings_mut(subject) else { return };
        if !warnings.iter().any(|known| known.code == warned.code) {
            warnings.push(warned);
        }
    }

    fn add_interaction(&mut self, fact: &Fact, drug: &str, provenance: Provenance) {
        let entity = &fact.subject;
        let there = self.herb(entity).is_some() || self.formulation(entity).is_some();
        let known = |one: &Interaction| {
            one.entity == *entity && one.drugs.iter().any(|known| known == drug)
        };
        if !there || self.drug(drug).is_none() || self.interactions.iter().any(known) {
            return;
        }
        self.interactions.push(Interaction {
            id: format!("IX:{entity}:{drug}"),
            entity: entity.clone(),
            drugs: vec![drug.to_owned()],
            effect: Bilingual {
                th: "เอกสารที่นำเข้ากล่าวถึงไว้".to_owned(),
                en: "named in a user document".to_owned(),
            },
            mechanism: Bilingual::default(),
            strength: fact.claim.strength(),
            level: InteractionLevel::Caution,
            management: Bilingual::default(),
            provenance,
        });
    }
}

impl Fact {
    /// Returns whether the catalog contains the fact.
    pub fn is_known(&self, catalog: &HerbCatalog) -> bool {
        let uses = || catalog.uses(&self.subject).iter();
        match &self.claim {
            Claim::Holds { constituent } => catalog
                .herb(&self.subject)
                .is_some_and(|herb| herb.constituents.iter().any(|holds| holds.id == *constituent)),
            Claim::UsedFor { icd } => uses().any(|used| used.icd == *icd),
            Claim::Warns { code, .. } => {
                catalog.warnings(&self.subject).iter().any(|warned| warned.code == *code)
            }
            Claim::InteractsWith { drug } => catalog
                .interactions
                .iter()
                .any(|one| one.entity == self.subject && one.drugs.contains(drug)),
        }
    }
}

fn source_of(document: &UserDocument) -> Source {
    Source {
        id: document.id.clone(),
        title: document.title.clone(),
        kind: DOCUMENT.to_owned(),
        licence: String::new(),
        date: String::new(),
        access: document_uri(&document.id),
        took: "facts extracted automatically, not verified".to_owned(),
        verified: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, NodeType, Relation};
    use crate::model::Level;
    use crate::user_data::Quotation;

    fn fact(subject: &str, claim: Claim) -> Fact {
        let said = Quotation {
            document: "D:abc".to_owned(),
            chunk: 1,
            page: 2,
            start: 10,
            end: 20,
            quote: "words".to_owned(),
            certainty: 80,
            rule: "test".to_owned(),
        };
        Fact { subject: subject.to_owned(), claim, said }
    }

    fn user_data(facts: Vec<Fact>) -> UserData {
        let document = UserDocument {
            id: "D:abc".to_owned(),
            sha256: "abc".to_owned(),
            name: "a.pdf".to_owned(),
            title: "A paper".to_owned(),
            lang: "en".to_owned(),
            pages: 3,
            job: "job".to_owned(),
        };
        UserData { version: 1, documents: vec![document], facts }
    }

    #[test]
    fn new_fact_becomes_an_unverified_edge_with_its_page() {
        let catalog = HerbCatalog::read().unwrap();
        let claim = Claim::Holds { constituent: "C:gingerol-6".to_owned() };
        let constituent =
            catalog.constituents.iter().find(|one| !one.herbs.contains(&"H:turmeric".to_owned()));
        let claim = constituent.map_or(claim, |one| Claim::Holds { constituent: one.id.clone() });
        let new = fact("H:turmeric", claim.clone());
        assert!(!new.is_known(&catalog));
        let catalog = catalog.with_user_data(user_data(vec![new.clone()]));
        let graph = Graph::of(&catalog);
        let from = graph.find(NodeType::Herb, "H:turmeric").unwrap();
        let to = graph.find(NodeType::Constituent, claim.object()).unwrap();
        let edge = graph.edges().iter().find(|edge| {
            edge.from == from && edge.to == to && edge.relation == Relation::HasConstituent
        });
        let edge = edge.unwrap();
        assert!(!edge.verified);
        assert_eq!(edge.sources, ["D:abc"]);
        assert_eq!(edge.said, [new.said]);
    }

    #[test]
    fn user_document_does_not_change_the_level_of_a_curated_warning() {
        let bundled = HerbCatalog::read().unwrap();
        let herb = bundled
            .herbs
            .iter()
            .find(|herb| herb.cautions.iter().any(|one| one.level == Level::Precaution));
        let herb = herb.unwrap();
        let warned = herb.cautions.iter().find(|one| one.level == Level::Precaution).unwrap();
        let claim = Claim::Warns { code: warned.code.clone(), level: Level::Contraindicated };
        let catalog = bundled.with_user_data(user_data(vec![fact(&herb.id, claim)]));
        let now = &catalog.herb(&herb.id).unwrap().cautions;
        assert_eq!(now.len(), herb.cautions.len());
        let graph = Graph::of(&catalog);
        let from = graph.find(NodeType::Herb, &herb.id).unwrap();
        let to = graph.find(NodeType::Caution, &warned.code).unwrap();
        let between = |edge: &&crate::graph::Edge| edge.from == from && edge.to == to;
        let edges: Vec<_> = graph.edges().iter().filter(between).collect();
        assert_eq!(edges.len(), 1);
        assert_eq!(edges[0].relation, Relation::Caution);
        assert_eq!(edges[0].strength, Some(warned.strength));
        assert_eq!(edges[0].said.len(), 1, "the document is one more source of the known warning");
    }

    #[test]
    fn fact_about_an_unknown_id_is_ignored() {
        let bundled = HerbCatalog::read().unwrap();
        let lost = [
            fact("H:nothing", Claim::UsedFor { icd: "K30".to_owned() }),
            fact("H:turmeric", Claim::UsedFor { icd: "Z99.99".to_owned() }),
            fact("H:turmeric", Claim::InteractsWith { drug: "no such medicine".to_owned() }),
        ];
        let edges = Graph::of(&bundled).edges().len();
        let catalog = bundled.with_user_data(user_data(lost.to_vec()));
        assert_eq!(Graph::of(&catalog).edges().len(), edges);
    }
}
