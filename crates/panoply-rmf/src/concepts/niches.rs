//! Narrow themes and allocations; none of them decides the class of a fund.

use super::{BASE, Concept, Policy};

/// Concepts without a class.
pub(super) const NICHES: &[Concept] = &[
    Concept {
        name: "gold miners",
        words: &[
            "gold miners",
            "gold miner",
            "gold mining",
            "gold mine",
            "gold mines",
            "gold stocks",
            "gold shares",
            "เหมืองทอง",
            "เหมืองทองคำ",
            "หุ้นเหมืองทอง",
            "หุ้นเหมืองทองคำ",
        ],
        names: &["gold", "โกลด์"],
        within: Some(Policy::Equity),
        ..BASE
    },
    Concept {
        name: "silver",
        words: &["silver", "ซิลเวอร์", "แร่เงิน", "โลหะเงิน"],
        names: &["silver", "ซิลเวอร์"],
        ..BASE
    },
    Concept {
        name: "hong kong",
        words: &["hong kong", "hang seng", "ฮ่องกง", "หุ้นฮ่องกง", "ฮั่งเส็ง"],
        names: &["h shares", "hshare", "เอชแชร์", "hong kong", "ฮ่องกง"],
        benchmarks: &["hang seng"],
        ..BASE
    },
    Concept {
        name: "internet",
        words: &[
            "internet",
            "e commerce",
            "ecommerce",
            "online",
            "อินเทอร์เน็ต",
            "อินเตอร์เน็ต",
            "ออนไลน์",
        ],
        names: &["internet"],
        ..BASE
    },
    Concept {
        name: "digital",
        words: &["digital", "digital economy", "ดิจิทัล", "ดิจิตอล"],
        names: &["digital", "ดิจิตอล", "ดิจิทัล"],
        ..BASE
    },
    Concept {
        name: "big data",
        words: &["big data", "บิ๊กดาต้า", "บิ๊กดาตา"],
        names: &["big data"],
        ..BASE
    },
    Concept {
        name: "agriculture",
        words: &[
            "agriculture",
            "agricultural",
            "agribusiness",
            "farming",
            "food",
            "food and agriculture",
            "agriculture and food",
            "agro",
            "เกษตร",
            "การเกษตร",
            "อาหาร",
            "เกษตรและอาหาร",
            "เกษตรและอุตสาหกรรมอาหาร",
        ],
        names: &["agriculture", "food", "อาหาร", "เกษตร"],
        benchmarks: &["agro", "อุตสาหกรรมอาหาร"],
        ..BASE
    },
    Concept {
        name: "value",
        words: &["value stocks", "value investing", "value equity", "หุ้นคุณค่า", "หุ้นวีไอ"],
        names: &["value", "valued", "คุณค่า"],
        within: Some(Policy::Equity),
        ..BASE
    },
    Concept {
        name: "active",
        words: &["active", "actively managed", "แอคทีฟ", "แอ็คทีฟ", "เชิงรุก"],
        names: &["active", "แอคทีฟ"],
        ..BASE
    },
    Concept {
        name: "conservative allocation",
        words: &["conservative", "conservative allocation", "คอนเซอเวทีฟ", "อนุรักษ์นิยม"],
        codes: &["MIXCONS"],
        names: &["conservative", "คอนเซอเวทีฟ"],
        ..BASE
    },
    Concept {
        name: "moderate allocation",
        words: &["moderate", "moderate allocation"],
        codes: &["MIXMOD"],
        names: &["moderate"],
        ..BASE
    },
    Concept {
        name: "aggressive allocation",
        words: &["aggressive", "aggressive allocation", "อะเกรสซีฟ"],
        codes: &["MIXAGG"],
        names: &["aggressive", "อะเกรสซีฟ"],
        ..BASE
    },
    Concept {
        name: "multi-asset income",
        words: &["multi asset income", "multiasset income"],
        codes: &["MIXFI"],
        names: &["multi asset income"],
        within: Some(Policy::Mixed),
        ..BASE
    },
    Concept {
        name: "aggregate bonds",
        words: &["aggregate bond", "aggregate bonds"],
        names: &["aggregate bond"],
        benchmarks: &["aggregate"],
        within: Some(Policy::Bond),
        ..BASE
    },
    Concept {
        name: "megatrends",
        words: &["megatrend", "megatrends", "mega trend", "mega trends", "เมกะเทรนด์", "เมกาเทรนด์"],
        names: &["megatrends", "megatrend", "เมกะเทรนด์"],
        ..BASE
    },
    Concept {
        name: "thematic",
        words: &["thematic", "thematic investing", "ธีมเมติก", "ธีมการลงทุน"],
        names: &["thematic", "ธีมเมติก", "megatrends", "trend"],
        ..BASE
    },
];
