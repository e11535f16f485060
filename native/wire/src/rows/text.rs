//! Numbers and times as text, as Python writes them.

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// The digits of a whole number.
pub(super) fn whole(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    let mut rest = value.unsigned_abs();
    let mut digits = [0; 20];
    let mut begin = digits.len();
    loop {
        begin -= 1;
        digits[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[begin..]);
}

/// The last `N` digits of a number.
fn padded<const N: usize>(mut value: u64) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    digits
}

/// Up to this many millionths, a number has at most 15 digits: no two such numbers are the same float.
const EXACT_MILLIONTHS: f64 = 1e15;

/// A float at six digits behind the point, as Python's `repr(round(value, 6))` has it.
pub(super) fn float(out: &mut Vec<u8>, value: f64) {
    let millionths = (value * 1e6).round();
    // Most are a whole number of nanoseconds over a million: then that number has the digits.
    if millionths.abs() < EXACT_MILLIONTHS && millionths / 1e6 == value && millionths.abs() >= 100.0 {
        let digits = millionths as i64;
        if digits < 0 {
            out.push(b'-');
        }
        let digits = digits.unsigned_abs();
        whole(out, (digits / 1_000_000) as i64);
        out.push(b'.');
        let behind: [u8; 6] = padded(digits % 1_000_000);
        let kept = behind.iter().rposition(|&digit| digit != b'0').unwrap_or(0);
        out.extend_from_slice(&behind[..=kept]);
        return;
    }
    any_float(out, value);
}

/// The same for floats of any kind, slowly.
fn any_float(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        out.extend_from_slice(if value.is_nan() {
            b"nan"
        } else if value > 0.0 {
            b"inf"
        } else {
            b"-inf"
        });
        return;
    }
    let rounded: f64 = format!("{value:.6}").parse().unwrap_or(value);
    // Of the shortest digits that read as the same number Python takes the nearest, of two as near the even ones.
    let shortest = format!("{rounded:e}");
    let places = shortest
        .bytes()
        .take_while(|&byte| byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    let nearest = format!("{rounded:.*e}", places.saturating_sub(1));
    let text = if nearest.parse() == Ok(rounded) {
        nearest
    } else {
        shortest
    };
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let (first, rest) = digits.split_at(1);
    let rest = rest.trim_start_matches('.');
    out.extend_from_slice(sign.as_bytes());
    // Python has an exponent below 1e-4 and from 1e16 on.
    if !(-4..16).contains(&exponent) {
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs()).as_bytes());
        return;
    }
    let digits = format!("{first}{rest}");
    let point = usize::try_from(exponent + 1).unwrap_or(0);
    match digits.split_at_checked(point) {
        Some(("", behind)) => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(
                b'0',
                exponent.unsigned_abs().saturating_sub(1) as usize,
            ));
            out.extend_from_slice(behind.as_bytes());
        }
        Some((before, behind)) => {
            out.extend_from_slice(before.as_bytes());
            out.push(b'.');
            out.extend_from_slice(if behind.is_empty() { b"0" } else { behind.as_bytes() });
        }
        None => {
            out.extend_from_slice(digits.as_bytes());
            out.extend(std::iter::repeat_n(b'0', point - digits.len()));
            out.extend_from_slice(b".0");
        }
    }
}

/// Times as RFC 3339 in UTC with nine digits, `2026-01-02T03:04:05.000000006Z`.
pub(super) struct Clock {
    /// The day that was written last, in days since 1970, and its date.
    day: i64,
    date: [u8; 11],
}

impl Clock {
    pub(super) fn new() -> Clock {
        Clock {
            day: 0,
            date: *b"1970-01-01T",
        }
    }

    /// Write a time in nanoseconds since 1970 UTC, which is in the years 1677 to 2262.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, time: i64) {
        let (seconds, fraction) = (time.div_euclid(SECOND), time.rem_euclid(SECOND));
        let (day, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        if day != self.day {
            self.day = day;
            self.date = date_of(day);
        }
        out.extend_from_slice(&self.date);
        let clock = [second / 3600, second / 60 % 60, second % 60];
        for (place, part) in clock.into_iter().enumerate() {
            if place > 0 {
                out.push(b':');
            }
            out.extend_from_slice(&padded::<2>(part as u64));
        }
        out.push(b'.');
        out.extend_from_slice(&padded::<9>(fraction as u64));
        out.push(b'Z');
    }
}

/// The date of a day, counted from 1970-01-01, and a T.
fn date_of(day: i64) -> [u8; 11] {
    // Years begin in March here, so that a leap day is their last; 400 years have 146,097 days.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let mut date = *b"0000-00-00T";
    date[..4].copy_from_slice(&padded::<4>(year as u64));
    date[5..7].copy_from_slice(&padded::<2>(month as u64));
    date[8..10].copy_from_slice(&padded::<2>(day_of_month as u64));
    date
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float_text(value: f64) -> String {
        let mut out = Vec::new();
        float(&mut out, value);
        String::from_utf8(out).expect("digits are ASCII")
    }

    fn time_text(time: i64) -> String {
        let (mut out, mut clock) = (Vec::new(), Clock::new());
        clock.write(&mut out, 86_400_000_000_000);
        out.clear();
        clock.write(&mut out, time);
        String::from_utf8(out).expect("digits are ASCII")
    }

    /// What Python's `repr(round(value, 6))` is of each.
    #[test]
    fn floats_are_written_as_python_writes_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (12.345678, "12.345678"),
            (12.3456785, "12.345678"),
            (0.000123, "0.000123"),
            (0.0001, "0.0001"),
            (0.000099, "9.9e-05"),
            (0.00001, "1e-05"),
            (0.000001, "1e-06"),
            (0.0000004, "0.0"),
            (-0.0000004, "-0.0"),
            (0.0000015, "2e-06"),
            (2.5e-6, "3e-06"),
            (123456789.123456, "123456789.123456"),
            (9999999999.999999, "9999999999.999998"),
            (1_797_980_874_820_375.0 + 0.25, "1797980874820375.2"),
            (-766_975_423_491_790.0 - 0.25, "-766975423491790.2"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e17, "1.25e+17"),
            (5e300, "5e+300"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::MIN_POSITIVE, "0.0"),
        ];
        for (value, text) in cases {
            assert_eq!(float_text(value), text, "{value:e}");
        }
    }

    #[test]
    fn times_are_written_with_all_their_digits() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
            (951_868_800_000_000_001, "2000-03-01T00:00:00.000000001Z"),
            (4_107_542_399_123_456_789, "2100-02-28T23:59:59.123456789Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ];
        for (time, text) in cases {
            assert_eq!(time_text(time), text);
        }
    }

    #[test]
    fn whole_numbers_have_their_digits() {
        for value in [0, 7, -7, 10, 1_234_567_890, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            whole(&mut out, value);
            assert_eq!(out, value.to_string().into_bytes());
        }
    }
}
