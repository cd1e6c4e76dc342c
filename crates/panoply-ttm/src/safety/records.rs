//! Safety records of an entity: its own cautions and interactions, and those of its ingredients.

use crate::catalog::HerbCatalog;
use crate::model::{Interaction, InteractionLevel, Level, Provenance, RecordedCaution, Strength};

/// A safety record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// Herb or formulation id that has the record.
    pub carrier: &'l str,
    /// Whether the carrier is an ingredient of the queried entity.
    pub through_ingredient: bool,
    /// Content.
    pub content: RecordContent<'l>,
}

/// Content of a safety record.
#[derive(Clone, Copy, Debug)]
pub enum RecordContent<'l> {
    /// A caution.
    Caution(&'l RecordedCaution),
    /// An interaction.
    Interaction(&'l Interaction),
}

impl Record<'_> {
    /// Returns the provenance.
    pub const fn provenance(&self) -> &Provenance {
        match self.content {
            RecordContent::Caution(warned) => &warned.provenance,
            RecordContent::Interaction(interaction) => &interaction.provenance,
        }
    }

    /// Returns whether the source is verified.
    pub const fn verified(&self) -> bool {
        !self.provenance().unverified
    }

    /// Returns the strength.
    pub const fn strength(&self) -> Strength {
        match self.content {
            RecordContent::Caution(warned) => warned.strength,
            RecordContent::Interaction(interaction) => interaction.strength,
        }
    }

    /// Returns whether the source contraindicates, verified or not.
    pub const fn forbids(&self) -> bool {
        matches!(
            self.content,
            RecordContent::Caution(RecordedCaution { level: Level::Contraindicated, .. })
        )
    }

    /// Returns the urgency.
    pub fn urgency(&self, catalog: &HerbCatalog) -> Urgency {
        match self.content {
            RecordContent::Caution(warned) => Urgency::of_caution(catalog, warned),
            RecordContent::Interaction(interaction) => Urgency::of_interaction(interaction),
        }
    }
}

/// Urgency of a record, highest first. An unverified contraindication maps to `Avoid`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Urgency {
    /// Contraindicated by a verified source.
    Contraindicated,
    /// A source advises against the combination, or an unverified contraindication.
    Avoid,
    /// Use with caution.
    Caution,
    /// Monitor for an effect, or observe a time limit.
    Monitor,
}

impl Urgency {
    /// Returns the identifier used in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contraindicated => "contraindicated",
            Self::Avoid => "avoid",
            Self::Caution => "caution",
            Self::Monitor => "monitor",
        }
    }

    /// Returns the urgency of a caution.
    pub fn of_caution(catalog: &HerbCatalog, warned: &RecordedCaution) -> Self {
        let kind = catalog.caution(&warned.code).map(|caution| caution.kind.as_str());
        match (warned.level, warned.provenance.unverified, kind) {
            (Level::Contraindicated, false, _) => Self::Contraindicated,
            (Level::Contraindicated, true, _) => Self::Avoid,
            (_, _, Some("effect" | "duration")) => Self::Monitor,
            (Level::Precaution | Level::Interaction, _, _) => Self::Caution,
        }
    }

    /// Returns the urgency of an interaction.
    pub const fn of_interaction(interaction: &Interaction) -> Self {
        match interaction.level {
            InteractionLevel::Avoid => Self::Avoid,
            InteractionLevel::Caution => Self::Caution,
            InteractionLevel::Monitor => Self::Monitor,
        }
    }
}

/// Returns all records of an entity, its own first.
pub(crate) fn records<'l>(catalog: &'l HerbCatalog, entity: &str) -> Vec<Record<'l>> {
    let mut found = Vec::new();
    let herb = catalog.herb(entity).map(|herb| herb.id.as_str());
    let formulation = catalog.formulation(entity);
    let own = herb.or_else(|| formulation.map(|one| one.id.as_str()));
    found.extend(own.into_iter().flat_map(|id| of_carrier(catalog, id, false)));
    let ingredients = formulation.map(|one| one.ingredients.as_slice()).unwrap_or_default();
    found.extend(ingredients.iter().flat_map(|herb| of_carrier(catalog, herb, true)));
    found
}

fn of_carrier<'l>(
    catalog: &'l HerbCatalog,
    carrier: &'l str,
    through_ingredient: bool,
) -> impl Iterator<Item = Record<'l>> {
    let cautions = catalog.warnings(carrier).iter().map(RecordContent::Caution);
    let interactions = catalog
        .interactions
        .iter()
        .filter(move |one| one.entity == carrier)
        .map(RecordContent::Interaction);
    cautions.chain(interactions).map(move |content| Record { carrier, through_ingredient, content })
}
