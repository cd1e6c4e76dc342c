//! Which statements concern a medicine: those that name it, or a class it belongs to, or a
//! member of the class that was asked about.

use super::DrugMatch;
use crate::library::Library;

/// Whether an interaction with `named` medicines concerns `drug`, and through which of them.
pub(super) fn interaction_concerns(
    library: &Library,
    drug: &str,
    named: &[String],
) -> Option<DrugMatch> {
    let directly = named.iter().any(|one| one == drug);
    if directly {
        return Some(DrugMatch { drug: drug.to_owned(), through: None, verified: true });
    }
    let above = classes(library, drug);
    let below = |one: &&String| classes(library, one).iter().any(|class| class == drug);
    let through = named.iter().find(|one| above.contains(one)).or_else(|| named.iter().find(below));
    through.map(|through| through_class(library, drug, through))
}

/// Whether a caution about interactions covers `drug`, itself or by its class.
pub(super) fn caution_concerns(library: &Library, drug: &str, code: &str) -> Option<DrugMatch> {
    let covers = |name: &str| {
        library.drug(name).is_some_and(|known| known.cautions.iter().any(|one| one == code))
    };
    if covers(drug) {
        let verified = library.drug(drug).is_some_and(|known| !known.unverified);
        return Some(DrugMatch { drug: drug.to_owned(), through: None, verified });
    }
    let through = classes(library, drug).into_iter().find(|class| covers(class))?;
    Some(through_class(library, drug, &through))
}

fn through_class(library: &Library, drug: &str, through: &str) -> DrugMatch {
    let verified = |name: &str| library.drug(name).is_some_and(|known| !known.unverified);
    DrugMatch {
        drug: drug.to_owned(),
        through: Some(through.to_owned()),
        verified: verified(drug) && verified(through),
    }
}

/// The classes of a medicine, and the classes of those.
fn classes(library: &Library, drug: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = vec![drug.to_owned()];
    while let Some(name) = open.pop() {
        let above = library.drug(&name).map_or(&[][..], |known| known.classes.as_slice());
        for class in above {
            if !found.contains(class) {
                found.push(class.clone());
                open.push(class.clone());
            }
        }
    }
    found
}
