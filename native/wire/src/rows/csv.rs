//! Rows as comma-separated values (RFC 4180), as `netdiag/render/rows_csv.py` writes them: nothing for null, lists
//! joined by a semicolon, control characters and overrides of direction spelled out.

use super::batch::{Values, View};
use super::text::{Clock, float, whole};

const BETWEEN: u8 = b';';

/// The bytes that can be written as they are, whatever is beside them.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        plain[byte] = byte != b',' as usize && byte != b'"' as usize;
        byte += 1;
    }
    plain
};

/// A line for each row.
pub(super) fn lines(columns: &[View<'_>], rows: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut clock = Clock::new();
    let mut joined = Vec::new();
    for row in 0..rows {
        let begin = out.len();
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            if column.is_null(row) {
                continue;
            }
            match column.values {
                Values::Bool(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
                Values::Int16(values) => whole(&mut out, values[row].into()),
                Values::Int32(values) => whole(&mut out, values[row].into()),
                Values::Int64(values) => whole(&mut out, values[row]),
                Values::Float64(values) => float(&mut out, values[row]),
                Values::Time(values, nanoseconds) => clock.write(&mut out, values[row].saturating_mul(nanoseconds)),
                Values::String(values) => cell(&mut out, values.value(row)),
                Values::Strings(texts, ends) => {
                    joined.clear();
                    for (number, text) in Values::strings(texts, ends, row).enumerate() {
                        if number > 0 {
                            joined.push(BETWEEN);
                        }
                        joined.extend_from_slice(text.as_bytes());
                    }
                    cell(&mut out, &String::from_utf8_lossy(&joined));
                }
            }
        }
        if out.len() == begin && !columns.is_empty() {
            // An empty line would be no row.
            out.extend_from_slice(b"\"\"");
        }
        out.push(b'\n');
    }
    out
}

fn cell(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| PLAIN[usize::from(byte)]) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let quoted = text.contains([',', '"']);
    if quoted {
        out.push(b'"');
    }
    for letter in text.chars() {
        match letter {
            '"' => out.extend_from_slice(b"\"\""),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' => out.extend_from_slice(format!("\\x{:02x}", letter as u32).as_bytes()),
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend_from_slice(format!("\\u{:04x}", letter as u32).as_bytes());
            }
            _ => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    if quoted {
        out.push(b'"');
    }
}
