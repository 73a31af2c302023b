//! The session: what Discord remembers of us, and where to come back to it.

use alloc::boxed::Box;
use alloc::format;

use super::settings::StoredSession;
use crate::time::Time;

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: Box<str>,
    pub(super) seq: u64,
    pub(super) resume_url: Box<str>,
    /// When it became READY; unknown for a stored one.
    pub(super) born: Option<Time>,
}

impl Session {
    pub(super) fn store(&self, backoff_step: u32, at: Time) -> StoredSession {
        let Self { id, seq, resume_url, born: _ } = self.clone();
        StoredSession { id, seq, resume_url, backoff_step, at }
    }

    /// The numbers of dispatches only rise; a replayed one says nothing new.
    pub(super) fn saw(&mut self, seq: u64) {
        self.seq = self.seq.max(seq);
    }

    /// What came behind that is to come again.
    pub(super) fn rewind(&mut self, seq: u64) {
        self.seq = self.seq.min(seq);
    }
}

impl From<StoredSession> for Session {
    fn from(stored: StoredSession) -> Self {
        Self { id: stored.id, seq: stored.seq, resume_url: stored.resume_url, born: None }
    }
}

/// The resume address with the query of the main one: Discord sends it bare, and wants the same version, encoding and
/// compression (<https://discord.com/developers/docs/events/gateway#resuming>).
pub(super) fn resume_address(main: &str, resume: &str) -> Box<str> {
    if resume.is_empty() {
        return main.into();
    }
    let (address, own_query) = split(resume);
    match (own_query, split(main).1) {
        (Some(_), _) | (None, None) => resume.into(),
        (None, Some(query)) => {
            let has_path = address.split_once("://").map_or(address, |(_, rest)| rest).contains('/');
            format!("{address}{}?{query}", if has_path { "" } else { "/" }).into()
        }
    }
}

fn split(url: &str) -> (&str, Option<&str>) {
    url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)))
}

#[cfg(test)]
mod tests {
    use super::resume_address;

    #[test]
    fn a_resume_address_takes_the_query_of_the_main_one() {
        for (main, resume, dialled) in [
            ("wss://main", "wss://r", "wss://r"),
            ("wss://main/?v=10&encoding=json", "wss://r", "wss://r/?v=10&encoding=json"),
            ("wss://main/?v=10", "wss://r/", "wss://r/?v=10"),
            ("wss://main/?v=10", "wss://r/x", "wss://r/x?v=10"),
            ("wss://main/?v=10", "wss://r/?v=9", "wss://r/?v=9"),
            ("wss://main/?v=10", "", "wss://main/?v=10"),
        ] {
            assert_eq!(&*resume_address(main, resume), dialled);
        }
    }
}
