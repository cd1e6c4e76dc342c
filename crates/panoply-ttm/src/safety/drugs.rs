//! Matches records to drugs: by name, by a class of the drug, by a member of the requested class,
//! or by a medicine that belongs to the requested and to the recorded class.

use super::DrugMatch;
use super::medicines::MedicineCatalog;

/// Returns whether an interaction concerns `drug`, and through which of its `named` drugs.
pub(super) fn interaction_concerns(
    medicines: &MedicineCatalog,
    drug: &str,
    named: &[String],
) -> Option<DrugMatch> {
    if named.iter().any(|one| one == drug) {
        return Some(DrugMatch { drug: drug.to_owned(), through: None, verified: true });
    }
    let above = medicines.get(drug).map(|known| known.classes.as_slice()).unwrap_or_default();
    let class = above
        .iter()
        .filter(|one| named.contains(&one.class))
        .max_by_key(|one| one.verified)
        .map(|one| (one.class.clone(), one.verified));
    let member = || {
        let member = named.iter().find_map(|one| {
            let classes = &medicines.get(one)?.classes;
            let known = classes.iter().find(|known| known.class == drug)?;
            Some((one.clone(), known.verified))
        });
        member.filter(|_| medicines.get(drug).is_some_and(|known| known.is_class))
    };
    let shared = || {
        let member = named.iter().find_map(|one| medicines.shared_member(drug, one));
        member.map(|member| (member.to_owned(), false))
    };
    let (through, verified) = class.or_else(member).or_else(shared)?;
    Some(DrugMatch { drug: drug.to_owned(), through: Some(through), verified })
}

/// Returns whether a caution about interactions covers `drug`, directly or by class.
pub(super) fn caution_concerns(
    medicines: &MedicineCatalog,
    drug: &str,
    code: &str,
) -> Option<DrugMatch> {
    let known = medicines.get(drug)?;
    let coverage = known.cautions.iter().find(|one| one.code == code)?;
    Some(DrugMatch {
        drug: drug.to_owned(),
        through: coverage.through.clone(),
        verified: coverage.verified,
    })
}
