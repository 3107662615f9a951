// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hexadecimal text, the form of bytes in JSON.

use std::fmt::Write;

use sunseal_link::NodeId;

/// Lower-case digits, two a byte.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes of digits, upper or lower case; an error says where it went wrong.
pub fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{} hexadecimal digits are not whole bytes", digits.len()));
    }
    let value = |at: usize| match digits[at] {
        d @ b'0'..=b'9' => Ok(d - b'0'),
        d @ b'a'..=b'f' => Ok(d - b'a' + 10),
        d @ b'A'..=b'F' => Ok(d - b'A' + 10),
        other => Err(format!("`{}` at offset {at} is no hexadecimal digit", other.escape_ascii())),
    };
    (0..digits.len()).step_by(2).map(|at| Ok(value(at)? << 4 | value(at + 1)?)).collect()
}

/// A node's identifier: exactly sixteen digits.
pub fn node_id(text: &str) -> Result<NodeId, String> {
    let wanted = || format!("a node_id is 16 hexadecimal digits, not `{}`", text.escape_debug());
    let bytes = decode(text).map_err(|_| wanted())?;
    bytes.try_into().map(NodeId).map_err(|_| wanted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_survive_and_faults_are_located() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).unwrap(), all);
        assert_eq!(decode("0G").unwrap_err(), "`G` at offset 1 is no hexadecimal digit");
        assert_eq!(decode("0ä").unwrap_err(), "3 hexadecimal digits are not whole bytes");
        assert_eq!(decode("abc").unwrap_err(), "3 hexadecimal digits are not whole bytes");
        assert!(node_id("00").unwrap_err().contains("16 hexadecimal digits, not `00`"));
    }
}
