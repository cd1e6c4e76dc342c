//! ISO 4217 currency codes.

use std::fmt;

/// A currency, by its code.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Currency([u8; 3]);

/// The text is not a known currency code.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is not an ISO 4217 currency code")]
pub struct UnknownCurrency(pub String);

impl UnknownCurrency {
    /// Suggested correction.
    pub fn hint(&self) -> &'static str {
        if self.0.eq_ignore_ascii_case("PNC") {
            "write `GBX` for pence or `GBP` for pounds"
        } else {
            "write a three-letter code such as `USD`, `EUR` or `GBP`, or `GBX` for pence; without one the amount is in pounds"
        }
    }
}

impl Currency {
    /// Pounds sterling.
    pub const GBP: Self = Self(*b"GBP");

    /// Parses a code, ignoring case.
    pub fn parse(text: &str) -> Result<Self, UnknownCurrency> {
        let unknown = || UnknownCurrency(text.to_owned());
        let code: [u8; 3] = text.as_bytes().try_into().map_err(|_| unknown())?;
        let code = code.map(|byte| byte.to_ascii_uppercase());
        let (codes, last) = CODES.as_bytes().as_chunks::<4>();
        let found = codes.binary_search_by(|chunk| chunk.as_slice().split_at(3).0.cmp(&code));
        if found.is_ok() || last == code { Ok(Self(code)) } else { Err(unknown()) }
    }

    /// The three-letter code.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("GBP")
    }

    /// Whether amounts need conversion to pounds.
    pub fn is_foreign(self) -> bool {
        self != Self::GBP
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// ISO 4217 codes in use since 2008, the other codes that HMRC publishes rates for, and CNH. Sorted
/// for binary search.
const CODES: &str = "\
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN \
    BWP BYN BYR BZD CAD CDF CHF CLF CLP CNH CNY COP CRC CUP CVE CZK DJF DKK DOP DZD ECS EGP ERN \
    ETB EUR FJD FKP GBP GEL GGP GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS IMP INR \
    IQD IRR ISK JEP JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL \
    LVL LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR \
    NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE \
    SLL SOS SRD SRG SSP STD STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD \
    UYU UZS VED VEF VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZIG ZMW ZWG ZWL";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currency_codes_are_case_insensitive() {
        for (text, known) in [
            ("USD", true),
            ("gbp", true),
            ("ZWL", true),
            ("ZZZ", false),
            ("US", false),
            ("S A", false),
            ("AED ", false),
            ("é1", false),
        ] {
            assert_eq!(Currency::parse(text).is_ok(), known, "code: {text:?}");
        }
        assert!(Currency::parse("PNC").unwrap_err().hint().contains("pence"));
    }

    #[test]
    fn currency_table_is_sorted() {
        for code in CODES.split(' ') {
            assert!(Currency::parse(code).is_ok(), "{code} is out of order");
        }
    }

    #[test]
    fn every_currency_with_a_published_rate_is_known() {
        let rates = hmrc_rates::Rates::new();
        for currency in rates.currencies(hmrc_rates::RateType::Monthly) {
            assert!(Currency::parse(currency.as_str()).is_ok(), "{}", currency.as_str());
        }
    }
}
