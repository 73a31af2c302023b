//! Policies: what a platform's budgets are and what each kind of write does when they are dry. Tables, not code.
//!
//! A table has *buckets* (limits) and *surfaces* (kinds of write). Each surface is a [`Row`] that names the buckets it takes
//! from; for each [`Class`] a [`Cell`] says what happens when they are dry. The first row whose methods match is a call's.
//!
//! ```
//! use tidegate_core::governor::Class;
//! use tidegate_core::policy::{Call, Dry, Policy};
//!
//! let policy = Policy::load("telegram", &[])?;
//! let edit = policy.row_of(&Call { method: "editMessageText", has_chat: true, rich: false, paid: false });
//! let row = policy.row(edit);
//! assert_eq!(&*row.name, "edit");
//! assert_eq!(row.cell(Class::Final).dry, Dry::Merge);
//! assert_eq!(row.cell(Class::Preview).dry, Dry::Drop);
//! // The whole table, as `docs/reference.md` has it:
//! assert!(policy.markdown().starts_with("| "));
//! # Ok::<(), tidegate_core::policy::PolicyError>(())
//! ```
//!
//! The numbers stand in `policies/*.toml` of this crate, each beside its source. Spans are microseconds here, text with a
//! unit in the tables.
//!
//! The structures of this module are read, not built: a table comes from [`Policy::load`]. They gain fields as tables gain
//! cells, so they are `#[non_exhaustive]`. The enums are not: whoever acts on a cell must know every word that it can say.

mod compile;
mod matrix;
mod nearest;
mod pattern;
mod quantity;
mod raw;
mod tree;
mod value;

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

pub use self::nearest::nearest;
pub use self::pattern::Pattern;
pub use self::quantity::parse_span;
pub use self::tree::PolicyError;
pub use self::value::Value;
use crate::governor::Class;
use crate::key::{MethodKey, PeerKind};
use crate::time::Span;

/// A row of a policy, by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u8);

/// A bucket of a policy, by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BucketId(pub u8);

/// A platform's table: buckets, and rows that take from them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// The table's name.
    pub name: Box<str>,
    /// The platform that it is for: `telegram` or `discord`.
    pub platform: Platform,
    /// A policy that is not enabled lets everything through.
    pub enabled: bool,
    /// Added to a platform's `retry_after`.
    pub margin: Span,
    /// Taken for a refusal that names no time.
    pub default_retry: Span,
    /// A cooldown that lasts longer than this is answered at once, whatever the hold limit.
    pub inline_wait: Option<Span>,
    /// Refusals of different peers that cool the whole bot.
    pub escalate: Option<Escalate>,
    /// An edit that superseded another this shortly before, and is quiet for as long, is settled.
    pub settle: Span,
    /// Units of a spread window kept for settled edits.
    pub settle_reserve: u32,
    /// Previews of a window that need not be spread.
    pub spread_burst: u32,
    /// Chrome for a message is dropped this long after its named final was delivered.
    pub final_guard: Span,
    /// How often each active peer's counters are summed up in a note.
    pub summary: Option<Span>,
    /// Held writes of an ordered row keep back none of another: each row has a line of its own.
    pub lines_apart: bool,
    /// Methods that delete the message they name.
    pub deletes: Vec<MethodKey>,
    /// Methods of rows that do not merge which change the message they name: they keep their order with its edits.
    pub edits: Vec<MethodKey>,
    /// The buckets.
    pub buckets: Vec<BucketDef>,
    /// The rows, in the order in which they are tried.
    pub rows: Vec<Row>,
}

/// Whose table it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Telegram's Bot API.
    Telegram,
    /// Discord's REST API.
    Discord,
}

/// So many peers refused within so long cool the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Escalate {
    /// How many different peers.
    pub peers: usize,
    /// Within how long.
    pub within: Span,
    /// The bot cools no longer than this.
    pub at_most: Span,
}

/// One limit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BucketDef {
    /// Its name.
    pub name: Box<str>,
    /// What has one of its own.
    pub scope: BucketScope,
    /// Its shape.
    pub shape: Shape,
    /// Which peers' writes take from it.
    pub applies: Applies,
    /// Whether a write takes as many units as it makes messages.
    pub by_items: bool,
    /// A write that waited for this bot bucket alone for longer passes, one each [`Self::pass_spacing`].
    pub pass_after: Option<Span>,
    /// The least time between two such passes.
    pub pass_spacing: Span,
}

/// What has a bucket of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketScope {
    /// The bot.
    Bot,
    /// Each peer.
    Peer,
    /// Each topic of a peer.
    Thread,
    /// Each message of a peer.
    Message,
    /// Each method.
    Method,
    /// Each route of a peer: method and major parameter together.
    Route,
}

/// How a bucket counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A burst, refilled at a rate of `units` per `period`.
    Token {
        /// Units that come back in a period.
        units: u32,
        /// The period.
        period: Span,
        /// The most that it holds.
        burst: u32,
    },
    /// Never more than `units` in any rolling `period`.
    Window {
        /// The limit.
        units: u32,
        /// The period.
        period: Span,
        /// So many on top that only interactive writes may use.
        reserve: u32,
    },
    /// At least this long since the last.
    Spacing {
        /// How long.
        period: Span,
    },
    /// As the platform's answers tell.
    Learned,
}

/// Which peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// Every chat.
    All,
    /// Chats with one user.
    Private,
    /// Groups and channels.
    Group,
    /// Groups known to have topics.
    Forum,
    /// All that the bot's own token does: not webhooks and interactions, which carry one in their path.
    Authorized,
}

impl Applies {
    /// Whether a peer of this kind is meant; `forum` says whether it is known to have topics.
    pub fn to(self, kind: PeerKind, forum: bool) -> bool {
        match self {
            Self::All => kind != PeerKind::Loose,
            Self::Private => kind == PeerKind::Private,
            Self::Group => kind == PeerKind::Group,
            Self::Forum => kind == PeerKind::Group && forum,
            Self::Authorized => kind != PeerKind::Group,
        }
    }
}

/// One kind of write.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the table")]
#[non_exhaustive]
pub struct Row {
    /// The surface's name.
    pub name: Box<str>,
    /// The gate that it belongs to, where the table names one; else the surface.
    pub gate: Box<str>,
    /// Which methods.
    pub methods: Vec<Pattern>,
    /// What a call must have (or lack) besides.
    pub with: Option<With>,
    /// The buckets it takes from, all or none.
    pub buckets: Vec<BucketId>,
    /// The window that its previews are spread over.
    pub spread: Option<BucketId>,
    /// Which peers it paces. Others' writes go at once.
    pub applies: Option<Applies>,
    /// The bucket that groups which the row does not pace take alone.
    pub unmarked: Option<BucketId>,
    /// At most one of a peer in flight, so that no two overtake each other.
    pub ordered: bool,
    /// An edit changes only what it names.
    pub partial: bool,
    /// A write of one of these rows to the same peer drops what is held.
    pub killed_by: Vec<RowId>,
    /// Its writes weigh as many as the messages they make.
    pub weight_items: bool,
    /// When its writes mark their peer as one with topics.
    pub marks_forum: Marks,
    /// The bot's cooldown is looked at before anything else.
    pub cooldown_first: bool,
    /// Never held, refused or counted.
    pub uncounted: bool,
    /// After taking, the write goes on to wait in this row's line.
    pub then: Option<RowId>,
    /// What a refusal of its writes cools, where they have a peer.
    pub refused: RefusedCools,
    /// What `max_hold = "auto"` means where the client's own patience is not known.
    pub auto_hold: Span,
    /// The class of a write that names none.
    pub default_class: Class,
    /// What each class does, by [`Class`] order.
    pub cells: [Cell; 7],
}

/// When a write marks its peer as one with topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Never.
    Never,
    /// When it names a topic.
    Thread,
}

/// What a refusal cools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedCools {
    /// The peer.
    Peer,
    /// This method to this peer.
    PeerMethod,
}

/// What a call must have for a row to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// A chat.
    Chat,
    /// A rich message.
    Rich,
    /// Leave to be charged for: `allow_paid_broadcast` is there and true.
    Paid,
}

/// What one class of one surface does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// When a bucket is dry.
    pub dry: Dry,
    /// So many may pass per peer; then the write is held. Only with [`Dry::Pass`].
    pub pass_limit: Option<(u32, Span)>,
    /// How long it may be held.
    pub max_hold: MaxHold,
    /// What happens beyond that.
    pub past_hold: PastHold,
    /// While something cools.
    pub cooldown: InCooldown,
    /// At least this long since the last of this surface and class of the peer; sooner is dropped.
    pub spacing: Option<Span>,
    /// How a dropped one is answered.
    pub answer: DropAnswer,
    /// Tries in all after transient failures.
    pub attempts: u32,
}

/// What a write does when a bucket is dry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dry {
    /// It waits.
    Hold,
    /// It waits, the latest of a message wins.
    Merge,
    /// It is dropped.
    Drop,
    /// It goes without a token.
    Pass,
}

/// How long a write may be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxHold {
    /// As long as its client can wait.
    Auto,
    /// This long.
    For(Span),
    /// Without end.
    Unlimited,
}

/// What happens to a write beyond its hold limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastHold {
    /// It is refused and told when to come back.
    Refuse,
    /// It goes without a token.
    Admit,
    /// It is dropped.
    Drop,
}

/// What a write does while something cools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InCooldown {
    /// It waits.
    Hold,
    /// It waits, the latest of a message wins.
    Merge,
    /// It is dropped.
    Drop,
    /// It goes all the same.
    Pass,
}

/// How the client of a dropped write is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropAnswer {
    /// `{"ok":true,"result":true}`.
    True,
    /// A message object made from the request or the last delivered one.
    Message,
    /// 204 without a body.
    NoContent,
}

/// What decides a call's row.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The method's name, in any case (Telegram), or verb and path (Discord).
    pub method: &'a str,
    /// Whether it names a chat (or an inline message).
    pub has_chat: bool,
    /// Whether it carries a rich message.
    pub rich: bool,
    /// Whether it is a paid broadcast: it allows to be charged for going faster.
    pub paid: bool,
}

impl Policy {
    /// The names of the tables that are compiled in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        tree::BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A table that is compiled in, with some of its cells changed: each a path (`surface.edit.class.final.max_hold`) or
    /// the name of a knob, and its value. Later changes win.
    ///
    /// ```
    /// use tidegate_core::Span;
    /// use tidegate_core::policy::{Policy, Shape};
    ///
    /// let changes = [("buckets.group_minute.window".to_owned(), "16/60s".into())];
    /// let policy = Policy::load("telegram", &changes)?;
    /// let group = policy.buckets.iter().find(|bucket| &*bucket.name == "group_minute").expect("a bucket of Telegram");
    /// assert_eq!(group.shape, Shape::Window { units: 16, period: Span::from_secs(60), reserve: 2 });
    ///
    /// let misspelt = [("surface.edits.ordered".to_owned(), true.into())];
    /// let error = Policy::load("telegram", &misspelt).expect_err("there is no such surface");
    /// assert_eq!(error.path, "surface.edits.ordered");
    /// # Ok::<(), tidegate_core::policy::PolicyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is no table of that name (the error lists those there are), no surface, class, bucket or key of that name (the
    /// error names the nearest), or the value is out of its range: units of a rate 1 to 10,000, its period over 0 and at
    /// most 24 h.
    pub fn load(name: &str, changes: &[(String, Value)]) -> Result<Self, PolicyError> {
        let changes: Vec<_> = changes.iter().map(|(path, value)| (path.clone(), value.to_toml())).collect();
        tree::load(name, &changes)
    }

    /// What a knob's value is raised to because it is under the knob's least; `None` where it is taken as it is.
    /// The least is shown as the table writes it.
    pub fn raised(name: &str, path: &str, value: &Value) -> Option<String> {
        tree::raised(name, path, &value.to_toml()).map(|least| alloc::format!("{least}"))
    }

    /// The first row that matches.
    pub fn row_of(&self, call: &Call<'_>) -> RowId {
        let at = self.rows.iter().position(|row| row.matches(call));
        RowId(u8::try_from(at.unwrap_or(self.rows.len() - 1)).unwrap_or(u8::MAX))
    }

    /// That row.
    pub fn row(&self, id: RowId) -> &Row {
        &self.rows[usize::from(id.0).min(self.rows.len() - 1)]
    }

    /// Whether a call of this row and method changes the message that it names.
    pub fn edits_message(&self, row: RowId, method: MethodKey) -> bool {
        self.row(row).merges() || self.edits.contains(&method)
    }

    /// That bucket.
    pub fn bucket(&self, id: BucketId) -> &BucketDef {
        &self.buckets[usize::from(id.0)]
    }

    /// One line for each surface and class: the reviewable form of the table.
    pub fn matrix(&self) -> Vec<MatrixLine> {
        matrix::lines(self)
    }

    /// The matrix as a markdown table.
    pub fn markdown(&self) -> String {
        matrix::markdown(self)
    }
}

pub use self::matrix::{COLUMNS, MatrixLine};

impl Row {
    /// What this class does.
    pub fn cell(&self, class: Class) -> &Cell {
        &self.cells[class as usize]
    }

    /// A row without buckets: its calls go at once.
    pub fn is_free(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Whether a newer write of a message can take an older one's place.
    pub fn merges(&self) -> bool {
        self.partial || self.cells.iter().any(|cell| cell.dry == Dry::Merge)
    }

    /// Whether a held write keeps back only those of its own route, not all of its surface.
    pub fn by_route(&self, policy: &Policy) -> bool {
        !self.ordered && self.buckets.iter().any(|id| policy.bucket(*id).scope == BucketScope::Route)
    }

    fn matches(&self, call: &Call<'_>) -> bool {
        let has = match self.with {
            None => true,
            Some(With::Chat) => call.has_chat,
            Some(With::Rich) => call.rich,
            Some(With::Paid) => call.paid,
        };
        has && self.methods.iter().any(|pattern| pattern.matches(call.method))
    }
}
