//! The table as people review it: one line for each surface and class, equal classes on one line.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::quantity::{show_rate, show_span};
use super::{
    Applies, BucketDef, BucketId, Cell, Dry, InCooldown, Marks, MaxHold, PastHold, Pattern, Policy, Row, Shape, With,
};
use crate::class::Class;
use crate::counted::Counted;

/// The columns, in order.
pub const COLUMNS: [&str; 13] = [
    "Gate",
    "Surface",
    "Class",
    "Methods",
    "Applies",
    "Buckets",
    "Floor (spread, spacing, exempt)",
    "When dry",
    "Max hold",
    "Past hold (fails open?)",
    "In cooldown",
    "Marks forum",
    "Counters",
];

/// One line: a cell of text for each of [`COLUMNS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixLine(pub [String; 13]);

pub(super) fn lines(policy: &Policy) -> Vec<MatrixLine> {
    let mut lines = Vec::new();
    for row in &policy.rows {
        let mut classes: Vec<(&Cell, Vec<Class>)> = Vec::new();
        for class in Class::ALL {
            let cell = row.cell(class);
            match classes.iter_mut().find(|(other, _)| *other == cell) {
                Some((_, same)) => same.push(class),
                None => classes.push((cell, Vec::from([class]))),
            }
        }
        let one = classes.len() == 1;
        for (cell, same) in &classes {
            let names: Vec<String> = same.iter().map(|class| class_name(row, *class)).collect();
            let class = if one { format!("any ({} unless named)", row.default_class.name()) } else { names.join(", ") };
            lines.push(MatrixLine(line(policy, row, cell, class)));
        }
    }
    lines
}

fn class_name(row: &Row, class: Class) -> String {
    if class == row.default_class { format!("{} (default)", class.name()) } else { class.name().to_owned() }
}

fn line(policy: &Policy, row: &Row, cell: &Cell, class: String) -> [String; 13] {
    let free = row.is_free() && row.applies.is_none();
    let dash = || "–".to_owned();
    [
        format!("{}/{}", policy.name, row.gate),
        row.name.to_string(),
        class,
        methods(row),
        row.applies.map_or_else(|| "all".to_owned(), |applies| applied(applies).to_owned()),
        if row.buckets.is_empty() { "none".to_owned() } else { buckets(policy, row) },
        floor(policy, row, cell),
        if free { "never dry".to_owned() } else { dry(cell) },
        if free || matches!(cell.dry, Dry::Drop) { dash() } else { max_hold(cell) },
        if free || matches!(cell.dry, Dry::Drop) { dash() } else { past_hold(cell) },
        in_cooldown(row, cell, free),
        match row.marks_forum {
            Marks::Never => "never".to_owned(),
            Marks::Thread => "iff it has a thread".to_owned(),
        },
        if row.uncounted { "none".to_owned() } else { counters(row) },
    ]
}

fn methods(row: &Row) -> String {
    let names: Vec<String> = row.methods.iter().map(Pattern::to_string).collect();
    let with = match row.with {
        None => "",
        Some(With::Chat) => " with a chat_id",
        Some(With::Rich) => " with a rich_message",
        Some(With::Paid) => " with allow_paid_broadcast true",
    };
    format!("{}{with}", names.join(", "))
}

fn applied(applies: Applies) -> &'static str {
    match applies {
        Applies::All => "all",
        Applies::Private => "private",
        Applies::Group => "group",
        Applies::Forum => "forum",
        Applies::Authorized => "authorized",
    }
}

fn buckets(policy: &Policy, row: &Row) -> String {
    let mut shown: Vec<String> = row.buckets.iter().map(|id| bucket(policy, row, *id)).collect();
    if let Some(then) = row.then {
        let next = policy.row(then);
        shown.push(format!("then as {}", next.name));
    }
    if let Some(unmarked) = row.unmarked {
        shown.push(format!("other groups: {} alone", policy.bucket(unmarked).name));
    }
    shown.join(" AND ")
}

fn bucket(policy: &Policy, row: &Row, id: BucketId) -> String {
    let BucketDef { name, shape, applies, by_items, pass_after, .. } = policy.bucket(id);
    let shape = match shape {
        Shape::Token { units, period, burst } => format!("burst {burst}, {}", show_rate(*units, *period)),
        Shape::Window { units, period, reserve: 0 } => format!("window {}", show_rate(*units, *period)),
        Shape::Window { units, period, reserve } => {
            format!("window {}, reserve {reserve} for interactive", show_rate(*units, *period))
        }
        Shape::Learned => "as the platform's answers tell".to_owned(),
        Shape::Spacing { period } => format!("spacing {}", show_span(*period)),
    };
    let whom = if *applies == Applies::All { String::new() } else { format!(", {} only", applied(*applies)) };
    let weight = if row.weight_items && *by_items { ", by items" } else { "" };
    let pass = pass_after.map_or_else(String::new, |after| format!(", passes after {}", show_span(after)));
    format!("{name} ({shape}{whom}{weight}{pass})")
}

fn floor(policy: &Policy, row: &Row, cell: &Cell) -> String {
    match (row.spread, cell.spacing) {
        (_, Some(spacing)) => format!("spacing {}", show_span(spacing)),
        (Some(window), None) => {
            format!("spread over {} ({} kept for settled edits)", policy.bucket(window).name, policy.settle_reserve)
        }
        (None, None) => "exempt".to_owned(),
    }
}

fn dry(cell: &Cell) -> String {
    match (cell.dry, cell.pass_limit) {
        (Dry::Hold, _) => "hold".to_owned(),
        (Dry::Merge, _) => format!("merge, latest wins; {} attempts", cell.attempts),
        (Dry::Drop, _) => "drop".to_owned(),
        (Dry::Pass, None) => "pass".to_owned(),
        (Dry::Pass, Some((limit, period))) => format!("pass, {} a peer, then hold", show_rate(limit, period)),
    }
}

fn max_hold(cell: &Cell) -> String {
    match cell.max_hold {
        MaxHold::Auto => "auto".to_owned(),
        MaxHold::For(span) => show_span(span),
        MaxHold::Unlimited => "none".to_owned(),
    }
}

fn past_hold(cell: &Cell) -> String {
    match (cell.max_hold, cell.past_hold) {
        (MaxHold::Unlimited, _) => "never (no)".to_owned(),
        (_, PastHold::Refuse) => "refuse (no)".to_owned(),
        (_, PastHold::Admit) => "admit, charged nothing (yes)".to_owned(),
        (_, PastHold::Drop) => "drop (no)".to_owned(),
    }
}

fn in_cooldown(row: &Row, cell: &Cell, free: bool) -> String {
    if row.uncounted {
        return "pass".to_owned();
    }
    if free {
        return "its own method's: refuse".to_owned();
    }
    let word = match cell.cooldown {
        InCooldown::Hold => "hold",
        InCooldown::Merge => "merge",
        InCooldown::Drop => "drop",
        InCooldown::Pass => "pass",
    };
    if row.cooldown_first { format!("{word}, before all else") } else { word.to_owned() }
}

fn counters(row: &Row) -> String {
    if row.is_free() && row.applies.is_none() {
        return "accepted, refused".to_owned();
    }
    let names: Vec<&str> = Counted::ALL.iter().map(|counted| counted.name()).collect();
    names.join(", ")
}

pub(super) fn markdown(policy: &Policy) -> String {
    let mut text = format!("| {} |\n|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
    for MatrixLine(cells) in lines(policy) {
        text.push_str("| ");
        text.push_str(&cells.join(" | "));
        text.push_str(" |\n");
    }
    text
}
