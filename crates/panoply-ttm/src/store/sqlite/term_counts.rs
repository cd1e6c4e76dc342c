//! Varint encoding of term counts: for each term the delta of its place (LEB128), then its
//! frequency in quarters (one byte).

/// Encodes places, sorted ascending, with their frequencies.
pub(super) fn packed(terms: &[(i64, u8)]) -> Vec<u8> {
    let mut bag = Vec::with_capacity(terms.len() * 3);
    let mut last = 0;
    for (place, steps) in terms {
        let mut distance = u64::try_from(place - last).unwrap_or_default();
        last = *place;
        while distance >= 0x80 {
            bag.push(low_bits(distance) | 0x80);
            distance >>= 7;
        }
        bag.push(low_bits(distance));
        bag.push(*steps);
    }
    bag
}

const fn low_bits(number: u64) -> u8 {
    (number & 0x7f) as u8
}

/// Decodes until the input ends.
pub(super) fn unpacked(bag: &[u8]) -> impl Iterator<Item = (i64, u8)> + '_ {
    let mut bytes = bag.iter().copied();
    let mut last = 0_i64;
    std::iter::from_fn(move || {
        let mut distance = 0_i64;
        for shift in (0..63).step_by(7) {
            let byte = bytes.next()?;
            distance |= i64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        last = last.saturating_add(distance);
        Some((last, bytes.next()?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn term_counts_round_trip(
            terms in proptest::collection::btree_map(0..i64::MAX, any::<u8>(), 0..50),
        ) {
            let terms: Vec<(i64, u8)> = terms.into_iter().collect();
            prop_assert_eq!(unpacked(&packed(&terms)).collect::<Vec<_>>(), terms);
        }

        #[test]
        fn decoding_arbitrary_bytes_terminates(bytes: Vec<u8>) {
            prop_assert!(unpacked(&bytes).count() <= bytes.len());
        }
    }

    #[test]
    fn adjacent_terms_take_two_bytes_each() {
        assert_eq!(packed(&[(1, 4), (3, 8), (131, 255)]), [1, 4, 2, 8, 0x80, 1, 255]);
    }
}
