//! From a table's file to what the engine reads: names become places, words become values.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::quantity::{parse_rate, parse_span};
use super::raw::{RawBucket, RawCell, RawPolicy, RawSurface};
use super::{
    Applies, BucketDef, BucketId, BucketScope, Cell, DropAnswer, Dry, Escalate, InCooldown, Marks, MaxHold, PastHold,
    Pattern, Platform, Policy, RefusedCools, Row, RowId, Shape, With,
};
use crate::class::Class;
use crate::key::MethodKey;
use crate::time::Span;

/// Rows and buckets are told apart by bits of a word in the engine.
const MOST_ROWS: usize = 32;
const MOST_BUCKETS: usize = 32;

/// What a row may ask of a call besides its method.
const WITH: [(&str, With); 3] =
    [("chat_id", With::Chat), ("rich_message", With::Rich), ("allow_paid_broadcast", With::Paid)];

type Compiled<T> = Result<T, String>;

pub(super) fn policy(name: &str, raw: &RawPolicy) -> Compiled<Policy> {
    let mut policy = Policy {
        name: name.into(),
        platform: word("platform", &raw.platform, &[("telegram", Platform::Telegram), ("discord", Platform::Discord)])?,
        enabled: raw.enabled,
        margin: parse_span(&raw.margin)?,
        default_retry: span_or(raw.default_retry.as_deref(), Span::from_secs(5))?,
        inline_wait: raw.inline_wait.as_deref().map(parse_span).transpose()?,
        escalate: raw
            .escalate
            .as_ref()
            .map(|raw| {
                let (within, at_most) = (parse_span(&raw.within)?, parse_span(&raw.at_most)?);
                Ok::<_, String>(Escalate { peers: raw.peers.clamp(2, 16), within, at_most })
            })
            .transpose()?,
        settle: span_or(raw.settle.as_deref(), Span::from_millis(600))?,
        settle_reserve: raw.settle_reserve.unwrap_or(3),
        spread_burst: raw.spread_burst.unwrap_or(3),
        final_guard: span_or(raw.final_guard.as_deref(), Span::from_secs(2))?,
        summary: raw.summary.as_deref().map(parse_span).transpose()?,
        lines_apart: word("lines", raw.lines.as_deref().unwrap_or("joined"), &[("joined", false), ("apart", true)])?,
        deletes: raw.deletes.iter().map(|method| MethodKey::of(method)).collect(),
        edits: raw.edits.iter().map(|method| MethodKey::of(method)).collect(),
        buckets: Vec::new(),
        rows: Vec::new(),
    };
    for (name, raw) in &raw.buckets {
        policy.buckets.push(bucket(name, raw).map_err(|error| format!("buckets.{name}: {error}"))?);
    }
    for raw in &raw.surface {
        let row = row(&policy, raw).map_err(|error| format!("surface.{}: {error}", raw.name))?;
        if policy.rows.iter().any(|other| other.name == row.name) {
            return Err(format!("surface.{}: two rows have this name", raw.name));
        }
        policy.rows.push(row);
    }
    for (at, raw) in raw.surface.iter().enumerate() {
        let find = |name: &String| {
            let found = policy.rows.iter().position(|row| *row.name == **name);
            found
                .map(|found| RowId(narrow(found)))
                .ok_or_else(|| format!("surface.{}: there is no row \"{name}\"", raw.name))
        };
        let then = raw.then.as_ref().map(find).transpose()?;
        let killed_by = raw.killed_by.iter().map(find).collect::<Compiled<_>>()?;
        policy.rows[at].then = then;
        policy.rows[at].killed_by = killed_by;
    }
    if let Some(row) = policy.rows.iter().find(|row| row.then.is_some_and(|then| policy.row(then).then.is_some())) {
        return Err(format!("surface.{}.then: a row goes on to one that goes on to none", row.name));
    }
    match raw.families.as_deref() {
        None | Some("shared") => {}
        Some("split") => split_families(&mut policy),
        Some(other) => return Err(format!("families: \"{other}\" is neither \"shared\" nor \"split\"")),
    }
    if policy.rows.is_empty() || policy.rows.len() > MOST_ROWS || policy.buckets.len() > MOST_BUCKETS {
        return Err(format!("a table has 1 to {MOST_ROWS} rows and at most {MOST_BUCKETS} buckets"));
    }
    Ok(policy)
}

/// Edits get buckets of their own beside those that they would share with sends.
fn split_families(policy: &mut Policy) {
    let shared: Vec<usize> = (0..policy.rows.len()).filter(|&at| policy.rows[at].merges()).collect();
    for at in shared {
        let row = policy.rows[at].clone();
        for id in row.buckets.iter().copied() {
            if policy.bucket(id).scope != BucketScope::Peer {
                continue;
            }
            let mut own = policy.bucket(id).clone();
            own.name = format!("{}_{}", row.name, own.name).into();
            let own_id = BucketId(narrow(policy.buckets.len()));
            policy.buckets.push(own);
            let row = &mut policy.rows[at];
            row.buckets.iter_mut().filter(|other| **other == id).for_each(|other| *other = own_id);
            if row.spread == Some(id) {
                row.spread = Some(own_id);
            }
        }
    }
}

fn bucket(name: &str, raw: &RawBucket) -> Compiled<BucketDef> {
    let shape = match (&raw.bucket, &raw.window, &raw.spacing) {
        (None, None, None) if raw.learned => Shape::Learned,
        (Some(rate), None, None) => {
            let (units, period) = parse_rate(rate)?;
            Shape::Token { units, period, burst: raw.burst.unwrap_or(units).clamp(1, 10_000) }
        }
        (None, Some(rate), None) => {
            let (units, period) = parse_rate(rate)?;
            Shape::Window { units, period, reserve: raw.reserve.unwrap_or(0).min(10_000) }
        }
        (None, None, Some(period)) => Shape::Spacing { period: parse_span(period)? },
        _ => return Err("a bucket has exactly one of bucket, window, spacing and learned".to_owned()),
    };
    let scopes = [
        ("bot", BucketScope::Bot),
        ("peer", BucketScope::Peer),
        ("thread", BucketScope::Thread),
        ("peer + thread", BucketScope::Thread),
        ("message", BucketScope::Message),
        ("method", BucketScope::Method),
        ("route", BucketScope::Route),
    ];
    if (raw.scope == "route") != (shape == Shape::Learned) {
        return Err("scope \"route\" and learned go together".to_owned());
    }
    Ok(BucketDef {
        name: name.into(),
        scope: word("scope", &raw.scope, &scopes)?,
        shape,
        applies: raw.applies.as_deref().map_or(Ok(Applies::All), applies)?,
        by_items: word("weigh", raw.weigh.as_deref().unwrap_or("items"), &[("items", true), ("call", false)])?,
        pass_after: raw.pass_after.as_deref().map(parse_span).transpose()?,
        pass_spacing: span_or(raw.pass_spacing.as_deref(), Span::ZERO)?,
    })
}

fn applies(text: &str) -> Compiled<Applies> {
    let words = [
        ("all", Applies::All),
        ("private", Applies::Private),
        ("group", Applies::Group),
        ("forum", Applies::Forum),
        ("authorized", Applies::Authorized),
    ];
    word("applies", text, &words)
}

fn row(policy: &Policy, raw: &RawSurface) -> Compiled<Row> {
    let find = |name: &String| {
        let at = policy.buckets.iter().position(|bucket| *bucket.name == **name);
        at.map(|at| BucketId(narrow(at))).ok_or_else(|| format!("there is no bucket \"{name}\""))
    };
    let default_class = Class::parse(&raw.default_class)
        .ok_or_else(|| format!("default_class: \"{}\" is no class", raw.default_class))?;
    Ok(Row {
        name: raw.name.as_str().into(),
        gate: raw.gate.as_deref().unwrap_or(&raw.name).into(),
        methods: patterns(&raw.methods)?,
        with: raw.with.as_deref().map(|w| word("with", w, &WITH)).transpose()?,
        buckets: raw.buckets.iter().map(find).collect::<Compiled<_>>()?,
        spread: raw.spread.as_ref().map(find).transpose()?,
        applies: raw.applies.as_deref().map(applies).transpose()?,
        unmarked: raw.unmarked.as_ref().map(find).transpose()?,
        ordered: raw.ordered,
        partial: raw.partial,
        killed_by: Vec::new(),
        auto_hold: span_or(raw.auto_hold.as_deref(), Span::from_secs(30))?,
        weight_items: raw.weight.as_deref().map_or(Ok(false), |w| word("weight", w, &[("items", true)]))?,
        marks_forum: word(
            "marks_forum",
            raw.marks_forum.as_deref().unwrap_or("never"),
            &[("never", Marks::Never), ("thread", Marks::Thread)],
        )?,
        cooldown_first: raw.cooldown_first,
        uncounted: raw.uncounted,
        then: None,
        refused: word(
            "refused",
            raw.refused.as_deref().unwrap_or("peer"),
            &[("peer", RefusedCools::Peer), ("peer + method", RefusedCools::PeerMethod)],
        )?,
        default_class,
        cells: cells(raw)?,
    })
}

/// `any` is the ground, `chrome` lies on it, a class's own cell on top.
fn cells(raw: &RawSurface) -> Compiled<[Cell; 7]> {
    if let Some(unknown) = raw.class.keys().find(|name| Class::parse(name).is_none()) {
        return Err(format!("class: \"{unknown}\" is no class"));
    }
    let mut cells = Vec::with_capacity(7);
    for class in Class::ALL {
        let mut layers: Vec<&RawCell> = Vec::from([&raw.any]);
        if class.is_chrome() {
            layers.extend(raw.class.get("chrome"));
        }
        layers.extend(raw.class.get(class.name()));
        cells.push(cell(&layers).map_err(|error| format!("class.{}: {error}", class.name()))?);
    }
    <[Cell; 7]>::try_from(cells).map_err(|_| "seven classes".to_owned())
}

fn cell(layers: &[&RawCell]) -> Compiled<Cell> {
    let top = |get: fn(&RawCell) -> Option<&String>| layers.iter().rev().find_map(|raw| get(raw)).map(String::as_str);
    let dry_words = [("hold", Dry::Hold), ("merge", Dry::Merge), ("drop", Dry::Drop), ("pass", Dry::Pass)];
    let dry = word("dry", top(|raw| raw.dry.as_ref()).unwrap_or("hold"), &dry_words)?;
    let in_cooldown = top(|raw| raw.cooldown.as_ref()).unwrap_or(if dry == Dry::Drop { "drop" } else { "hold" });
    let past_words = [("refuse", PastHold::Refuse), ("admit", PastHold::Admit), ("drop", PastHold::Drop)];
    let cooldown_words = [
        ("hold", InCooldown::Hold),
        ("merge", InCooldown::Merge),
        ("drop", InCooldown::Drop),
        ("pass", InCooldown::Pass),
    ];
    let answers = [
        ("ok", DropAnswer::True),
        ("true", DropAnswer::True),
        ("message", DropAnswer::Message),
        ("204", DropAnswer::NoContent),
    ];
    let attempts = layers.iter().rev().find_map(|raw| raw.attempts);
    Ok(Cell {
        dry,
        pass_limit: top(|raw| raw.pass_limit.as_ref()).map(parse_rate).transpose()?,
        max_hold: match top(|raw| raw.max_hold.as_ref()).unwrap_or("auto") {
            "auto" => MaxHold::Auto,
            "none" => MaxHold::Unlimited,
            span => MaxHold::For(parse_span(span)?),
        },
        past_hold: word("past_hold", top(|raw| raw.past_hold.as_ref()).unwrap_or("refuse"), &past_words)?,
        cooldown: word("cooldown", in_cooldown, &cooldown_words)?,
        spacing: top(|raw| raw.spacing.as_ref()).map(parse_span).transpose()?,
        answer: word("answer", top(|raw| raw.answer.as_ref()).unwrap_or("true"), &answers)?,
        attempts: attempts.unwrap_or(if dry == Dry::Merge { 8 } else { 1 }).clamp(1, 100),
    })
}

fn patterns(texts: &[String]) -> Compiled<Vec<Pattern>> {
    let parse = |text: &String| Pattern::parse(text).ok_or_else(|| format!("\"{text}\": a pattern has at most one *"));
    texts.iter().map(parse).collect()
}

fn span_or(text: Option<&str>, default: Span) -> Compiled<Span> {
    text.map_or(Ok(default), parse_span)
}

fn word<T: Copy>(key: &str, text: &str, words: &[(&str, T)]) -> Compiled<T> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let known: Box<str> = known.join(", ").into();
        format!("{key}: \"{text}\" is none of {known}")
    })
}

fn narrow(at: usize) -> u8 {
    u8::try_from(at).unwrap_or(u8::MAX)
}
