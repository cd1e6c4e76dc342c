//! The concepts themselves: words of queries, and what funds have them by.

use super::{BASE, Concept, Policy};

/// All concepts. For a class the first match decides, so themes precede regions and regions precede
/// the kind of asset.
pub const CONCEPTS: &[Concept] = &[
    Concept {
        name: "gold",
        words: &["gold", "ทองคำ", "ทอง คำ", "โกลด์", "ทอง"],
        codes: &["COMPM"],
        names: &["gold", "ทองคำ", "โกลด์"],
        class: "COMPM",
        ..BASE
    },
    Concept {
        name: "health",
        words: &["healthcare", "health care", "health", "สุขภาพ", "เฮลธ์แคร์", "เฮลท์แคร์", "การแพทย์"],
        codes: &["EQHEALTH"],
        names: &["healthcare", "health care", "health", "เฮลธ์", "เฮลท์"],
        class: "EQHEALTH",
        ..BASE
    },
    Concept {
        name: "artificial intelligence",
        words: &["artificial intelligence", "ai", "เอไอ", "ปัญญาประดิษฐ์"],
        names: &["artificial intelligence", "ai", "เอไอ", "อาร์ทิฟิเชียล อินเทลลิเจนซ์"],
        ..BASE
    },
    Concept {
        name: "technology",
        words: &["technology", "tech", "เทคโนโลยี", "หุ้นเทคโนโลยี", "หุ้นเทค"],
        codes: &["TECHEQ"],
        names: &["technology", "tech", "เทคโนโลยี"],
        ..BASE
    },
    Concept {
        name: "global property",
        words: &[
            "global property",
            "world property",
            "global reit",
            "global reits",
            "foreign property",
            "อสังหาริมทรัพย์ต่างประเทศ",
            "อสังหาริมทรัพย์ทั่วโลก",
            "อสังหาริมทรัพย์โลก",
            "อสังหาต่างประเทศ",
        ],
        codes: &["PRFOPFR"],
        names: &["global property", "world property"],
        class: "PRFOPFR",
        ..BASE
    },
    Concept {
        name: "property",
        words: &[
            "reit",
            "reits",
            "property",
            "real estate",
            "อสังหาริมทรัพย์",
            "อสังหา",
            "รีท",
            "กองรีท",
            "พร็อพเพอร์ตี้",
        ],
        codes: &["PRF*"],
        names: &["property", "real estate", "พร็อพเพอร์ตี้", "อสังหาริมทรัพย์"],
        class: "PRFOPMIX",
        ..BASE
    },
    Concept {
        name: "infrastructure",
        words: &["infrastructure", "infra", "โครงสร้างพื้นฐาน", "อินฟรา", "อินฟราสตรัคเจอร์"],
        codes: &["EQGLINFRA"],
        names: &["infrastructure", "infra", "โครงสร้างพื้นฐาน", "อินฟรา"],
        ..BASE
    },
    Concept {
        name: "dividend",
        words: &["dividend", "dividends", "high dividend", "ปันผล", "หุ้นปันผล", "ดิวิเดนด์"],
        names: &["dividend", "ปันผล", "ดิวิเดนด์", "ดีวิเด็น"],
        ..BASE
    },
    Concept {
        name: "clean energy",
        words: &["clean energy", "renewable energy", "renewables", "พลังงานสะอาด", "พลังงานทดแทน"],
        codes: &["EQGLAENG"],
        names: &["clean energy", "renewable energy"],
        ..BASE
    },
    Concept {
        name: "sustainability",
        words: &["esg", "sustainable", "sustainability", "ความยั่งยืน", "ยั่งยืน"],
        names: &["esg", "sustainable", "ยั่งยืน", "ซัสเทนเนเบิล"],
        ..BASE
    },
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
        words: &["corporate governance", "cg", "ธรรมาภิบาล", "บรรษัทภิบาล"],
        names: &["corporate governance", "cg", "ธรรมาภิบาล", "บรรษัทภิบาล"],
        ..BASE
    },
    Concept {
        name: "capital protection",
        words: &[
            "capital protected",
            "principal protected",
            "capital protection",
            "มุ่งรักษาเงินต้น",
            "รักษาเงินต้น",
        ],
        names: &["protected", "มุ่งรักษาเงินต้น"],
        ..BASE
    },
    Concept {
        name: "target date",
        words: &["target date", "target retirement", "ทาร์เก็ต เดท"],
        names: &["target date", "target retirement"],
        ..BASE
    },
    Concept {
        name: "unhedged",
        words: &["unhedged", "not hedged", "ไม่ป้องกันความเสี่ยงค่าเงิน", "อันเฮดจ์"],
        names: &["unhedged", "อันเฮดจ์"],
        ..BASE
    },
    Concept {
        name: "hedged",
        words: &["hedged", "hedge", "currency hedged", "fx hedged", "ป้องกันความเสี่ยงค่าเงิน", "เฮดจ์"],
        names: &["hedged", "hedge", "เฮดจ์"],
        not: &["unhedged", "อันเฮดจ์"],
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
            "เอสแอนด์พี500",
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
        name: "china a-shares",
        words: &[
            "china a shares",
            "china a share",
            "china a",
            "a shares",
            "a share",
            "จีนเอแชร์",
            "หุ้นจีนเอแชร์",
            "เอแชร์",
        ],
        codes: &["EQCHA"],
        names: &["china a", "a shares", "เอแชร์"],
        class: "EQCHA",
        ..BASE
    },
    Concept {
        name: "china h-shares",
        words: &["h shares", "h share", "china h shares", "เอชแชร์", "จีนเอชแชร์", "หุ้นจีนเอชแชร์"],
        names: &["h shares", "hshare", "เอชแชร์"],
        ..BASE
    },
    Concept {
        name: "china",
        words: &["china", "chinese", "จีน", "หุ้นจีน", "ไชน่า"],
        codes: &["EQCH", "EQCHA"],
        names: &["china", "chinese", "จีน", "ไชน่า"],
        not: &["ex china", "เอ็กซ์ไชน่า"],
        class: "EQCH",
        ..BASE
    },
    Concept {
        name: "japan",
        words: &["japan", "japanese", "ญี่ปุ่น", "หุ้นญี่ปุ่น", "เจแปน"],
        codes: &["EQJP"],
        names: &["japan", "japanese", "ญี่ปุ่น", "เจแปน"],
        not: &["ex japan", "เอ็กซ์ เจแปน"],
        class: "EQJP",
        ..BASE
    },
    Concept {
        name: "india",
        words: &["india", "indian", "อินเดีย", "หุ้นอินเดีย"],
        codes: &["EQIN"],
        names: &["india", "อินเดีย"],
        class: "EQIN",
        ..BASE
    },
    Concept {
        name: "vietnam",
        words: &["vietnam", "viet nam", "vietnamese", "เวียดนาม", "หุ้นเวียดนาม"],
        codes: &["EQVIET"],
        names: &["vietnam", "เวียดนาม"],
        class: "EQVIET",
        ..BASE
    },
    Concept {
        name: "indonesia",
        words: &["indonesia", "indonesian", "อินโดนีเซีย", "อินโด"],
        names: &["indonesia", "อินโดนีเซีย"],
        ..BASE
    },
    Concept {
        name: "asean",
        words: &["asean", "อาเซียน", "southeast asia"],
        codes: &["EQASEAN"],
        names: &["asean", "อาเซียน"],
        class: "EQASEAN",
        ..BASE
    },
    Concept {
        name: "europe",
        words: &["europe", "european", "euro", "ยุโรป", "หุ้นยุโรป"],
        codes: &["EQEU"],
        names: &["europe", "european", "euro", "ยุโรป", "ยูโรเปียน"],
        class: "EQEU",
        ..BASE
    },
    Concept {
        name: "emerging markets",
        words: &["emerging markets", "emerging market", "emerging", "ตลาดเกิดใหม่", "เกิดใหม่"],
        codes: &["EQGEM"],
        names: &["emerging", "ตลาดเกิดใหม่", "อีเมอร์จิ้ง"],
        class: "EQGEM",
        ..BASE
    },
    Concept {
        name: "asia",
        words: &[
            "asia",
            "asian",
            "asia pacific",
            "asia ex japan",
            "asia pacific ex japan",
            "เอเชีย",
            "หุ้นเอเชีย",
            "เอเชียแปซิฟิก",
            "เอเชียไม่รวมญี่ปุ่น",
            "หุ้นเอเชียไม่รวมญี่ปุ่น",
            "เอเชียยกเว้นญี่ปุ่น",
        ],
        codes: &["EQASxJP"],
        names: &["asia", "asian", "เอเชีย"],
        within: Some(Policy::Equity),
        class: "EQASxJP",
        ..BASE
    },
    Concept {
        name: "united states",
        words: &[
            "us",
            "u s",
            "usa",
            "u s a",
            "america",
            "american",
            "united states",
            "สหรัฐ",
            "สหรัฐอเมริกา",
            "หุ้นสหรัฐ",
            "อเมริกา",
            "หุ้นอเมริกา",
            "ยูเอส",
            "ยูเอสเอ",
            "หุ้นยูเอส",
        ],
        codes: &["EQUS"],
        names: &["us", "usa", "us500", "ยูเอส", "สหรัฐ"],
        within: Some(Policy::Equity),
        class: "EQUS",
        ..BASE
    },
    Concept {
        name: "set50",
        words: &["set50", "set 50", "เซ็ท 50", "เซ็ต 50", "เซต 50", "เซ็ท50"],
        codes: &["EQSET50"],
        names: &["set50", "set 50", "เซ็ท 50"],
        class: "EQSET50",
        ..BASE
    },
    Concept {
        name: "set100",
        words: &["set100", "set 100", "เซ็ท 100", "เซต 100"],
        names: &["set100", "set 100"],
        class: "EQLARGE",
        ..BASE
    },
    Concept {
        name: "small and mid cap",
        words: &[
            "small cap",
            "small caps",
            "mid cap",
            "mid small cap",
            "small mid cap",
            "small and mid cap",
            "หุ้นขนาดเล็ก",
            "หุ้นขนาดกลางและเล็ก",
            "หุ้นกลางเล็ก",
            "หุ้นเล็ก",
            "ขนาดเล็ก",
            "ขนาดกลางและเล็ก",
            "ขนาดกลาง",
        ],
        codes: &["EQSM"],
        names: &[
            "small cap",
            "small mid",
            "mid small",
            "small medium",
            "small and mid",
            "mid cap",
            "สมอล",
        ],
        ..BASE
    },
    Concept {
        name: "global",
        words: &[
            "global equity",
            "world equity",
            "global",
            "world",
            "หุ้นโลก",
            "หุ้นทั่วโลก",
            "ทั่วโลก",
            "โกลบอล",
            "โลก",
        ],
        codes: &["EQGL", "EQGLH", "EQGLOTH", "EQGLAENG", "EQGLINFRA", "EQGLCGNS"],
        names: &["global", "world", "โกลบอล", "เวิลด์", "หุ้นโลก"],
        benchmarks: &["msci acwi", "msci ac world", "msci world", "world large mid cap"],
        within: Some(Policy::Equity),
        class: "EQGL",
        ..BASE
    },
    Concept {
        name: "thailand",
        words: &["thai equity", "thai stocks", "thai stock", "thailand", "หุ้นไทย"],
        codes: &["EQGEN", "EQLARGE", "EQSET50", "EQSM"],
        names: &["หุ้นไทย"],
        benchmarks: &[
            "ตลาดหลักทรัพย์แห่งประเทศไทย",
            "set 50",
            "set50",
            "set 100",
            "set high dividend",
            "sset",
            "กลุ่มอุตสาหกรรม",
        ],
        within: Some(Policy::Equity),
        class: "EQGEN",
        ..BASE
    },
    Concept {
        name: "money market",
        words: &["money market", "ตลาดเงิน", "มันนี่มาร์เก็ต", "มันนี่ มาร์เก็ต"],
        codes: &["FIXMM*"],
        names: &["money market", "ตลาดเงิน", "มันนี่มาร์เก็ต", "มันนี่ มาร์เก็ต"],
        class: "FIXMMGEN",
        ..BASE
    },
    Concept {
        name: "global bonds",
        words: &[
            "global bond",
            "global bonds",
            "world bond",
            "world bonds",
            "foreign bond",
            "foreign bonds",
            "global fixed income",
            "ตราสารหนี้ต่างประเทศ",
            "ตราสารหนี้ทั่วโลก",
            "ตราสารหนี้โลก",
        ],
        codes: &["FIXGL*"],
        names: &["global", "world", "โกลบอล"],
        benchmarks: &["global aggregate"],
        within: Some(Policy::Bond),
        class: "FIXGLDISC",
        ..BASE
    },
    Concept {
        name: "short-term bonds",
        words: &[
            "short term bond",
            "short term bonds",
            "short term fixed income",
            "ตราสารหนี้ระยะสั้น",
            "พันธบัตรระยะสั้น",
        ],
        codes: &["FIXGEN", "FIXGOV"],
        names: &["short term", "ระยะสั้น"],
        within: Some(Policy::Bond),
        ..BASE
    },
    Concept {
        name: "government bonds",
        words: &["government bond", "government bonds", "พันธบัตร", "พันธบัตรรัฐบาล"],
        codes: &["FIXGOV", "FIXMIDGOV"],
        names: &["government bond", "government bonds", "พันธบัตร", "ตราสารหนี้ภาครัฐ"],
        class: "FIXGOV",
        ..BASE
    },
    Concept {
        name: "bonds",
        words: &["fixed income", "bond", "bonds", "ตราสารหนี้"],
        policy: Some(Policy::Bond),
        class: "FIXGEN",
        ..BASE
    },
    Concept {
        name: "mixed",
        words: &["mixed", "mixed fund", "กองทุนผสม", "ผสม"],
        policy: Some(Policy::Mixed),
        class: "MIX",
        ..BASE
    },
    Concept {
        name: "index",
        words: &["index", "passive", "index tracking", "ดัชนี", "อินเด็กซ์", "พาสซีฟ"],
        names: &["index", "indx", "passive", "ดัชนี", "อินเด็กซ์", "พาสซีฟ"],
        ..BASE
    },
    Concept {
        name: "equity",
        words: &["equity", "equities", "stock", "stocks", "shares", "หุ้น", "หุ้นทุน", "ตราสารทุน"],
        policy: Some(Policy::Equity),
        class: "EQ",
        ..BASE
    },
];
