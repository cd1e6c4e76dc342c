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
        &["krungsri", "ksam", "ayudhya", "กรุงศรี", "กรุงศรีอยุธยา", "อยุธยา"],
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
        ],
    ),
    company(
        "bbl",
        "บลจ. บัวหลวง",
        &["bbl", "bblam", "bangkok bank", "bualuang", "bua luang", "บัวหลวง", "ธนาคารกรุงเทพ"],
    ),
    company("scb", "บลจ. ไทยพาณิชย์", &["scb", "scbam", "siam commercial", "ไทยพาณิชย์", "ไทยพานิชย์"]),
    company(
        "krung thai",
        "บลจ. กรุงไทย",
        &["ktam", "ktb", "krungthai", "krung thai", "กรุงไทย", "เคแทม"],
    ),
    company("tisco", "บลจ. ทิสโก้", &["tisco", "tiscoam", "ทิสโก้"]),
    company(
        "eastspring",
        "บลจ. อีสท์สปริง (ประเทศไทย)",
        &["eastspring", "อีสท์สปริง", "อีสต์สปริง", "tmbam", "ttb", "ธนชาต", "ทหารไทย"],
    ),
    company("uob", "บลจ. ยูโอบี (ประเทศไทย)", &["uob", "uobam", "united", "ยูโอบี", "ยูไนเต็ด"]),
    company("talis", "บลจ. ทาลิส", &["talis", "ทาลิส"]),
    company("one asset", "บลจ. วรรณ", &["one", "oneam", "one asset", "วรรณ"]),
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
        ],
    ),
    company(
        "asset plus",
        "บลจ. แอสเซท พลัส",
        &["asset plus", "asp", "asp am", "แอสเซทพลัส", "แอสเซท พลัส"],
    ),
    company("mfc", "บลจ. เอ็มเอฟซี", &["mfc", "เอ็มเอฟซี"]),
    company("principal", "บลจ. พรินซิเพิล", &["principal", "พรินซิเพิล"]),
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
        ],
    ),
    company("aberdeen", "บลจ. อเบอร์ดีน (ประเทศไทย)", &["abrdn", "aberdeen", "อเบอร์ดีน"]),
    company(
        "bangkok capital",
        "บลจ. บางกอกแคปปิตอล",
        &["bcap", "bangkok capital", "บางกอกแคปปิตอล", "บีแคป"],
    ),
    company("daol", "บลจ. ดาโอ", &["daol", "ดาโอ"]),
    company("phillip", "บลจ. ฟิลลิป", &["phillip", "ฟิลลิป"]),
    company("first plus", "บลจ. เฟิร์ส พลัส", &["first plus", "เฟิร์ส พลัส", "เฟิร์สพลัส"]),
    company("xspring", "บลจ. เอ็กซ์สปริง", &["xspring", "เอ็กซ์สปริง"]),
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
