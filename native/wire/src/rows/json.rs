//! Rows as JSON, one object a line, in ASCII, as `netdiag/render/rows_json.py` writes them.

use super::batch::{Values, View};
use super::text::{Clock, float, whole};

/// The bytes that can be written as they are.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        plain[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    plain
};

/// A line for each row; a column that is there twice is written once.
pub(super) fn lines(columns: &[View<'_>], rows: usize) -> Vec<u8> {
    let mut named: Vec<(Vec<u8>, &View<'_>)> = Vec::new();
    for (place, view) in columns.iter().enumerate() {
        if columns[..place]
            .iter()
            .all(|other| other.column.name != view.column.name)
        {
            let mut name = vec![if named.is_empty() { b'{' } else { b',' }];
            string(&mut name, view.column.name);
            name.push(b':');
            named.push((name, view));
        }
    }
    let mut out = Vec::new();
    let mut clock = Clock::new();
    for row in 0..rows {
        if named.is_empty() {
            out.push(b'{');
        }
        for (name, column) in &named {
            out.extend_from_slice(name);
            if column.is_null(row) {
                out.extend_from_slice(b"null");
                continue;
            }
            match column.values {
                Values::Bool(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
                Values::Int16(values) => whole(&mut out, values[row].into()),
                Values::Int32(values) => whole(&mut out, values[row].into()),
                Values::Int64(values) => whole(&mut out, values[row]),
                Values::Float64(values) => float(&mut out, values[row]),
                Values::Time(values, nanoseconds) => {
                    out.push(b'"');
                    clock.write(&mut out, values[row].saturating_mul(nanoseconds));
                    out.push(b'"');
                }
                Values::String(values) => string(&mut out, values.value(row)),
                Values::Strings(texts, ends) => {
                    out.push(b'[');
                    for (number, text) in Values::strings(texts, ends, row).enumerate() {
                        if number > 0 {
                            out.push(b',');
                        }
                        string(&mut out, text);
                    }
                    out.push(b']');
                }
            }
        }
        out.extend_from_slice(b"}\n");
    }
    out
}

fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if text.bytes().all(|byte| PLAIN[usize::from(byte)]) {
        out.extend_from_slice(text.as_bytes());
    } else {
        text.chars().for_each(|letter| escaped(out, letter));
    }
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, letter: char) {
    match letter {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\x08' => out.extend_from_slice(b"\\b"),
        '\x0c' => out.extend_from_slice(b"\\f"),
        ' '..='~' => out.push(letter as u8),
        _ => {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        }
    }
}
