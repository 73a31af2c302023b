//! Several measurements of one thing.

use std::fmt;

/// The median of several measurements, with the least and the greatest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of at least one measurement; all zero where there is none.
    pub(crate) fn of(measured: impl IntoIterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = measured.into_iter().collect();
        all.sort_by(f64::total_cmp);
        let at = |place: usize| all.get(place).copied().unwrap_or_default();
        let middle = all.len() / 2;
        let median = if all.len().is_multiple_of(2) && middle > 0 {
            f64::midpoint(at(middle - 1), at(middle))
        } else {
            at(middle)
        };
        Self { median, min: at(0), max: at(all.len().saturating_sub(1)) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(1);
        write!(f, "{:.digits$} ({:.digits$} to {:.digits$})", self.median, self.min, self.max)
    }
}
