//! A governor without tokio, sockets or a clock: a minute and a half of a busy bot in virtual time.
//!
//! The platform is the sandbox's model of Telegram, which counts by its own code and would answer 429 to a message too many.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::governor::{Answer, Governor, Input, Output, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MethodKey, Peer, Span, Time};
use tidegate_examples::{Outcome, TELEGRAM_TOKEN, ensure};
use tidegate_sandbox::telegram;

const METHOD: &str = "sendMessage";
/// Twenty a minute is what Telegram allows in a group.
const TO_GROUP: u64 = 25;
const CHATS: u64 = 40;

/// The bot: the gate that decides, and the platform that it sends to.
struct Bot {
    governor: Governor,
    platform: telegram::Model,
    chats: BTreeMap<Ticket, i64>,
    sent: Vec<(Time, i64)>,
    refused: u32,
}

impl Bot {
    /// A driver in five lines: tell the gate, then do what it says until it says no more.
    fn tell(&mut self, now: Time, input: Input) -> Outcome {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.governor.handle(now, input);
            while let Some(output) = self.governor.poll_output() {
                inputs.extend(self.carry_out(now, output)?);
            }
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        now: Time,
        output: Output,
    ) -> Result<Option<Input>, Box<dyn std::error::Error + Send + Sync>> {
        match output {
            Output::Send { ticket, .. } => {
                let chat = self.chats[&ticket];
                let call = telegram::Call::new(TELEGRAM_TOKEN, METHOD).arg("chat_id", chat).arg("text", "hello");
                let verdict = self.platform.call(Duration::from_micros(now.as_micros()), &call);
                ensure(verdict.answer.status == 200, format!("the platform answered {}", verdict.answer.body))?;
                self.sent.push((now, chat));
                Ok(Some(Input::Done { ticket, result: Answer::Ok }))
            }
            Output::Refuse { .. } => {
                self.refused += 1;
                Ok(None)
            }
            other => Err(format!("no send is ever {other:?}").into()),
        }
    }
}

fn main() -> Outcome {
    let policy = Arc::new(Policy::load("telegram", &[])?);
    let row = policy.row_of(&Call { method: METHOD, has_chat: true, rich: false, paid: false });
    let mut bot = Bot {
        governor: Governor::new(policy, false),
        platform: telegram::Model::new(telegram::Settings::default()),
        chats: BTreeMap::new(),
        sent: Vec::new(),
        refused: 0,
    };

    // All at once: more to one group than a minute allows, and one message to each of many other chats.
    let chats = std::iter::repeat_n(-100, TO_GROUP as usize).chain(1..=CHATS as i64);
    for (number, chat) in (1..).zip(chats) {
        let ticket = Ticket(number);
        bot.chats.insert(ticket, chat);
        let write = Write::new(ticket, row, MethodKey::of(METHOD)).peer(Peer::Id(chat)).max_hold(Span::from_secs(120));
        bot.tell(Time::ZERO, Input::Write(write))?;
    }
    // Then time passes, by jumps to whatever comes next.
    while bot.governor.held() > 0 {
        let (at, _reason) = bot.governor.poll_timeout().ok_or("it holds something and waits for nothing")?;
        bot.tell(at, Input::Tick)?;
    }

    let group: Vec<Time> = bot.sent.iter().filter(|(_, chat)| *chat == -100).map(|(at, _)| *at).collect();
    let last_other = bot.sent.iter().filter(|(_, chat)| *chat > 0).map(|(at, _)| *at).max().ok_or("nothing left")?;
    let stats = bot.platform.stats();
    println!("{} messages accepted, {} answered 429", stats.total.accepted, stats.total.refused_429);
    println!("the group's first left at {:?}, its 18th at {:?}, its last at {:?}", group[0], group[17], group[24]);
    println!("the last of {CHATS} other chats left at {last_other:?}: the busy group held none of them up");
    ensure(stats.total.refused_429 == 0 && bot.refused == 0, "something was refused")?;
    ensure(stats.total.accepted == TO_GROUP + CHATS, "something was lost")?;
    ensure(last_other < Time::from_millis(3_000), "the other chats waited for the group")?;
    ensure(group[18] >= Time::from_millis(60_000), "the 19th was within the minute")
}
