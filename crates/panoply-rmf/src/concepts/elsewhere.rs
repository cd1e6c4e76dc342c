//! Countries and raw materials that few funds or none invest in.
//!
//! They are concepts so that a query for them is not answered with other funds: a word that no fund
//! has would be dropped, and `Korean stocks` would then mean `stocks`.

use super::{BASE, Concept};

/// Concepts that a fund has by a word of its names or benchmark.
pub(super) const ELSEWHERE: &[Concept] = &[
    topic(
        "korea",
        &["korea", "korean", "south korea", "kospi", "เกาหลี", "เกาหลีใต้"],
        &["korea", "เกาหลี"],
    ),
    topic("taiwan", &["taiwan", "taiwanese", "ไต้หวัน"], &["taiwan", "ไต้หวัน"]),
    topic("brazil", &["brazil", "brazilian", "บราซิล"], &["brazil", "บราซิล"]),
    topic("russia", &["russia", "russian", "รัสเซีย"], &["russia", "รัสเซีย"]),
    topic(
        "latin america",
        &[
            "latin america",
            "latin american",
            "south america",
            "ลาตินอเมริกา",
            "ละตินอเมริกา",
            "อเมริกาใต้",
        ],
        &["latin america", "ลาตินอเมริกา"],
    ),
    topic("africa", &["africa", "african", "แอฟริกา"], &["africa", "แอฟริกา"]),
    topic("australia", &["australia", "australian", "ออสเตรเลีย"], &["australia", "ออสเตรเลีย"]),
    topic("canada", &["canada", "canadian", "แคนาดา"], &["canada", "แคนาดา"]),
    topic("mexico", &["mexico", "mexican", "เม็กซิโก"], &["mexico", "เม็กซิโก"]),
    topic("chile", &["chile", "ชิลี"], &["chile", "ชิลี"]),
    topic("argentina", &["argentina", "อาร์เจนตินา"], &["argentina", "อาร์เจนตินา"]),
    topic(
        "united kingdom",
        &[
            "united kingdom",
            "uk",
            "britain",
            "british",
            "england",
            "ftse 100",
            "อังกฤษ",
            "สหราชอาณาจักร",
        ],
        &["united kingdom", "uk", "อังกฤษ"],
    ),
    topic("germany", &["germany", "german", "เยอรมนี", "เยอรมัน"], &["germany", "german", "เยอรมนี"]),
    topic("france", &["france", "french", "ฝรั่งเศส"], &["france", "ฝรั่งเศส"]),
    topic("italy", &["italy", "italian", "อิตาลี"], &["italy", "อิตาลี"]),
    topic(
        "switzerland",
        &["switzerland", "swiss", "สวิตเซอร์แลนด์", "สวิส"],
        &["switzerland", "สวิตเซอร์แลนด์"],
    ),
    topic("turkey", &["turkey", "turkish", "ตุรกี"], &["turkey", "ตุรกี"]),
    topic("malaysia", &["malaysia", "malaysian", "มาเลเซีย"], &["malaysia", "มาเลเซีย"]),
    topic("philippines", &["philippines", "philippine", "ฟิลิปปินส์"], &["philippines", "ฟิลิปปินส์"]),
    topic(
        "middle east",
        &["middle east", "saudi arabia", "ตะวันออกกลาง", "ซาอุดีอาระเบีย"],
        &["middle east", "ตะวันออกกลาง"],
    ),
    topic("singapore", &["singapore", "สิงคโปร์"], &["singapore", "สิงคโปร์"]),
    topic("oil", &["oil", "crude oil", "brent", "wti", "น้ำมัน", "น้ำมันดิบ"], &["oil", "น้ำมัน"]),
    topic("natural gas", &["natural gas", "ก๊าซธรรมชาติ"], &["natural gas", "ก๊าซธรรมชาติ"]),
    topic(
        "uranium",
        &["uranium", "nuclear", "nuclear energy", "ยูเรเนียม", "แร่ยูเรเนียม", "นิวเคลียร์"],
        &["uranium", "nuclear", "ยูเรเนียม"],
    ),
    topic("lithium", &["lithium", "ลิเธียม"], &["lithium", "ลิเธียม"]),
    topic("copper", &["copper", "ทองแดง"], &["copper", "ทองแดง"]),
    topic("palladium", &["palladium", "แพลเลเดียม"], &["palladium", "แพลเลเดียม"]),
];

const fn topic(
    name: &'static str,
    words: &'static [&'static str],
    found_by: &'static [&'static str],
) -> Concept {
    Concept { name, words, names: found_by, benchmarks: found_by, ..BASE }
}
