//! Short names and brands of the asset management companies, in Thai and English.

/// A company: a part of its registered English name, and its other names, normalised.
#[derive(Debug)]
pub struct CompanyNames {
    /// Part of the registered name, in lower case.
    pub registered: &'static str,
    /// Thai name for Thai readers.
    pub thai: &'static str,
    /// Names that people use.
    pub aliases: &'static [&'static str],
}

/// Companies that manage RMFs. A company that is not listed is found by its registered name.
pub const COMPANIES: &[CompanyNames] = &[
    company(
        "krungsri",
        "บลจ. กรุงศรี",
        &[
            "krungsri",
            "ksam",
            "ayudhya",
            "กรุงศรี",
            "กรุงศรีอยุธยา",
            "อยุธยา",
            "bank of ayudhya",
            "krungsri asset",
            "กรุงศรีแอสเซท",
        ],
    ),
    company(
        "kasikorn",
        "บลจ. กสิกรไทย",
        &[
            "kasikorn",
            "kasikornbank",
            "kasikornthai",
            "kasset",
            "k asset",
            "kbank",
            "กสิกรไทย",
            "กสิกร",
            "kasikorn bank",
            "kasikorn thai",
            "k bank",
            "ธนาคารกสิกรไทย",
            "เค แอสเซท",
        ],
    ),
    company(
        "bbl",
        "บลจ. บัวหลวง",
        &[
            "bbl",
            "bblam",
            "bangkok bank",
            "bualuang",
            "bua luang",
            "บัวหลวง",
            "ธนาคารกรุงเทพ",
            "บัวหลวงแอสเซท",
            "แบงก์กรุงเทพ",
            "แบงค์กรุงเทพ",
        ],
    ),
    company(
        "scb",
        "บลจ. ไทยพาณิชย์",
        &[
            "scb",
            "scbam",
            "siam commercial",
            "ไทยพาณิชย์",
            "ไทยพานิชย์",
            "siam commercial bank",
            "thai panich",
            "เอสซีบี",
            "scb asset",
        ],
    ),
    company(
        "krung thai",
        "บลจ. กรุงไทย",
        &[
            "ktam",
            "ktb",
            "krungthai",
            "krung thai",
            "กรุงไทย",
            "เคแทม",
            "krung thai bank",
            "krungthai bank",
            "เคทีบี",
            "แบงก์กรุงไทย",
        ],
    ),
    company("tisco", "บลจ. ทิสโก้", &["tisco", "tiscoam", "ทิสโก้", "tisco bank", "ทิสโก"]),
    company(
        "eastspring",
        "บลจ. อีสท์สปริง (ประเทศไทย)",
        &[
            "eastspring",
            "อีสท์สปริง",
            "อีสต์สปริง",
            "tmbam",
            "ttb",
            "ธนชาต",
            "ทหารไทย",
            "east spring",
            "อีสปริง",
            "อีสต์ สปริง",
            "อีสท์ สปริง",
            "thanachart",
            "tmb",
        ],
    ),
    company(
        "uob",
        "บลจ. ยูโอบี (ประเทศไทย)",
        &["uob", "uobam", "united", "ยูโอบี", "ยูไนเต็ด", "united overseas bank", "ยูโอบีแอสเซท"],
    ),
    company("talis", "บลจ. ทาลิส", &["talis", "ทาลิส"]),
    company(
        "one asset",
        "บลจ. วรรณ",
        &["one", "oneam", "one asset", "วรรณ", "one am", "วรรณแอสเซท"],
    ),
    company(
        "kiatnakin",
        "บลจ. เกียรตินาคินภัทร",
        &[
            "kkp",
            "kkpam",
            "kiatnakin",
            "kiatnakin phatra",
            "phatra",
            "เกียรตินาคินภัทร",
            "เกียรตินาคิน",
            "ภัทร",
            "เคเคพี",
            "kiatnakin bank",
            "kkp asset",
        ],
    ),
    company(
        "asset plus",
        "บลจ. แอสเซท พลัส",
        &["asset plus", "asp", "asp am", "แอสเซทพลัส", "แอสเซท พลัส"],
    ),
    company("mfc", "บลจ. เอ็มเอฟซี", &["mfc", "เอ็มเอฟซี", "mfc asset"]),
    company(
        "principal",
        "บลจ. พรินซิเพิล",
        &["principal", "พรินซิเพิล", "พรินซิเปิล", "พรินซิพอล", "ปรินซิเพิล", "cimb principal"],
    ),
    company(
        "land and houses",
        "บลจ. แลนด์ แอนด์ เฮ้าส์",
        &[
            "lh",
            "lh fund",
            "land and houses",
            "land houses",
            "แลนด์ แอนด์ เฮ้าส์",
            "แลนด์แอนด์เฮ้าส์",
            "แอล เอช",
            "แอลเอช",
            "land and houses fund",
            "lh asset",
            "แลนด์แอนด์เฮาส์",
            "แอลเอชฟันด์",
        ],
    ),
    company(
        "aberdeen",
        "บลจ. อเบอร์ดีน (ประเทศไทย)",
        &["abrdn", "aberdeen", "อเบอร์ดีน", "อเบอดีน", "แอเบอร์ดีน"],
    ),
    company(
        "bangkok capital",
        "บลจ. บางกอกแคปปิตอล",
        &["bcap", "bangkok capital", "บางกอกแคปปิตอล", "บีแคป"],
    ),
    company("daol", "บลจ. ดาโอ", &["daol", "ดาโอ"]),
    company("phillip", "บลจ. ฟิลลิป", &["phillip", "ฟิลลิป", "philip", "philips", "ฟิลิป"]),
    company(
        "first plus",
        "บลจ. เฟิร์ส พลัส",
        &["first plus", "เฟิร์ส พลัส", "เฟิร์สพลัส", "เฟิร์สท์ พลัส", "เฟิสต์พลัส"],
    ),
    company("xspring", "บลจ. เอ็กซ์สปริง", &["xspring", "เอ็กซ์สปริง", "x spring", "เอ็กซ์ สปริง"]),
];

const fn company(
    registered: &'static str,
    thai: &'static str,
    aliases: &'static [&'static str],
) -> CompanyNames {
    CompanyNames { registered, thai, aliases }
}

impl CompanyNames {
    /// Whether a normalised registered name is this company's.
    pub fn is(&self, registered: &str) -> bool {
        registered.trim_start().starts_with(self.registered)
    }

    /// The company with this registered name.
    pub fn of(registered: &str) -> Option<&'static Self> {
        COMPANIES.iter().find(|company| company.is(registered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widgets_have_the_same_thai_names() {
        let widgets = include_str!("../../../widgets/src/rmf/companies.ts");
        let listed = widgets.lines().filter(|line| line.starts_with("  [")).count();
        assert_eq!(listed, COMPANIES.len());
        for company in COMPANIES {
            let line = format!("  [\"{}\", \"{}\"],", company.registered, company.thai);
            assert!(widgets.contains(&line), "{line}");
        }
    }

    #[test]
    fn every_company_of_the_bundled_funds_is_listed_once() {
        let catalog = crate::catalog::FundCatalog::bundled().unwrap();
        for fund in catalog.funds() {
            let name = fund.company.name.to_lowercase();
            let listed = COMPANIES.iter().filter(|company| company.is(&name)).count();
            assert_eq!(listed, 1, "{name}");
        }
        let mut seen = std::collections::BTreeSet::new();
        for alias in COMPANIES.iter().flat_map(|company| company.aliases) {
            assert!(seen.insert(alias), "{alias}");
            assert_eq!(crate::search::normalised(alias).trim(), *alias);
        }
    }
}
