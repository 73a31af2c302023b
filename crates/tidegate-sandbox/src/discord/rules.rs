//! Which bucket a call belongs to.

use super::limits::{Limits, Rate};
use super::route::{Kind, Route};

/// A bucket's name, rate, and the hash that its headers tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// What is counted together.
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) hash: String,
}

/// How old the message is that a DELETE is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// Under 10 s, or there is no such message.
    Young,
    Middle,
    /// Over 14 days.
    Old,
}

impl Age {
    pub(crate) fn of(age_ms: u64) -> Self {
        match age_ms {
            ..10_000 => Self::Young,
            10_000..=1_209_600_000 => Self::Middle,
            _ => Self::Old,
        }
    }
}

/// 32 hexadecimal digits, the same in every run.
fn digest(name: &str) -> String {
    let part = |seed: &str| super::route::hash(&format!("{seed}{name}"));
    format!("{:016x}{:016x}", part("a"), part("b"))
}

impl Rule {
    pub(crate) fn of(route: &Route, age: Age, limits: &Limits) -> Self {
        let (name, rate) = match route.kind {
            Kind::Send => ("send", limits.send),
            Kind::EditMessage => ("edit", limits.edit),
            Kind::DeleteMessage => match age {
                Age::Young => ("delete-young", limits.delete_young),
                Age::Middle => ("delete", limits.delete),
                Age::Old => ("delete-old", limits.delete_old),
            },
            Kind::React => ("reaction", limits.reaction),
            Kind::Typing => ("typing", limits.typing),
            Kind::PatchChannel => ("channel", limits.channel),
            Kind::ExecuteWebhook => ("webhook", limits.webhook),
            Kind::EditHookMessage => ("webhook-edit", limits.webhook),
            Kind::DeleteHookMessage => ("webhook-delete", limits.webhook),
            Kind::ReadHookMessage => ("webhook-read", limits.webhook),
            Kind::Callback => ("callback", limits.callback),
            Kind::CreateEmoji => ("emoji", limits.emoji),
            Kind::GatewayBot => ("gateway-bot", limits.gateway_bot),
            // Every other route has a bucket of its own.
            Kind::Me
            | Kind::Application
            | Kind::Gateway
            | Kind::ReadChannel
            | Kind::ListMessages
            | Kind::ReadMessage
            | Kind::Pins
            | Kind::Members
            | Kind::Member
            | Kind::ReadWebhook
            | Kind::Other { read: true } => (route.name.as_str(), limits.read),
            Kind::OpenDm
            | Kind::BulkDelete
            | Kind::Pin
            | Kind::CreateWebhook
            | Kind::DeleteWebhook
            | Kind::Invite
            | Kind::Other { read: false } => (route.name.as_str(), limits.other),
        };
        let told = if name == "delete" && limits.shared_hash { "send" } else { name };
        Self { name: name.to_owned(), rate, hash: digest(told) }
    }
}
