//! Facts about the security of a holding: its class on the return, ISIN, country, name and the kind
//! of its income.
//!
//! They come from `SECURITY` lines and apply to the whole history of the holding; of several lines
//! the latest counts, member by member.

use std::collections::BTreeMap;
use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::transaction::{Kind, Row, Ticker, Transaction};

/// Facts about a security; all are optional.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Security {
    /// Class of asset.
    pub class: Option<SecurityClass>,
    /// ISIN.
    pub isin: Option<Isin>,
    /// Kind of the income that it pays.
    pub income: Option<IncomeKind>,
    /// Country of the issuer, when it is not that of the ISIN.
    pub country: Option<Country>,
    /// Name.
    pub name: Option<String>,
}

impl Security {
    /// Country of the issuer: as stated, else the prefix of the ISIN.
    pub fn country(&self) -> Option<Country> {
        self.country.or_else(|| self.isin.as_ref().and_then(Isin::country))
    }

    /// Class of asset; shares are listed unless stated otherwise.
    pub fn class(&self) -> SecurityClass {
        self.class.unwrap_or_default()
    }

    /// Kind of income: as stated, else interest of a bond and dividends of everything else.
    pub fn income(&self) -> IncomeKind {
        let of_class =
            if self.class().is_exempt() { IncomeKind::Interest } else { IncomeKind::Dividend };
        self.income.unwrap_or(of_class)
    }

    /// A name as one line: blanks are single, and `#`, which would start a comment, is left out.
    /// `None` when nothing is left.
    pub fn name_of(text: &str) -> Option<String> {
        let readable = |c: char| if c == '#' || c.is_control() { ' ' } else { c };
        let text: String = text.chars().take(MAX_NAME).map(readable).collect();
        let words: Vec<&str> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    fn update(&mut self, later: &Self) {
        let Self { class, isin, income, country, name } = later;
        self.class = class.or(self.class);
        self.income = income.or(self.income);
        self.country = country.or(self.country);
        self.isin = isin.clone().or_else(|| self.isin.take());
        self.name = name.clone().or_else(|| self.name.take());
    }
}

/// Characters of a name; the rest is cut.
const MAX_NAME: usize = 200;

/// Class of asset, by the section of form SA108.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SecurityClass {
    /// Listed shares and securities, with units of funds.
    #[default]
    Listed,
    /// Unlisted shares and securities.
    Unlisted,
    /// Cryptoassets.
    Crypto,
    /// Other assets.
    Other,
    /// Gilts: exempt (TCGA 1992 s.115(1)(a)).
    Gilt,
    /// Qualifying corporate bonds: exempt (TCGA 1992 s.115(1)(a), s.117).
    Qcb,
}

impl SecurityClass {
    /// All classes.
    pub const ALL: [Self; 6] =
        [Self::Listed, Self::Unlisted, Self::Crypto, Self::Other, Self::Gilt, Self::Qcb];

    /// Word in the transaction language.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Unlisted => "unlisted",
            Self::Crypto => "crypto",
            Self::Other => "other",
            Self::Gilt => "gilt",
            Self::Qcb => "qcb",
        }
    }

    /// Parses [`SecurityClass::as_str`] in any case; the error says why it is not a class.
    pub fn parse(word: &str) -> Result<Self, UnknownClass> {
        let known = Self::ALL.into_iter().find(|class| class.as_str().eq_ignore_ascii_case(word));
        known.ok_or_else(|| UnknownClass::of(word))
    }

    /// Whether gains on it are no chargeable gains, and losses no allowable losses.
    pub const fn is_exempt(self) -> bool {
        matches!(self, Self::Gilt | Self::Qcb)
    }
}

/// A word that is no class of asset.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct UnknownClass {
    message: String,
    /// What to do.
    pub hint: &'static str,
}

impl UnknownClass {
    /// Instruments that are chargeable by rules of their own are refused by name.
    fn of(word: &str) -> Self {
        let lower = word.to_ascii_lowercase();
        let (message, hint) = match lower.as_str() {
            "option" | "options" | "warrant" => (
                format!("`{word}`: options are not computed here (TCGA 1992 s.144 to s.148)"),
                "compute the gain on options separately and give it as `other_gains`",
            ),
            "future" | "futures" | "cfd" | "spread_bet" => (
                format!(
                    "`{word}`: futures and contracts for differences are not computed here (TCGA 1992 s.143)"
                ),
                "compute the gain separately and give it as `other_gains`; spread bets are not taxed",
            ),
            "currency" | "fx" | "cash" | "forex" => (
                format!(
                    "`{word}`: foreign currency is not computed here; a bank account in it is exempt for individuals (TCGA 1992 s.252)"
                ),
                "give gains on currency that was not in a bank account as `other_gains`",
            ),
            _ => (
                format!("`{word}` is not a class of asset"),
                "write one of listed, unlisted, crypto, other, gilt, qcb",
            ),
        };
        Self { message, hint }
    }
}

/// Kind of income.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IncomeKind {
    /// Dividends and other distributions.
    Dividend,
    /// Interest, and distributions of funds with more than 60 % in interest-bearing investments
    /// (ITTOIA 2005 s.378A, s.373).
    Interest,
}

impl IncomeKind {
    /// Word in the transaction language.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dividend => "dividend",
            Self::Interest => "interest",
        }
    }

    /// Parses [`IncomeKind::as_str`] in any case.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Dividend, Self::Interest]
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(word))
    }
}

/// ISIN: two letters, nine letters or digits, and a check digit (ISO 6166).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Isin(String);

impl Isin {
    /// Parses an ISIN in any case; `None` when its form or check digit is wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        let (country, rest) = text.split_at_checked(2)?;
        let form = text.len() == 12
            && country.bytes().all(|byte| byte.is_ascii_uppercase())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (form && has_valid_check_digit(&text)).then_some(Self(text))
    }

    /// The twelve characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Country by the prefix; `None` for securities without one, such as `XS`.
    fn country(&self) -> Option<Country> {
        Country::parse(self.0.get(..2)?)
    }
}

impl fmt::Display for Isin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Luhn sum over the digits, where a letter is a number from 10 to 35 (ISO 6166).
fn has_valid_check_digit(text: &str) -> bool {
    let digits = text.bytes().flat_map(|byte| match byte {
        b'0'..=b'9' => vec![u32::from(byte - b'0')],
        letter => {
            let number = u32::from(letter.saturating_sub(b'A')) + 10;
            vec![number / 10, number % 10]
        }
    });
    let digits: Vec<u32> = digits.collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match index % 2 {
            0 => *digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Country by its code of two letters (ISO 3166-1).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Country([u8; 2]);

impl Country {
    /// The United Kingdom.
    pub const UK: Self = Self(*b"GB");

    /// Parses two letters in any case. Prefixes of ISINs that name no country are refused.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        let code: [u8; 2] = text.as_bytes().try_into().ok()?;
        // XS, XD and the like are not countries, EU is the European Union.
        let is_country =
            code.iter().all(u8::is_ascii_uppercase) && code[0] != b'X' && code != *b"EU";
        is_country.then_some(Self(if code == *b"UK" { *b"GB" } else { code }))
    }

    /// The two letters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Code of three letters that form SA106 asks for; the two letters where it is not known.
    pub fn return_code(&self) -> &str {
        let known = RETURN_CODES.iter().find(|(two, _)| *two == self.as_str());
        known.map_or_else(|| self.as_str(), |(_, three)| three)
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Codes of HMRC's list, which are those of ISO 3166-1 with three letters, for the countries of
/// most securities.
const RETURN_CODES: [(&str, &str); 56] = [
    ("AE", "ARE"),
    ("AR", "ARG"),
    ("AT", "AUT"),
    ("AU", "AUS"),
    ("BE", "BEL"),
    ("BM", "BMU"),
    ("BR", "BRA"),
    ("CA", "CAN"),
    ("CH", "CHE"),
    ("CL", "CHL"),
    ("CN", "CHN"),
    ("CO", "COL"),
    ("CY", "CYP"),
    ("CZ", "CZE"),
    ("DE", "DEU"),
    ("DK", "DNK"),
    ("EG", "EGY"),
    ("ES", "ESP"),
    ("FI", "FIN"),
    ("FR", "FRA"),
    ("GG", "GGY"),
    ("GI", "GIB"),
    ("GR", "GRC"),
    ("HK", "HKG"),
    ("HU", "HUN"),
    ("ID", "IDN"),
    ("IE", "IRL"),
    ("IL", "ISR"),
    ("IM", "IMN"),
    ("IN", "IND"),
    ("IT", "ITA"),
    ("JE", "JEY"),
    ("JP", "JPN"),
    ("KR", "KOR"),
    ("KY", "CYM"),
    ("LI", "LIE"),
    ("LU", "LUX"),
    ("MT", "MLT"),
    ("MX", "MEX"),
    ("MY", "MYS"),
    ("NL", "NLD"),
    ("NO", "NOR"),
    ("NZ", "NZL"),
    ("PA", "PAN"),
    ("PH", "PHL"),
    ("PL", "POL"),
    ("PT", "PRT"),
    ("SA", "SAU"),
    ("SE", "SWE"),
    ("SG", "SGP"),
    ("TH", "THA"),
    ("TR", "TUR"),
    ("TW", "TWN"),
    ("US", "USA"),
    ("VG", "VGB"),
    ("ZA", "ZAF"),
];

/// Facts about the securities of a history, by ticker.
#[derive(Clone, Debug, Default)]
pub struct Securities(BTreeMap<Ticker, Security>);

impl Securities {
    /// Collects the facts. A security that changed its ticker has them under both.
    pub fn of(rows: &[Row]) -> Self {
        let mut stated: Vec<(Date, &Ticker, &Security)> = rows
            .iter()
            .filter_map(|row| match &row.transaction.kind {
                Kind::Security(security) => {
                    Some((row.transaction.date, &row.transaction.ticker, security.as_ref()))
                }
                _ => None,
            })
            .collect();
        let mut securities = Self::default();
        if stated.is_empty() {
            return securities;
        }
        // Lines of one day in a fixed order, so that the order of rows does not matter.
        stated.sort_by_cached_key(|(date, _, security)| (*date, format!("{security:?}")));
        for (_, ticker, security) in stated {
            securities.0.entry(ticker.clone()).or_default().update(security);
        }
        securities.follow_renames(rows);
        securities
    }

    fn follow_renames(&mut self, rows: &[Row]) {
        let renames = rows.iter().filter_map(|row| match &row.transaction.kind {
            Kind::Rename { into } => Some((&row.transaction.ticker, into)),
            _ => None,
        });
        let mut pairs: Vec<(&Ticker, &Ticker)> = renames.collect();
        pairs.truncate(MAX_RENAMES);
        // As many rounds as the longest chain of names can have.
        for _ in 0..pairs.len() {
            for (old, new) in &pairs {
                for (known, other) in [(old, new), (new, old)] {
                    if let (Some(facts), false) =
                        (self.0.get(*known).cloned(), self.0.contains_key(*other))
                    {
                        self.0.insert((*other).clone(), facts);
                    }
                }
            }
        }
    }

    /// Facts about a holding.
    pub fn get(&self, ticker: &Ticker) -> Option<&Security> {
        self.0.get(ticker)
    }

    /// Class of a holding.
    pub fn class(&self, ticker: &Ticker) -> SecurityClass {
        self.get(ticker).map(Security::class).unwrap_or_default()
    }

    /// All facts, by ticker.
    pub fn iter(&self) -> impl Iterator<Item = (&Ticker, &Security)> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `SECURITY` rows for the ISINs that brokers' files give with transactions, one for each ticker;
/// none where such a row has an ISIN already.
pub fn of_isins<'a>(rows: &[Row], isins: impl Iterator<Item = Option<&'a str>>) -> Vec<Row> {
    let stated = Securities::of(rows);
    let mut found: BTreeMap<&Ticker, Row> = BTreeMap::new();
    for (row, isin) in rows.iter().zip(isins) {
        let ticker = &row.transaction.ticker;
        let is_stated = stated.get(ticker).is_some_and(|security| security.isin.is_some());
        let isin = isin.and_then(Isin::parse).filter(|_| !is_stated);
        if isin.is_none() || found.contains_key(ticker) {
            continue;
        }
        let kind = Kind::Security(Box::new(Security { isin, ..Security::default() }));
        let transaction = Transaction { date: row.transaction.date, ticker: ticker.clone(), kind };
        found.insert(ticker, Row { transaction, location: row.location.clone() });
    }
    found.into_values().collect()
}

/// More changes of ticker than a history of shares has; bounds the work on a hostile one.
const MAX_RENAMES: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isin_needs_its_check_digit() {
        // Apple, Vanguard FTSE All-World, Vodafone: published ISINs.
        for good in ["US0378331005", "ie00b3rbwm25", "GB00BH4HKS39", "XS0971721450"] {
            assert!(Isin::parse(good).is_some(), "{good}");
        }
        for bad in
            ["US0378331006", "US037833100", "0378331005US", "", "éé0378331005", "US03783310055"]
        {
            assert_eq!(Isin::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn country_is_stated_or_that_of_the_isin() {
        let of = |isin: &str, country: Option<&str>| {
            let security = Security {
                isin: Isin::parse(isin),
                country: country.and_then(Country::parse),
                ..Security::default()
            };
            security.country().map(|country| country.return_code().to_owned())
        };
        assert_eq!(of("US0378331005", None).as_deref(), Some("USA"));
        assert_eq!(of("IE00B3RBWM25", None).as_deref(), Some("IRL"));
        assert_eq!(of("US0378331005", Some("ie")).as_deref(), Some("IRL"));
        assert_eq!(of("XS0971721450", None), None);
        assert_eq!(Country::parse("uk"), Some(Country::UK));
    }

    #[test]
    fn later_facts_replace_earlier_ones_and_follow_a_change_of_ticker() {
        let rows = crate::dsl::parse(
            "2021-01-01 SECURITY META CLASS unlisted NAME Meta Platforms\n2020-01-01 SECURITY META CLASS listed ISIN US30303M1027\n2022-06-09 RENAME FB TO META",
        )
        .unwrap();
        let securities = Securities::of(&rows);
        let fb = securities.get(&Ticker::parse("FB").unwrap()).unwrap();
        assert_eq!(fb.class(), SecurityClass::Unlisted);
        assert_eq!(fb.isin.as_ref().unwrap().as_str(), "US30303M1027");
        assert_eq!(fb.name.as_deref(), Some("Meta Platforms"));
        assert_eq!(securities.class(&Ticker::parse("A").unwrap()), SecurityClass::Listed);
        let both = ["2021-01-01 SECURITY A CLASS gilt", "2021-01-01 SECURITY A CLASS listed"];
        let class = |lines: &[&str]| {
            let rows = crate::dsl::parse(&lines.join("\n")).unwrap();
            Securities::of(&rows).class(&Ticker::parse("A").unwrap())
        };
        assert_eq!(class(&both), class(&[both[1], both[0]]), "row order does not matter");
    }

    #[test]
    fn instruments_with_rules_of_their_own_are_refused_by_name() {
        for (word, law) in [("option", "s.144"), ("CFD", "s.143"), ("fx", "s.252")] {
            let refused = SecurityClass::parse(word).unwrap_err();
            assert!(refused.to_string().contains(law), "{refused}");
        }
        assert!(SecurityClass::parse("nonsense").unwrap_err().hint.contains("unlisted"));
    }
}
