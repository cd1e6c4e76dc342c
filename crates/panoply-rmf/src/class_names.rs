//! AIMC classes in words, in English and Thai. A class that is not listed is shown as its code.

/// Beginning of a code, English words, Thai words. The longest beginning wins.
const NAMES: &[(&str, &str, &str)] = &[
    ("COMPM", "gold and precious metals", "ทองคำและโลหะมีค่า"),
    ("EQ", "equity", "หุ้น"),
    ("EQASEAN", "ASEAN equity", "หุ้นอาเซียน"),
    ("EQASXJP", "Asia ex-Japan equity", "หุ้นเอเชียไม่รวมญี่ปุ่น"),
    ("EQCH", "China equity", "หุ้นจีน"),
    ("EQCHA", "China A-shares", "หุ้นจีน A-shares"),
    ("EQEU", "European equity", "หุ้นยุโรป"),
    ("EQGEM", "emerging markets equity", "หุ้นตลาดเกิดใหม่"),
    ("EQGEN", "Thai equity, general", "หุ้นไทยทั่วไป"),
    ("EQGL", "global equity", "หุ้นโลก"),
    ("EQHEALTH", "health care equity", "หุ้นกลุ่มสุขภาพ"),
    ("EQIN", "India equity", "หุ้นอินเดีย"),
    ("EQJP", "Japan equity", "หุ้นญี่ปุ่น"),
    ("EQLARGE", "Thai large caps", "หุ้นไทยขนาดใหญ่"),
    ("EQSET50", "SET50 index", "ดัชนี SET50"),
    ("EQSM", "Thai small and mid caps", "หุ้นไทยขนาดกลางและเล็ก"),
    ("EQUS", "US equity", "หุ้นสหรัฐ"),
    ("EQVIET", "Vietnam equity", "หุ้นเวียดนาม"),
    ("FIX", "bonds", "ตราสารหนี้"),
    ("FIXGEN", "short-term bonds, general", "ตราสารหนี้ระยะสั้นทั่วไป"),
    ("FIXGL", "global bonds", "ตราสารหนี้ต่างประเทศ"),
    ("FIXGOV", "short-term government bonds", "พันธบัตรระยะสั้น"),
    ("FIXLONGGEN", "long-term bonds, general", "ตราสารหนี้ระยะยาวทั่วไป"),
    ("FIXMIDGEN", "mid-term bonds, general", "ตราสารหนี้ระยะกลางทั่วไป"),
    ("FIXMIDGOV", "mid-term government bonds", "พันธบัตรระยะกลาง"),
    ("FIXMM", "money market", "ตลาดเงิน"),
    ("MISC", "miscellaneous", "อื่น ๆ"),
    ("MIX", "mixed", "ผสม"),
    ("MIXAGG", "mixed, aggressive", "ผสม เชิงรุก"),
    ("MIXCONS", "mixed, conservative", "ผสม เชิงอนุรักษ์"),
    ("MIXFI", "foreign mixed", "ผสมต่างประเทศ"),
    ("MIXMOD", "mixed, moderate", "ผสม ปานกลาง"),
    ("PRF", "property and REITs", "อสังหาริมทรัพย์และรีท"),
    ("TECHEQ", "technology equity", "หุ้นเทคโนโลยี"),
];

/// English and Thai words of a class.
pub fn class_name(code: &str) -> Option<(&'static str, &'static str)> {
    let code = code.to_uppercase();
    let fits = NAMES.iter().filter(|(start, ..)| code.starts_with(start));
    fits.max_by_key(|(start, ..)| start.len()).map(|(_, english, thai)| (*english, *thai))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::FundCatalog;

    #[test]
    fn every_class_of_the_bundled_funds_has_words() {
        let catalog = FundCatalog::bundled().unwrap();
        for (fund, index) in catalog.indexed() {
            let class = crate::classify::classify(fund, index);
            assert!(class_name(&class.code).is_some(), "{}: {class:?}", fund.symbol);
        }
        assert_eq!(class_name("EQASxJP").unwrap().0, "Asia ex-Japan equity");
        assert_eq!(class_name("EQGLINFRA").unwrap().0, "global equity");
    }
}
