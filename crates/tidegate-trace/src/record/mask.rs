//! What stands for what is not written down.

use bytes::Bytes;
use serde_json::Value;
use tidegate_core::bot::Output;
use tidegate_core::send_queue::{self, Frame};
use tidegate_core::shard::{self, StoredSession};

use super::stand_in;

/// A session's id: who has it and a token can take the session over.
pub(super) fn session(id: &str) -> Box<str> {
    format!("{:016x}", super::keyed(id)).into()
}

/// A Gateway address without path and query.
pub(super) fn url(url: &str) -> Box<str> {
    let behind_scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url[behind_scheme..].find(['/', '?']).map_or(url.len(), |at| behind_scheme + at);
    url[..end].into()
}

pub(super) fn stored(kept: &StoredSession) -> StoredSession {
    StoredSession { id: session(&kept.id), resume_url: url(&kept.resume_url), ..kept.clone() }
}

/// An output with nothing in it that is not written down.
pub(super) fn output(output: &Output<Bytes>) -> Output<Value> {
    match output {
        Output::Shard { key, output } => Output::Shard { key: *key, output: of_shard(output) },
        Output::SendQueue { key, output } => Output::SendQueue { key: *key, output: of_send_queue(output) },
        Output::IdentifyQueue(output) => Output::IdentifyQueue(*output),
        Output::Outside(output) => Output::Outside(*output),
        Output::NotOpened { key } => Output::NotOpened { key: *key },
    }
}

fn of_shard(output: &shard::Output) -> shard::Output {
    match output {
        shard::Output::Connect { generation, url: full } => {
            shard::Output::Connect { generation: *generation, url: url(full) }
        }
        shard::Output::Resume { generation, session: id, seq } => {
            shard::Output::Resume { generation: *generation, session: session(id), seq: *seq }
        }
        shard::Output::SaveSession(kept) => shard::Output::SaveSession(kept.as_ref().map(stored)),
        other => other.clone(),
    }
}

fn of_send_queue(output: &send_queue::Output<Bytes>) -> send_queue::Output<Value> {
    match output {
        send_queue::Output::Send(Frame::Command { id }) => send_queue::Output::Send(Frame::Command { id: *id }),
        send_queue::Output::Send(Frame::Subscriptions(guilds)) => {
            let guilds = guilds.iter().map(|(guild, snapshot)| (guild.clone(), stand_in(snapshot)));
            send_queue::Output::Send(Frame::Subscriptions(guilds.collect()))
        }
        send_queue::Output::Refused { what, reason } => {
            send_queue::Output::Refused { what: what.clone(), reason: *reason }
        }
        send_queue::Output::Dropped { id, reason } => send_queue::Output::Dropped { id: *id, reason: *reason },
        send_queue::Output::Close { code } => send_queue::Output::Close { code: *code },
    }
}
