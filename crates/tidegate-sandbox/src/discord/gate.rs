//! Lets a call through or refuses it: over all routes, by bucket, and by what no header shows.

use super::auth::{Caller, Owner};
use super::limits::{Limits, Rate};
use super::model::{Case, Model};
use super::refusal::{self, Scope};
use super::route::{Kind, Major};
use super::rules::{Age, Rule};
use super::window::{Cooldown, Window};
use super::{Answer, snowflake};
use crate::time::micros;

/// One caller's calls over all routes.
#[derive(Debug, Default)]
pub(crate) struct Overall {
    window: Window,
    pub(crate) cooldown: Option<Cooldown>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BucketKey {
    owner: Owner,
    name: String,
    major: Major,
}

#[derive(Debug, Default)]
pub(crate) struct Bucket {
    window: Window,
    /// From when its headers are known to somebody.
    known_us: Option<u64>,
    pub(crate) cooldown: Option<Cooldown>,
}

/// A limit that no header shows, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hidden {
    ChannelName(u64),
    WebhookChannel(u64),
    Followups(u64),
    Emoji(u64),
}

#[derive(Debug, Default)]
pub(crate) struct HiddenWindow {
    window: Window,
    /// From when the window's 429 is known.
    known_us: Option<u64>,
    pub(crate) cooldown: Option<Cooldown>,
}

impl Hidden {
    fn rate(self, limits: &Limits) -> (Scope, Rate) {
        match self {
            Self::ChannelName(_) => (Scope::User, limits.channel_name),
            Self::WebhookChannel(_) => (Scope::Shared, limits.webhook_channel),
            Self::Followups(_) => (Scope::Shared, limits.followups),
            Self::Emoji(_) => (Scope::Shared, limits.emoji_guild),
        }
    }
}

/// A call that was let through.
pub(crate) struct Passed {
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Model {
    /// Whether the call counts in its caller's limit over all routes: interactions and token webhooks do not, unless
    /// they carry `Authorization` (discord-api-docs#4142, #5800).
    fn is_exempt(case: &Case<'_>) -> bool {
        case.route.has_own_token() && case.caller == Caller::Nobody
    }

    pub(crate) fn age(&self, case: &Case<'_>) -> Age {
        let (Some(channel), Some(message)) = (case.route.channel(), case.route.message) else { return Age::Young };
        if self.is_missing(channel, message) {
            return Age::Young;
        }
        Age::of(self.unix_ms(case.now_us).saturating_sub(snowflake::unix_ms(message)))
    }

    pub(crate) fn bucket_key(case: &Case<'_>, rule: &Rule) -> BucketKey {
        let own = case.route.has_own_token();
        let owner = if own { Owner::Anyone } else { case.caller.owner(case.call.from) };
        BucketKey { owner, name: rule.name.clone(), major: case.route.major }
    }

    /// The hidden limit that the call counts in.
    pub(crate) fn hidden(&self, case: &Case<'_>) -> Option<Hidden> {
        let named = || ["name", "topic"].iter().any(|key| case.call.body.get(key).is_some());
        match (case.route.kind, case.route.major) {
            (Kind::PatchChannel, Major::Channel(id)) if named() => Some(Hidden::ChannelName(id)),
            (Kind::CreateEmoji, Major::Guild(id)) => Some(Hidden::Emoji(id)),
            (Kind::ExecuteWebhook, Major::Token(id, token)) => Some(if self.is_followup(&case.route, token) {
                Hidden::Followups(id)
            } else {
                Hidden::WebhookChannel(self.webhook_channel(id))
            }),
            _ => None,
        }
    }

    /// Lets the call through all of its limits, or answers it.
    pub(crate) fn admit(&mut self, case: &mut Case<'_>) -> Result<Passed, Answer> {
        self.admit_overall(case)?;
        let (told_us, limits) = (case.told_us, &self.settings.limits);
        if case.route.kind == Kind::Invite {
            let address = self.addresses.entry(&case.call.from, Default::default);
            if let Some(blocked) = address.invite(case.now_us, told_us, limits) {
                case.entry.refused(Scope::Ban, blocked.wait_us, blocked.known_us <= case.now_us);
                return Err(refusal::blocked(limits.ban_shape, Some(blocked.wait_us)));
            }
        }
        let rule = Rule::of(&case.route, self.age(case), limits);
        let headers = self.admit_bucket(case, &rule)?;
        self.admit_hidden(case, &headers)?;
        Ok(Passed { headers })
    }

    fn admit_overall(&mut self, case: &mut Case<'_>) -> Result<(), Answer> {
        if Self::is_exempt(case) {
            return Ok(());
        }
        let (now_us, rate) = (case.now_us, self.settings.limits.global);
        let owner = case.caller.owner(case.call.from);
        let overall = self.callers.entry(&owner, Overall::default);
        let wait = match overall.cooldown.filter(|cooldown| cooldown.holds(now_us)) {
            Some(cooldown) => Err((cooldown.until_us - now_us, cooldown.known_us <= now_us)),
            // 50 a second is published.
            None => overall.window.take(now_us, rate).map_err(|standing| (standing.left_us, true)),
        };
        let Err((wait_us, foreseeable)) = wait else { return Ok(()) };
        self.misuse.into_global += u64::from(foreseeable);
        case.entry.refused(Scope::Global, wait_us, foreseeable);
        Err(refusal::global(wait_us))
    }

    fn admit_bucket(&mut self, case: &mut Case<'_>, rule: &Rule) -> Result<Vec<(&'static str, String)>, Answer> {
        let (now_us, unix_us) = (case.now_us, self.unix_us(case.now_us));
        let bucket = self.buckets.entry(&Self::bucket_key(case, rule), Bucket::default);
        case.entry.bucket = Some(rule.hash.clone());
        if let Some(cooldown) = bucket.cooldown.filter(|cooldown| cooldown.holds(now_us)) {
            let wait_us = cooldown.until_us - now_us;
            case.entry.refused(cooldown.scope, wait_us, cooldown.known_us <= now_us);
            let standing = cooldown.shown(now_us, bucket.window.look(now_us, rule.rate));
            return Err(refusal::limited(cooldown.scope, wait_us, refusal::rate_headers(rule, standing, unix_us)));
        }
        let known = bucket.known_us.is_some_and(|known_us| known_us <= now_us);
        bucket.known_us = Some(bucket.known_us.map_or(case.told_us, |known_us| known_us.min(case.told_us)));
        match bucket.window.take(now_us, rule.rate) {
            Ok(standing) => {
                case.entry.remaining = Some(standing.remaining);
                Ok(refusal::rate_headers(rule, standing, unix_us))
            }
            Err(standing) => {
                case.entry.remaining = Some(0);
                case.entry.refused(Scope::User, standing.left_us, known);
                let headers = refusal::rate_headers(rule, standing, unix_us);
                Err(refusal::limited(Scope::User, standing.left_us, headers))
            }
        }
    }

    fn admit_hidden(&mut self, case: &mut Case<'_>, headers: &[(&'static str, String)]) -> Result<(), Answer> {
        let Some(hidden) = self.hidden(case) else { return Ok(()) };
        let now_us = case.now_us;
        let (scope, rate) = hidden.rate(&self.settings.limits);
        let window = self.hidden.entry(&hidden, HiddenWindow::default);
        if window.window.look(now_us, rate).remaining > 0 {
            // The refusals that were told belonged to a window that is over.
            window.known_us = None;
        }
        let wait = match window.cooldown.filter(|cooldown| cooldown.holds(now_us)) {
            Some(cooldown) => Err((cooldown.until_us - now_us, cooldown.known_us <= now_us)),
            None => window.window.take(now_us, rate).map_err(|standing| {
                let known = window.known_us.is_some_and(|known_us| known_us <= now_us);
                window.known_us = Some(window.known_us.map_or(case.told_us, |known_us| known_us.min(case.told_us)));
                (standing.left_us, known)
            }),
        };
        let Err((wait_us, foreseeable)) = wait else { return Ok(()) };
        case.entry.refused(scope, wait_us, foreseeable);
        Err(refusal::limited(scope, wait_us, headers.to_vec()))
    }

    /// Begins what a forced 429 tells, so that coming back early is refused again.
    pub(crate) fn force_limit(&mut self, case: &mut Case<'_>, scope: Scope, wait_us: u64) -> Answer {
        let now_us = case.now_us;
        let cooldown = Cooldown { scope, until_us: now_us.saturating_add(wait_us), known_us: case.told_us };
        case.entry.refused(scope, wait_us, false);
        if scope == Scope::Global {
            self.callers.entry(&case.caller.owner(case.call.from), Overall::default).cooldown = Some(cooldown);
            return refusal::global(wait_us);
        }
        let rule = Rule::of(&case.route, self.age(case), &self.settings.limits);
        let (key, unix_us) = (Self::bucket_key(case, &rule), self.unix_us(now_us));
        case.entry.bucket = Some(rule.hash.clone());
        let hidden = self.hidden(case).filter(|_| scope == Scope::Shared);
        let bucket = self.buckets.entry(&key, Bucket::default);
        let standing = cooldown.shown(now_us, bucket.window.look(now_us, rule.rate));
        match hidden {
            Some(hidden) => self.hidden.entry(&hidden, HiddenWindow::default).cooldown = Some(cooldown),
            None => bucket.cooldown = Some(cooldown),
        }
        refusal::limited(scope, wait_us, refusal::rate_headers(&rule, standing, unix_us))
    }

    /// A forced block; with a time told it is a ban in force.
    pub(crate) fn force_block(&mut self, case: &mut Case<'_>, wait_us: Option<u64>) {
        case.entry.refused(Scope::Ban, wait_us.unwrap_or(0), false);
        if let Some(wait_us) = wait_us {
            let address = self.addresses.entry(&case.call.from, Default::default);
            address.begin_ban(case.now_us, wait_us.min(micros(std::time::Duration::from_secs(86_400))), case.told_us);
        }
    }
}
