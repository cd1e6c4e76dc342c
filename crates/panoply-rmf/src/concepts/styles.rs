//! Concepts of style, theme and benchmark; none of them decides the class of a fund.

use super::{BASE, Concept, Policy};

/// Concepts without a class.
pub(super) const STYLES: &[Concept] = &[
    Concept {
        name: "shariah",
        words: &[
            "shariah",
            "sharia",
            "islamic",
            "islam",
            "halal",
            "อิสลาม",
            "ชาริอะฮ์",
            "ชะรีอะฮ์",
            "ชารีอะฮ์",
            "ฮาลาล",
        ],
        names: &["shariah", "ชาริอะฮ์"],
        ..BASE
    },
    Concept {
        name: "climate",
        words: &[
            "climate",
            "climate change",
            "climate tech",
            "global warming",
            "โลกร้อน",
            "ภูมิอากาศ",
            "สภาพภูมิอากาศ",
        ],
        names: &["climate"],
        ..BASE
    },
    Concept {
        name: "corporate governance",
        words: &[
            "corporate governance",
            "good governance",
            "governance",
            "cg",
            "ธรรมาภิบาล",
            "บรรษัทภิบาล",
        ],
        names: &["corporate governance", "cg", "ธรรมาภิบาล", "บรรษัทภิบาล"],
        ..BASE
    },
    Concept {
        name: "capital protection",
        words: &[
            "capital protected",
            "principal protected",
            "capital protection",
            "principal protection",
            "capital preservation",
            "คุ้มครองเงินต้น",
            "มุ่งรักษาเงินต้น",
            "รักษาเงินต้น",
        ],
        names: &["protected", "มุ่งรักษาเงินต้น"],
        ..BASE
    },
    Concept {
        name: "target date",
        words: &[
            "target date",
            "target retirement",
            "target year",
            "retirement date",
            "life cycle",
            "lifecycle",
            "life path",
            "ทาร์เก็ต เดท",
            "เกษียณปี",
            "ปีเกษียณ",
            "ตามอายุ",
        ],
        names: &["target date", "target retirement"],
        ..BASE
    },
    Concept {
        name: "unhedged",
        words: &[
            "unhedged",
            "not hedged",
            "non hedged",
            "no hedge",
            "no hedging",
            "without hedging",
            "currency unhedged",
            "ไม่ป้องกันความเสี่ยงค่าเงิน",
            "ไม่ป้องกันความเสี่ยงอัตราแลกเปลี่ยน",
            "ไม่ป้องกันค่าเงิน",
            "ไม่เฮดจ์",
            "อันเฮดจ์",
        ],
        // Krungsri marks funds without hedging by `FX`.
        names: &["unhedged", "อันเฮดจ์", "uh", "fx", "fxrmf"],
        not: &["hedged fx", "เฮดจ์เอฟเอ็กซ์"],
        ..BASE
    },
    Concept {
        name: "hedged",
        words: &[
            "hedged",
            "hedge",
            "hedging",
            "currency hedged",
            "currency hedge",
            "currency hedging",
            "fx hedged",
            "fx hedge",
            "ป้องกันความเสี่ยงค่าเงิน",
            "ป้องกันความเสี่ยงอัตราแลกเปลี่ยน",
            "ป้องกันความเสี่ยงจากอัตราแลกเปลี่ยน",
            "ป้องกันค่าเงิน",
            "เฮดจ์",
        ],
        codes: &["FIXGLH", "EQGLH"],
        names: &["hedged", "hedge", "เฮดจ์", "h"],
        not: &["unhedged", "อันเฮดจ์", "h shares"],
        ..BASE
    },
    Concept {
        name: "s&p 500",
        words: &[
            "s p 500",
            "sp 500",
            "sp500",
            "s p500",
            "us500",
            "us 500",
            "เอสแอนด์พี 500",
            "เอสแอนด์พี",
        ],
        names: &["us500", "us 500", "s p 500"],
        benchmarks: &["s p 500"],
        ..BASE
    },
    Concept {
        name: "nasdaq",
        words: &[
            "nasdaq",
            "nasdaq 100",
            "nasdaq100",
            "ndq",
            "ndq 100",
            "qqq",
            "แนสแด็ค",
            "เอ็นดีคิว 100",
            "แนสแด็ก",
            "แนสแดค",
            "แนสแดก",
            "เอ็นดีคิว",
        ],
        names: &["nasdaq", "ndq", "แนสแดค", "เอ็นดีคิว"],
        benchmarks: &["nasdaq"],
        ..BASE
    },
    Concept {
        name: "thai property",
        words: &[
            "thai property",
            "thai reit",
            "thai reits",
            "thai real estate",
            "อสังหาริมทรัพย์ไทย",
            "อสังหาไทย",
            "รีทไทย",
        ],
        codes: &["PRFOPTH"],
        names: &["thai property", "ไทย พร็อพเพอร์ตี้"],
        ..BASE
    },
    Concept {
        name: "innovation",
        words: &["innovation", "innovative", "disruption", "disruptive", "นวัตกรรม", "อินโนเวชั่น"],
        names: &["innovation", "disruptive", "อินโนเวชั่น"],
        ..BASE
    },
    Concept {
        name: "brands",
        words: &[
            "brand",
            "brands",
            "luxury",
            "luxury brands",
            "consumer brands",
            "แบรนด์",
            "แบรนด์เนม",
            "สินค้าแบรนด์",
        ],
        names: &["brand", "brands", "แบรนด์"],
        ..BASE
    },
    Concept {
        name: "blockchain",
        words: &[
            "blockchain",
            "crypto",
            "cryptocurrency",
            "bitcoin",
            "digital asset",
            "digital assets",
            "บล็อกเชน",
            "บล็อคเชน",
            "คริปโต",
            "บิตคอยน์",
            "สินทรัพย์ดิจิทัล",
        ],
        names: &["blockchain", "บล็อกเชน"],
        benchmarks: &["digital assets"],
        ..BASE
    },
    Concept {
        name: "balanced",
        words: &["balanced", "balance", "บาลานซ์", "สมดุล"],
        names: &["balanced", "balance", "บาลานซ์"],
        ..BASE
    },
    Concept {
        name: "flexible",
        words: &["flexible", "เฟล็กซิเบิล", "เฟล็กซิเบิ้ล", "ยืดหยุ่น"],
        names: &["flexible", "เฟล็กซิเบิล", "เฟล็กซิเบิ้ล"],
        ..BASE
    },
    Concept {
        name: "allocation",
        words: &["allocation", "asset allocation", "แอลโลเคชั่น", "จัดสรรสินทรัพย์", "จัดพอร์ต"],
        names: &["allocation", "แอลโลเคชั่น", "อโลเคชั่น"],
        ..BASE
    },
    Concept {
        name: "growth",
        words: &["growth", "หุ้นเติบโต", "เติบโต", "โกรท"],
        names: &["growth", "โกรท"],
        ..BASE
    },
    Concept {
        name: "quality",
        words: &["quality", "คุณภาพ", "ควอลิตี้"],
        names: &["quality", "ควอลิตี้"],
        ..BASE
    },
    Concept {
        name: "low volatility",
        words: &[
            "low volatility",
            "low vol",
            "minimum volatility",
            "low beta",
            "ความผันผวนต่ำ",
            "ผันผวนต่ำ",
        ],
        names: &["low volatility", "low beta"],
        ..BASE
    },
    Concept {
        name: "large cap",
        words: &[
            "large cap",
            "large caps",
            "blue chip",
            "blue chips",
            "หุ้นขนาดใหญ่",
            "หุ้นใหญ่",
            "บลูชิพ",
        ],
        codes: &["EQLARGE", "EQSET50"],
        names: &["set50", "set 50", "set100", "large cap"],
        ..BASE
    },
    Concept {
        name: "long-term bonds",
        words: &["long term", "long duration", "ระยะยาว"],
        codes: &["FIXLONG*"],
        names: &["long term", "ระยะยาว"],
        within: Some(Policy::Bond),
        ..BASE
    },
    Concept {
        name: "medium-term bonds",
        words: &["medium term", "mid term", "ระยะกลาง"],
        codes: &["FIXMID*"],
        names: &["medium term", "ระยะกลาง"],
        within: Some(Policy::Bond),
        ..BASE
    },
    Concept {
        name: "set index",
        words: &["set index", "ดัชนีตลาดหลักทรัพย์"],
        names: &["set index", "เซ็ท อินเด็กซ์"],
        ..BASE
    },
    Concept {
        name: "msci acwi",
        words: &["msci acwi", "acwi", "msci ac world", "msci all country world"],
        benchmarks: &["msci acwi", "msci ac world"],
        ..BASE
    },
    Concept {
        name: "global aggregate",
        words: &["global aggregate", "bloomberg global aggregate"],
        benchmarks: &["global aggregate"],
        ..BASE
    },
    Concept {
        name: "foreign equity",
        words: &[
            "foreign equity",
            "foreign equities",
            "foreign stocks",
            "international equity",
            "international stocks",
            "overseas",
            "หุ้นต่างประเทศ",
            "หุ้นนอก",
        ],
        codes: &[
            "EQGL*", "EQUS", "EQCH*", "EQJP", "EQEU", "EQIN", "EQVIET", "EQAS*", "EQGEM",
            "EQHEALTH", "TECHEQ",
        ],
        names: ABROAD_NAMES,
        within: Some(Policy::Equity),
        ..BASE
    },
    Concept {
        name: ABROAD,
        words: &["foreign", "ต่างประเทศ"],
        codes: &[
            "EQGL*", "FIXGL*", "MIXFI", "PRFOPFR", "EQUS", "EQCH*", "EQJP", "EQEU", "EQIN",
            "EQVIET", "EQAS*", "EQGEM",
        ],
        names: ABROAD_NAMES,
        benchmarks: &["global aggregate"],
        ..BASE
    },
    Concept {
        name: WORLDWIDE,
        codes: &["EQGL*", "EQHEALTH", "TECHEQ", "FIXGL*", "MIXFI", "PRFOPFR"],
        names: &["global", "world", "โกลบอล", "เวิลด์", "หุ้นโลก"],
        benchmarks: &["msci acwi", "msci ac world", "msci world"],
        ..BASE
    },
];

/// Investments outside Thailand of any kind of asset.
pub const ABROAD: &str = "foreign";
/// Worldwide investments of any kind of asset; what `global` means beside another topic.
pub const WORLDWIDE: &str = "worldwide";

/// Words of names of funds that invest outside Thailand.
const ABROAD_NAMES: &[&str] = &[
    "global",
    "world",
    "international",
    "us",
    "usa",
    "us500",
    "ndq",
    "china",
    "chinese",
    "japan",
    "india",
    "vietnam",
    "europe",
    "european",
    "euro",
    "asia",
    "asian",
    "asean",
    "emerging",
    "โกลบอล",
    "เวิลด์",
    "ยูเอส",
    "ไชน่า",
    "จีน",
    "เจแปน",
    "ญี่ปุ่น",
    "อินเดีย",
    "เวียดนาม",
    "ยุโรป",
    "เอเชีย",
];
