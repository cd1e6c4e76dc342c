//! Tax and deductions against an independent program that was written from the law (`tax_law.py`).

use std::collections::{BTreeMap, HashMap};

use panoply_rmf::deductions::Saving;
use panoply_rmf::tax::{Situation, benefit};
use rust_decimal::Decimal;

const CASES: &str = include_str!("cases.tsv");

#[test]
fn random_cases_equal_the_independent_program() {
    let mut lines = CASES.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut compared = 0;
    for line in lines {
        let cells: HashMap<&str, &str> = names.iter().copied().zip(line.split('\t')).collect();
        let amount = |name: &str| -> Option<Decimal> {
            Some(cells[name]).filter(|cell| !cell.is_empty()).map(|cell| cell.parse().unwrap())
        };
        let savings: BTreeMap<Saving, Decimal> = Saving::ALL
            .into_iter()
            .map(|saving| (saving, amount(saving.as_str()).unwrap()))
            .collect();
        let found = benefit(&Situation {
            year: cells["year"].parse().unwrap(),
            income: amount("income").unwrap(),
            expenses: None,
            other_deductions: amount("other").unwrap(),
            savings,
            bought: amount("bought").unwrap(),
            planned: amount("planned"),
        })
        .unwrap();
        for (name, value) in [
            ("room", found.room_left),
            ("deductible", found.deductible),
            ("before", found.taxable_before),
            ("after", found.taxable_after),
            ("tax_before", found.tax_before),
            ("tax_after", found.tax_after),
            ("esg", found.esg_room),
        ] {
            assert_eq!(value, amount(name).unwrap(), "{name} of {line}");
            compared += 1;
        }
    }
    assert!(compared >= 7_000, "{compared} values");
}
