//! As much of protocol buffers as Anki's files need: walking over the fields of a message.

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, in order; what cannot be read ends it.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = (u64, Value<'_>)> {
    let mut rest = message;
    std::iter::from_fn(move || {
        let key = varint(&mut rest)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut rest)?),
            1 => Value::Bytes(take(&mut rest, 8)?),
            2 => {
                let length = varint(&mut rest)?;
                Value::Bytes(take(&mut rest, usize::try_from(length).ok()?)?)
            }
            5 => Value::Bytes(take(&mut rest, 4)?),
            _ => return None,
        };
        Some((key >> 3, value))
    })
}

/// The first field of that number that holds bytes.
pub(super) fn bytes(message: &[u8], number: u64) -> Option<&[u8]> {
    fields(message).find_map(|(field, value)| match value {
        Value::Bytes(bytes) if field == number => Some(bytes),
        _ => None,
    })
}

/// As [`bytes`], as text.
pub(super) fn text(message: &[u8], number: u64) -> String {
    String::from_utf8_lossy(bytes(message, number).unwrap_or_default()).into_owned()
}

/// The first field of that number that holds a number; 0 without one, as everywhere in proto3.
pub(super) fn number(message: &[u8], number: u64) -> u64 {
    optional_number(message, number).unwrap_or(0)
}

/// As [`number`], where it matters whether it is there.
pub(super) fn optional_number(message: &[u8], number: u64) -> Option<u64> {
    fields(message).find_map(|(field, value)| match value {
        Value::Number(value) if field == number => Some(value),
        _ => None,
    })
}

/// The numbers of a field of single precision, one or many, as short as they can be written.
pub(super) fn floats(message: &[u8], number: u64) -> Vec<f64> {
    let to_f32 = |bytes: &[u8]| {
        let bits: [u8; 4] = bytes.try_into().ok()?;
        f32::from_le_bytes(bits).to_string().parse::<f64>().ok()
    };
    bytes(message, number).unwrap_or_default().chunks_exact(4).filter_map(to_f32).collect()
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_and_broken_messages_end() {
        // {1: 150, 2: "testing"}, the examples of the protocol buffers documentation.
        let message = [0x08, 0x96, 0x01, 0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g'];
        assert_eq!(number(&message, 1), 150);
        assert_eq!(text(&message, 2), "testing");
        assert_eq!(number(&message, 3), 0);
        for length in 0..message.len() {
            let _ = fields(&message[..length]).count();
        }
        assert_eq!(fields(&[0xff; 20]).count(), 0);
    }
}
