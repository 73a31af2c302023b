//! An input as a trace has it.

use bytes::Bytes;
use serde_json::{Value, json};
use tidegate_core::bot::{Input, ShardKey};
use tidegate_core::shard::{Event, StoredSession};
use tidegate_core::{Span, Time, identify_queue, send_queue, shard};

use super::{mask, stand_in};

pub(super) fn input(input: &Input<Bytes>) -> Value {
    match input {
        Input::Open { key, url, seed, autonomous, stored } => json!({"open": {
            "shard": pair(*key), "url": mask::url(url), "seed": seed, "autonomous": autonomous,
            "session": stored.as_ref().map(session),
        }}),
        Input::Forget { key } => json!({"forget": {"shard": pair(*key)}}),
        Input::Shard { key, input } => json!({"shard": {"shard": pair(*key), "input": of_shard(input)}}),
        Input::SendQueue { key, input } => {
            json!({"send_queue": {"shard": pair(*key), "input": of_send_queue(input)}})
        }
        Input::IdentifyQueue(input) => json!({"identify_queue": of_identify_queue(input)}),
        Input::Unauthorized => "unauthorized".into(),
        Input::Tick => "tick".into(),
    }
}

fn pair(key: ShardKey) -> [u32; 2] {
    [key.id, key.count]
}

pub(super) fn ms(time: Time) -> u64 {
    time.as_micros().div_ceil(1000)
}

fn span_ms(span: Span) -> u64 {
    span.as_millis_ceil()
}

fn session(stored: &StoredSession) -> Value {
    let StoredSession { id, seq, resume_url, backoff_step, at } = mask::stored(stored);
    json!({"id": id, "seq": seq, "resume_url": resume_url, "backoff_step": backoff_step, "at": ms(at)})
}

fn of_shard(input: &shard::Input) -> Value {
    match input {
        shard::Input::Start => "start".into(),
        shard::Input::Fresh { differs } => json!({"fresh": {"differs": differs}}),
        shard::Input::Budget => "budget".into(),
        shard::Input::NextInLine { due } => json!({"next_in_line": {"due_ms": ms(*due)}}),
        shard::Input::Granted { grant } => json!({"granted": {"grant": grant.0}}),
        shard::Input::Denied { refresh_at } => json!({"denied": {"refresh_at_ms": ms(*refresh_at)}}),
        shard::Input::Socket { generation, event } => of_socket(generation.0, event),
        shard::Input::Unauthorized => "unauthorized".into(),
        shard::Input::Stop => "stop".into(),
        shard::Input::Logout => "logout".into(),
        shard::Input::Rewind { seq } => json!({"rewind": {"seq": seq}}),
        shard::Input::Restart => "restart".into(),
        shard::Input::Tick => "tick".into(),
    }
}

fn of_socket(generation: u64, event: &Event) -> Value {
    match event {
        Event::Opened => json!({"opened": {"gen": generation}}),
        Event::Hello { interval } => json!({"hello": {"gen": generation, "interval_ms": span_ms(*interval)}}),
        Event::Ready { session, resume_url, seq } => json!({"ready": {
            "gen": generation, "session": mask::session(session), "resume_url": mask::url(resume_url), "seq": seq,
        }}),
        Event::Resumed => json!({"resumed": {"gen": generation}}),
        Event::Dispatch { seq } => json!({"dispatch": {"gen": generation, "seq": seq}}),
        Event::Ack => json!({"ack": {"gen": generation}}),
        Event::BeatAsked => json!({"beat_asked": {"gen": generation}}),
        Event::Reconnect => json!({"op7": {"gen": generation}}),
        Event::InvalidSession { resumable } => json!({"op9": {"gen": generation, "resumable": resumable}}),
        Event::Closed { code } => json!({"closed": {"gen": generation, "code": code}}),
        Event::Error => json!({"error": {"gen": generation}}),
        Event::Sent { op } => json!({"sent": {"gen": generation, "op": op}}),
    }
}

fn of_send_queue(input: &send_queue::Input<Bytes>) -> Value {
    match input {
        send_queue::Input::Command { id, op, guild: None, bytes } => {
            json!({"command": {"id": id, "op": op, "bytes": bytes}})
        }
        send_queue::Input::Command { id, op, guild: Some(guild), bytes } => {
            json!({"command": {"id": id, "op": op, "guild": &**guild, "bytes": bytes}})
        }
        send_queue::Input::MembersRequest { id, guild, all, bytes } => {
            json!({"members_request": {"id": id, "guild": &**guild, "all": all, "bytes": bytes}})
        }
        send_queue::Input::Subscribe { guild, snapshot, bytes } => {
            json!({"subscribe": {"guild": &**guild, "snapshot": stand_in(snapshot), "bytes": bytes}})
        }
        send_queue::Input::Direct { op } => json!({"direct": {"op": op}}),
        send_queue::Input::Ack => "ack".into(),
        send_queue::Input::Answered { id } => json!({"answered": {"id": id}}),
        send_queue::Input::RateLimited { opcode, guild, retry_after } => {
            let retry_after_ms = span_ms(*retry_after);
            json!({"rate_limited": {"opcode": opcode, "guild": &**guild, "retry_after_ms": retry_after_ms}})
        }
        send_queue::Input::Closed { code } => json!({"closed": {"code": code}}),
        send_queue::Input::Opened => "opened".into(),
        send_queue::Input::Ready => "ready".into(),
        send_queue::Input::Resumed => "resumed".into(),
        send_queue::Input::Tick => "tick".into(),
    }
}

fn of_identify_queue(input: &identify_queue::Input) -> Value {
    match input {
        identify_queue::Input::Request { shard, http } => json!({"request": {"shard": shard, "http": http}}),
        identify_queue::Input::Release { shard, grant, unused } => {
            json!({"release": {"shard": shard, "grant": grant.map(|grant| grant.0), "unused": unused}})
        }
        identify_queue::Input::Identified { shard, grant } => {
            json!({"identified": {"shard": shard, "grant": grant.map(|grant| grant.0)}})
        }
        identify_queue::Input::Refresh { limit, total, shards } => json!({"refresh": {
            "max_concurrency": limit.max_concurrency, "remaining": limit.remaining, "reset_at_ms": ms(limit.reset_at),
            "total": total, "shards": shards,
        }}),
        identify_queue::Input::Deferred { shard, grant, until } => {
            json!({"deferred": {"shard": shard, "grant": grant.0, "until_ms": ms(*until)}})
        }
        identify_queue::Input::Tick => "tick".into(),
    }
}
