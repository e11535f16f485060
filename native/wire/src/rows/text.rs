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
    // Shortest digits that read as the same number; Python has an exponent below 1e-4 and from 1e16 on.
    let size = rounded.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{rounded:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent
            .strip_prefix('-')
            .map_or(("+", exponent), |exponent| ("-", exponent));
        out.extend_from_slice(format!("{digits}e{sign}{exponent:0>2}").as_bytes());
    } else {
        out.extend_from_slice(format!("{rounded:?}").as_bytes());
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
