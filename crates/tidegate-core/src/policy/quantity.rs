//! Spans and rates as people write them: `250ms`, `5s`, `18/60s`.

use alloc::format;
use alloc::string::String;

use crate::time::Span;

/// A span with its unit: `250ms`, `5s`, `1.5s`, `10min`, `1h`.
pub fn parse_span(text: &str) -> Result<Span, String> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let micros: u64 = match unit {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        _ => return Err(format!("\"{text}\" is no length of time; write it like \"250ms\", \"5s\" or \"10min\"")),
    };
    let (whole, fraction) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), ""));
    let wrong = || format!("\"{number}\" is no number of \"{unit}\"");
    if !whole.bytes().all(|b| b.is_ascii_digit()) || !fraction.bytes().all(|b| b.is_ascii_digit()) || fraction.len() > 6
    {
        return Err(wrong());
    }
    let mut total = whole.parse::<u64>().map_err(|_| wrong())?.saturating_mul(micros);
    if !fraction.is_empty() {
        let scale = 10_u64.pow(u32::try_from(fraction.len()).unwrap_or(0));
        total = total.saturating_add(fraction.parse::<u64>().map_err(|_| wrong())?.saturating_mul(micros) / scale);
    }
    Ok(Span::from_micros(total))
}

/// Units per period: `18/60s`.
pub(super) fn parse_rate(text: &str) -> Result<(u32, Span), String> {
    let wrong = || format!("\"{text}\" is no rate; write it like \"18/60s\"");
    let (units, period) = text.split_once('/').ok_or_else(wrong)?;
    let units = units.trim().parse::<u32>().map_err(|_| wrong())?;
    let period = parse_span(period)?;
    if units == 0 || units > 10_000 {
        return Err(format!("\"{text}\": the units must be 1 to 10000"));
    }
    if period.is_zero() || period > Span::from_secs(86_400) {
        return Err(format!("\"{text}\": the period must be over 0 and at most 24h"));
    }
    Ok((units, period))
}

/// A span in the largest unit that gives a whole number.
pub(super) fn show_span(span: Span) -> String {
    let micros = span.as_micros();
    match () {
        () if micros.is_multiple_of(60_000_000) && micros >= 600_000_000 => format!("{}min", micros / 60_000_000),
        () if micros.is_multiple_of(1_000_000) => format!("{}s", micros / 1_000_000),
        () if micros.is_multiple_of(1_000) => format!("{}ms", micros / 1_000),
        () => format!("{micros}us"),
    }
}

/// A rate as it is written.
pub(super) fn show_rate(units: u32, period: Span) -> String {
    format!("{units}/{}", show_span(period))
}
