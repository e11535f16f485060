//! Keys, values and headers as text.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::payloads::Header;
use crate::exchange::row::Strings;

/// The beginning of some bytes, and how it is written.
pub(crate) struct Shown<'a> {
    pub text: Cow<'a, str>,
    pub is_base64: bool,
}

impl Shown<'_> {
    /// At most so many bytes: UTF-8 without control characters as it is, anything else as base64.
    pub fn of(bytes: &[u8], most: usize) -> Shown<'_> {
        let head = bytes.get(..most).unwrap_or(bytes);
        let text = match std::str::from_utf8(head) {
            Ok(text) => Some(text),
            // A character may have been cut.
            Err(error) if error.error_len().is_none() && head.len() < bytes.len() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        match text.filter(|text| !text.contains(is_control)) {
            Some(text) => Shown {
                text: Cow::Borrowed(text),
                is_base64: false,
            },
            None => Shown {
                text: Cow::Owned(STANDARD.encode(head)),
                is_base64: true,
            },
        }
    }

    pub fn encoding(&self) -> &'static str {
        if self.is_base64 { "base64" } else { "text" }
    }
}

/// Puts each header as `name=value`, `name=base64:value` or `name`.
pub(crate) fn show_headers(headers: &[Header<'_>], most: usize, texts: &mut Strings) {
    texts.clear();
    for (name, value) in headers {
        let name = Shown::of(name, most);
        match value.map(|value| Shown::of(value, most)) {
            None => texts.push(&name.text),
            Some(value) if value.is_base64 => texts.push_all(&[&name.text, "=base64:", &value.text]),
            Some(value) => texts.push_all(&[&name.text, "=", &value.text]),
        }
    }
}

/// Those that a terminal may do something with; tabs and ends of lines are text.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> (String, &'static str) {
        let shown = Shown::of(bytes, 4096);
        (shown.text.to_string(), shown.encoding())
    }

    #[test]
    fn what_is_text_is_shown_as_it_is() {
        assert_eq!(texts(b""), (String::new(), "text"));
        assert_eq!(texts("ä\t語\n".as_bytes()), ("ä\t語\n".into(), "text"));
        for bytes in [&b"\x1b[31m"[..], b"\0", b"\xff", "\u{85}".as_bytes(), b"a\x7f"] {
            assert_eq!(texts(bytes).1, "base64", "{bytes:?}");
        }
        assert_eq!(texts(b"\xff\x00").0, "/wA=");
    }

    #[test]
    fn a_character_may_be_cut_where_the_text_is() {
        let long = "ä".repeat(3000);
        assert_eq!(texts(&long.as_bytes()[..5001]), ("ä".repeat(2048), "text"));
        let odd = format!("x{long}");
        assert_eq!(texts(odd.as_bytes()), (format!("x{}", "ä".repeat(2047)), "text"));
        assert_eq!(texts(&odd.as_bytes()[..4]).1, "base64", "nothing more is to come");
    }
}
