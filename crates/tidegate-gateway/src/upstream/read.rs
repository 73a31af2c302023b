//! From a message of the socket to what it tells.

use std::time::Duration;

use bytes::Bytes;

use super::event::{Dispatch, Event, Events, Failure, Read};
use crate::effect::Answer;
use crate::wire::Malformed;
use crate::wire::codec::Inflate;
use crate::wire::ready;
use crate::wire::scan::{Envelope, scan};

/// Reads one message and tells what is in it. Gives the payload's length.
pub(super) fn message(inflate: &mut Inflate, message: &[u8], events: &mut impl Events) -> Result<usize, Failure> {
    let Some(payload) = inflate.message(message)? else { return Ok(0) };
    let envelope = scan(payload)?;
    let event = match envelope.op {
        0 => Event::Dispatch(dispatch(payload, &envelope)?),
        1 => Event::BeatAsked,
        7 => Event::Reconnect,
        9 => Event::InvalidSession { resumable: ready::resumable(data(payload, &envelope)) },
        10 => {
            let interval_ms = ready::hello(data(payload, &envelope).unwrap_or_default())?;
            Event::Hello { interval: Duration::from_millis(interval_ms) }
        }
        11 => Event::Ack,
        op => Event::Unknown { op },
    };
    events.event(event);
    Ok(payload.len())
}

fn data<'a>(payload: &'a [u8], envelope: &Envelope<'_>) -> Option<&'a [u8]> {
    payload.get(envelope.d.clone()?)
}

fn dispatch<'a>(payload: &[u8], envelope: &'a Envelope<'_>) -> Result<Dispatch<'a>, Malformed> {
    let seq = envelope.s.ok_or(Malformed::Field("s"))?;
    let name = envelope.t.as_deref().ok_or(Malformed::Field("t"))?;
    let data = envelope.d.clone().ok_or(Malformed::Field("d"))?;
    let read = match name {
        "READY" => Read::Ready(ready::ready(payload, &data)?),
        "RESUMED" => Read::Resumed,
        // One that cannot be read drops nothing that can be asked for again.
        "RATE_LIMITED" => ready::rate_limited(&payload[data.clone()]).map_or(Read::Nothing, Read::RateLimited),
        name => Answer::of(name).map_or(Read::Nothing, Read::Answer),
    };
    // A copy, exactly as long: it is kept for a RESUME, and a piece of the socket's buffer would keep all of that.
    Ok(Dispatch { seq, name, payload: Bytes::copy_from_slice(payload), data, read })
}
