//! Discord's ids, which hold the moment at which they were made.

/// 2015-01-01T00:00:00Z.
const EPOCH_UNIX_MS: u64 = 1_420_070_400_000;

/// The moment in an id, Unix time.
pub(crate) fn unix_ms(id: u64) -> u64 {
    (id >> 22) + EPOCH_UNIX_MS
}

/// An id made at that moment; `count` tells those of one moment apart.
pub(crate) fn at(unix_ms: u64, count: u64) -> u64 {
    (unix_ms.saturating_sub(EPOCH_UNIX_MS) << 22) | (count & 0x3f_ffff)
}

/// A moment as Discord writes it.
pub(crate) fn timestamp(unix_ms: u64) -> String {
    let (days, ms) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    // Days to a date of the Gregorian calendar (Howard Hinnant, `civil_from_days`), for days after 1970.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}000+00:00", ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_its_moment() {
        assert_eq!(unix_ms(175928847299117063), 1462015105796);
        assert_eq!(unix_ms(at(1_700_000_000_123, 7)), 1_700_000_000_123);
    }

    #[test]
    fn moments_are_written_as_discord_writes_them() {
        assert_eq!(timestamp(1462015105796), "2016-04-30T11:18:25.796000+00:00");
        assert_eq!(timestamp(1_709_164_800_000), "2024-02-29T00:00:00.000000+00:00");
        assert_eq!(timestamp(951_868_799_999), "2000-02-29T23:59:59.999000+00:00");
    }
}
