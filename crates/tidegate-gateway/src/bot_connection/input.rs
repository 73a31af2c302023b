//! What the bot says.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{BufMut as _, Bytes};
use tokio::io::{AsyncRead as _, ReadBuf};

use super::{End, Guest};
use crate::attachment::Act;
use crate::bot_gateway::Visitor;
use crate::close::Close;
use crate::frame::{Command, Identify, Resume};
use crate::mailbox::Tell;
use crate::websocket::{Broken, Frame, Kind};

/// Read at once.
const CHUNK: usize = 4 << 10;
const ACK: &str = r#"{"t":null,"s":null,"op":11,"d":null}"#;

impl Guest {
    /// Reads what the bot has sent; whether there was something. A bot that takes nothing is listened to as well, for its
    /// heartbeats: what is answered is bounded by the attachment.
    pub(super) fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let mut heard = false;
        while let Some(frame) = self.next_frame()? {
            heard = true;
            let before = self.writer.len();
            self.hear(frame)?;
            self.writer.answered(self.writer.len() - before);
        }
        let mut chunk = [0; CHUNK];
        let mut read = ReadBuf::new(&mut chunk);
        match Pin::new(&mut self.io).poll_read(cx, &mut read) {
            Poll::Pending => Ok(heard),
            Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                self.reader.buffer().put_slice(read.filled());
                Ok(true)
            }
            Poll::Ready(_) => Err(End::Gone),
        }
    }

    fn next_frame(&mut self) -> Result<Option<Frame>, Close> {
        self.reader.next().map_err(|broken| match broken {
            Broken::TooLong(bytes) => Close::too_long(bytes, self.fleets.depot.settings.send_queue.max_payload),
            Broken::Protocol(reason) => Close::protocol(reason),
        })
    }

    fn hear(&mut self, frame: Frame) -> Result<(), End> {
        let now = self.fleets.depot.clock.now();
        match frame {
            Frame::Message(message) => match self.attachment.frame(now, &message)? {
                Act::Ack => self.say(&Bytes::from_static(ACK.as_bytes()))?,
                Act::Identify(identify) => self.identify(identify)?,
                Act::Resume(resume) => self.resume(&resume),
                Act::Command(command) => self.command(command),
                Act::Nothing => {}
            },
            Frame::Ping(payload) => {
                self.attachment.ping(now)?;
                self.writer.put(Kind::Pong, &payload);
            }
            Frame::Pong => {}
            Frame::Close(code) => return Err(End::Theirs(code)),
        }
        Ok(())
    }

    fn identify(&mut self, identify: Arc<Identify>) -> Result<(), Close> {
        if self.fleets.depot.settings.bots.as_ref().is_some_and(|served| !served.contains(identify.token.id())) {
            return Err(Close::NOT_SERVED);
        }
        let fleet = self.fleets.of(&identify.token).ok_or(Close::TOO_MANY)?;
        let key = identify.key;
        if self.seat.as_ref().is_some_and(|(other, seat)| !Arc::ptr_eq(other, &fleet) || *seat != key) {
            self.leave(None);
        }
        fleet.identify(&self.visitor(), identify);
        self.seat = Some((fleet, key));
        Ok(())
    }

    fn resume(&mut self, resume: &Resume) {
        let fleet = self.fleets.known(&resume.token);
        let found = fleet.and_then(|fleet| fleet.resume(&self.visitor(), resume).map(|key| (fleet, key)));
        let Some((fleet, key)) = found else { return self.link.tell(Tell::Invalid) };
        if self.seat.as_ref().is_some_and(|(other, seat)| !Arc::ptr_eq(other, &fleet) || *seat != key) {
            self.leave(None);
        }
        self.seat = Some((fleet, key));
    }

    fn command(&mut self, command: Command) {
        if let Some((fleet, key)) = &self.seat {
            fleet.command(*key, self.link.number, command);
        }
    }

    fn visitor(&self) -> Visitor<'_> {
        Visitor { discover: &self.discover, link: &self.link, address: &self.address }
    }
}
