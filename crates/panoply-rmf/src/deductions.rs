//! Caps of the Thai deductions for saving, by tax year, with source and the date of the check.

use rust_decimal::Decimal;

use crate::figures::round_to;

/// A kind of saving with a deduction of its own, besides RMF.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Saving {
    /// Provident fund.
    ProvidentFund,
    /// Government Pension Fund.
    GovernmentPensionFund,
    /// Private teachers' fund.
    PrivateTeacherFund,
    /// Pension life insurance.
    PensionInsurance,
    /// National Savings Fund.
    NationalSavingsFund,
    /// Super Savings Fund.
    Ssf,
    /// Thai ESG fund.
    ThaiEsg,
    /// Thai ESGX, new money.
    ThaiEsgx,
    /// Units moved from LTF to Thai ESGX.
    LtfToEsgx,
}

impl Saving {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::ProvidentFund,
        Self::GovernmentPensionFund,
        Self::PrivateTeacherFund,
        Self::PensionInsurance,
        Self::NationalSavingsFund,
        Self::Ssf,
        Self::ThaiEsg,
        Self::ThaiEsgx,
        Self::LtfToEsgx,
    ];

    /// Name in arguments and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProvidentFund => "providentFund",
            Self::GovernmentPensionFund => "governmentPensionFund",
            Self::PrivateTeacherFund => "privateTeacherFund",
            Self::PensionInsurance => "pensionInsurance",
            Self::NationalSavingsFund => "nationalSavingsFund",
            Self::Ssf => "ssf",
            Self::ThaiEsg => "thaiEsg",
            Self::ThaiEsgx => "thaiEsgx",
            Self::LtfToEsgx => "ltfToEsgx",
        }
    }

    /// Whether it shares the joint cap of retirement savings with RMF.
    pub const fn shares_joint_cap(self) -> bool {
        !matches!(self, Self::ThaiEsg | Self::ThaiEsgx | Self::LtfToEsgx)
    }

    /// The cap in a tax year; `None` when there is no deduction that year.
    pub fn cap(self, year: i16) -> Option<&'static Cap> {
        CAPS.iter().rev().find(|cap| cap.saving == self && cap.from <= year && year <= cap.to)
    }
}

/// Cap of a deduction in some tax years.
#[derive(Clone, Copy, Debug)]
pub struct Cap {
    /// The saving.
    pub saving: Saving,
    /// First tax year.
    pub from: i16,
    /// Last tax year.
    pub to: i16,
    /// In percent of assessable income.
    pub percent: Option<i64>,
    /// In baht.
    pub baht: Option<i64>,
    /// Source.
    pub source: &'static str,
    /// What is not certain about it.
    pub unclear: Option<&'static str>,
}

impl Cap {
    /// The cap for an income, in baht.
    pub fn amount(&self, income: Decimal) -> Decimal {
        let share = self.percent.map(|percent| round_to(income * Decimal::new(percent, 2), 2));
        let baht = self.baht.map(Decimal::from);
        share.into_iter().chain(baht).min().unwrap_or(Decimal::MAX)
    }
}

/// Date on which the sources were read.
pub const CHECKED_ON: &str = "2026-11-17";
/// Tax years after this one follow rules that were not known then.
const OPEN: i16 = i16::MAX;

const SECONDARY: &str = "localthaitax.com (October 2024, updated October 2025) and pkfthailand.asia (2021), secondary sources";

/// Units moved from LTF to Thai ESGX: deductible in all, in 2025, and in each later year, in baht.
const LTF_TOTAL: i64 = 500_000;
const LTF_FIRST_YEAR: i64 = 300_000;
const LTF_LATER_YEAR: i64 = 50_000;
/// The later tax years.
const LTF_LATER_YEARS: (i16, i16) = (2026, 2029);

/// Part of LTF units moved to Thai ESGX in 2025 that may be deducted in a tax year, before the limit
/// by income. What exceeds the first year's cap, up to the total, is spread evenly over the later
/// years; a first year limited by income does not raise them.
pub fn ltf_part(moved: Decimal, year: i16) -> Decimal {
    let (first, last) = LTF_LATER_YEARS;
    if year == first - 1 {
        return moved.min(LTF_FIRST_YEAR.into());
    }
    if !(first..=last).contains(&year) {
        return Decimal::ZERO;
    }
    let rest = moved.min(LTF_TOTAL.into()) - Decimal::from(LTF_FIRST_YEAR);
    let years = Decimal::from(last - first + 1);
    rest.max(Decimal::ZERO).checked_div(years).map_or(Decimal::ZERO, |part| round_to(part, 2))
}

/// All caps. Later entries of the same saving win.
pub const CAPS: &[Cap] = &[
    Cap {
        saving: Saving::ProvidentFund,
        from: 2017,
        to: OPEN,
        percent: Some(15),
        baht: Some(500_000),
        source: "Provident Fund Act, section 10 (15 % of wages); localthaitax.com, secondary source",
        unclear: Some(
            "one public page states 30 % of income for provident funds; the Act limits contributions to 15 % of wages, which is used here with income for wages",
        ),
    },
    Cap {
        saving: Saving::GovernmentPensionFund,
        from: 2017,
        to: OPEN,
        percent: None,
        baht: Some(500_000),
        source: SECONDARY,
        unclear: None,
    },
    Cap {
        saving: Saving::PrivateTeacherFund,
        from: 2017,
        to: OPEN,
        percent: None,
        baht: Some(500_000),
        source: SECONDARY,
        unclear: None,
    },
    Cap {
        saving: Saving::PensionInsurance,
        from: 2017,
        to: OPEN,
        percent: Some(15),
        baht: Some(200_000),
        source: SECONDARY,
        unclear: Some(
            "an unused part of the 100,000 baht for life insurance may be used for pension insurance first; that is not computed",
        ),
    },
    Cap {
        saving: Saving::NationalSavingsFund,
        from: 2017,
        to: 2022,
        percent: None,
        baht: Some(13_200),
        source: SECONDARY,
        unclear: None,
    },
    Cap {
        saving: Saving::NationalSavingsFund,
        from: 2023,
        to: OPEN,
        percent: None,
        baht: Some(30_000),
        source: SECONDARY,
        unclear: Some(
            "the sources do not say from which tax year the 30,000 baht apply; 2023 is assumed",
        ),
    },
    Cap {
        saving: Saving::Ssf,
        from: 2020,
        to: 2024,
        percent: Some(30),
        baht: Some(200_000),
        source: SECONDARY,
        unclear: None,
    },
    Cap {
        saving: Saving::ThaiEsg,
        from: 2023,
        to: 2023,
        percent: Some(30),
        baht: Some(100_000),
        source: "Ministerial Regulation No. 390 and Notification on Income Tax No. 442, as rsm.global reports them; secondary source",
        unclear: None,
    },
    Cap {
        saving: Saving::ThaiEsg,
        from: 2024,
        to: 2026,
        percent: Some(30),
        baht: Some(300_000),
        source: "cabinet resolution of 30 July 2024, as reported by bgloballaw.com and thailandrecorder.com (purchases from 2024-01-01 to 2026-12-31, held five years); secondary sources",
        unclear: None,
    },
    Cap {
        saving: Saving::ThaiEsg,
        from: 2027,
        to: 2032,
        percent: Some(30),
        baht: Some(100_000),
        source: "Ministerial Regulation No. 390 and Notification on Income Tax No. 442 (tax years 2023 to 2032), as rsm.global reports them; secondary source",
        unclear: Some(
            "the higher limit of 300,000 baht ends with purchases of 2026, so that the limit of 2023 and eight years of holding apply again; a later extension was not looked for",
        ),
    },
    Cap {
        saving: Saving::ThaiEsgx,
        from: 2025,
        to: 2025,
        percent: Some(30),
        baht: Some(300_000),
        source: "Securities and Exchange Commission on Thai ESGX (purchases of May and June 2025), as reported; secondary source",
        unclear: None,
    },
    Cap {
        saving: Saving::LtfToEsgx,
        from: 2025,
        to: 2025,
        percent: Some(30),
        baht: Some(LTF_FIRST_YEAR),
        source: "Ministerial Regulation No. 398 (Royal Gazette, 28 March 2025), as Forvis Mazars Thailand reports it (payroll flash news, April 2025); secondary source",
        unclear: Some(
            "Krungsri Asset's questions and answers, written before the regulation, say that the limit of 30 % of income does not apply to units moved from LTF; the report of the regulation says that it does, and it is applied",
        ),
    },
    Cap {
        saving: Saving::LtfToEsgx,
        from: LTF_LATER_YEARS.0,
        to: LTF_LATER_YEARS.1,
        percent: None,
        baht: Some(LTF_LATER_YEAR),
        source: "Ministerial Regulation No. 398, as Forvis Mazars Thailand reports it; example of the Securities and Exchange Commission (units of 380,000 baht: 300,000 in 2025, 20,000 in each of 2026 to 2029)",
        unclear: Some(
            "units moved from LTF count up to 500,000 baht over 2025 to 2029; the part of one year follows from the value of all units, `ltfMoved`",
        ),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_of_a_year_follow_the_table() {
        let cases = [
            (Saving::Ssf, 2024, Some(200_000)),
            (Saving::Ssf, 2025, None),
            (Saving::NationalSavingsFund, 2022, Some(13_200)),
            (Saving::NationalSavingsFund, 2025, Some(30_000)),
            (Saving::ThaiEsg, 2022, None),
            (Saving::ThaiEsg, 2023, Some(100_000)),
            (Saving::ThaiEsg, 2026, Some(300_000)),
            (Saving::ThaiEsg, 2027, Some(100_000)),
            (Saving::ThaiEsg, 2033, None),
            (Saving::ThaiEsgx, 2026, None),
            (Saving::LtfToEsgx, 2029, Some(50_000)),
        ];
        for (saving, year, expected) in cases {
            let cap = saving.cap(year).map(|cap| cap.amount(10_000_000.into()));
            assert_eq!(cap, expected.map(Decimal::from), "{saving:?} {year}");
        }
        let small = Saving::PensionInsurance.cap(2025).map(|cap| cap.amount(1_000_000.into()));
        assert_eq!(small, Some(150_000.into()), "15 % of income");
    }
}
