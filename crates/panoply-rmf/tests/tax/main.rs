//! Tax and deductions against an independent program that was written from the law (`tax_law.py`),
//! and against published worked examples.
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod holding;

use std::collections::{BTreeMap, HashMap};

use panoply_rmf::deductions::{Saving, ltf_part};
use panoply_rmf::tax::{Benefit, Situation, benefit};
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

/// A situation with an income and at most one saving.
fn found(year: i16, income: i64, saving: Option<(Saving, Decimal)>) -> Benefit {
    benefit(&Situation {
        year,
        income: income.into(),
        expenses: None,
        other_deductions: Decimal::ZERO,
        savings: saving.into_iter().collect(),
        bought: Decimal::ZERO,
        planned: Some(Decimal::ZERO),
    })
    .unwrap()
}

/// No worked example of the Revenue Department itself could be reached. These are of a public
/// program that names its rate table (rd.go.th/59670.html): README of anurat/laravel-thai-tax.
#[test]
fn tax_equals_published_worked_examples() {
    const SOURCE: &str = "anurat/laravel-thai-tax, README, tax year 2564";
    for (income, tax) in [
        // 250,000 + 50,000 + 15,000.
        (315_000, 250),
        // 100,000, twelve salaries of 50,000, a bonus of 50,000.
        (750_000, 41_000),
    ] {
        assert_eq!(found(2021, income, None).tax_before, tax.into(), "{income}: {SOURCE}");
    }
}

/// LTF units moved to Thai ESGX: value of all units, income, and the deduction of each year.
#[test]
fn ltf_units_moved_to_thai_esgx_equal_published_worked_examples() {
    const FORVIS: &str = "Forvis Mazars Thailand, payroll flash news, April 2025, example 1";
    const SEC: &str = "Securities and Exchange Commission on Thai ESGX";
    let cases = [
        (FORVIS, 800_000, 1_200_000, [300_000, 50_000, 50_000, 50_000, 50_000]),
        (FORVIS, 800_000, 700_000, [210_000, 50_000, 50_000, 50_000, 50_000]),
        // The SEC's example names no income; this one is high enough not to matter.
        (SEC, 380_000, 2_000_000, [300_000, 20_000, 20_000, 20_000, 20_000]),
    ];
    for (source, moved, income, expected) in cases {
        let counted = |year| {
            let part = ltf_part(moved.into(), year);
            let found = found(year, income, Some((Saving::LtfToEsgx, part)));
            found.lines.iter().find(|line| line.saving == Saving::LtfToEsgx).unwrap().counted
        };
        let years: Vec<Decimal> = (2025..=2029).map(counted).collect();
        assert_eq!(years, expected.map(Decimal::from), "{moved} of {income}: {source}");
        assert!(years.iter().sum::<Decimal>() <= 500_000.into(), "{source}");
    }
    assert_eq!(ltf_part(800_000.into(), 2024) + ltf_part(800_000.into(), 2030), Decimal::ZERO);
    assert_eq!(ltf_part(200_000.into(), 2026), Decimal::ZERO, "2025 took all of it");
}
