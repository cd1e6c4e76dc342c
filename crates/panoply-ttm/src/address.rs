//! What addresses spell with percent signs.

/// The text of a percent-encoded part; what is not encoded properly stays as it is.
pub(crate) fn percent_decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        let encoded = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        bytes.push(encoded.unwrap_or(*first));
        rest = if encoded.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thai_name_survives_the_way_through_an_address() {
        assert_eq!(percent_decoded("H%3Aturmeric"), "H:turmeric");
        assert_eq!(percent_decoded("%E0%B8%82%E0%B8%B4%E0%B8%87"), "ขิง");
        assert_eq!(percent_decoded("50%"), "50%");
    }
}
