//! Finding a table, inheriting from another, and changing single cells by path.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use toml::{Table, Value};

use super::{Policy, compile, nearest, quantity, raw::RawPolicy};
use crate::class::Class;
use crate::time::Span;

/// The tables that are compiled in.
pub(super) const BUILTIN: [(&str, &str); 4] = [
    ("telegram", include_str!("../../policies/telegram.toml")),
    ("discord", include_str!("../../policies/discord.toml")),
    ("discord-agent", include_str!("../../policies/discord-agent.toml")),
    ("telegram-forum", include_str!("../../policies/telegram-forum.toml")),
];

/// Why there is no such policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyError {
    /// The path of the cell, empty where it is the whole table.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

impl PolicyError {
    fn new(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.reason) } else { write!(f, "{}: {}", self.path, self.reason) }
    }
}

impl core::error::Error for PolicyError {}

pub(super) fn load(name: &str, changes: &[(String, Value)]) -> Result<Policy, PolicyError> {
    let mut tree = builtin(name)?;
    let knobs = match tree.remove("knobs") {
        Some(Value::Table(knobs)) => knobs,
        _ => Table::new(),
    };
    known_buckets(&tree, changes)?;
    for (path, value) in changes {
        match knobs.get(path.as_str()) {
            Some(knob) => turn(&mut tree, path, knob, value)?,
            None => set(&mut tree, path, path, value.clone())?,
        }
    }
    let raw: RawPolicy = Value::Table(tree).try_into().map_err(|error: toml::de::Error| {
        let last = changes.last().map_or("", |(path, _)| path.as_str());
        PolicyError::new(last, error.message())
    })?;
    compile::policy(name, &raw).map_err(|reason| PolicyError::new("", reason))
}

fn builtin(name: &str) -> Result<Table, PolicyError> {
    let text = BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(|| {
        let known: Vec<&str> = Policy::names().collect();
        PolicyError::new("", format!("there is no policy \"{name}\"; there are {}", known.join(", ")))
    })?;
    let mut tree: Table = text.parse().map_err(|error: toml::de::Error| PolicyError::new(name, error.message()))?;
    let Some(Value::String(parent)) = tree.remove("inherits") else { return Ok(tree) };
    let mut whole = builtin(&parent)?;
    merge(&mut whole, tree);
    Ok(whole)
}

/// Lays `top` over `under`; surfaces are found by name, new ones go before the last (the catch-all).
fn merge(under: &mut Table, top: Table) {
    for (key, value) in top {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(top)) => merge(under, top),
            (Some(Value::Array(under)), Value::Array(top)) if key == "surface" => {
                for row in top {
                    let Value::Table(row) = row else { continue };
                    let name = row.get("name").cloned();
                    let same =
                        under.iter_mut().filter_map(Value::as_table_mut).find(|old| old.get("name") == name.as_ref());
                    match same {
                        Some(old) => merge(old, row),
                        None => under.insert(under.len().saturating_sub(1), Value::Table(row)),
                    }
                }
            }
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// Sets the cell at a dotted path. Surfaces are named, not numbered.
fn set(tree: &mut Table, whole: &str, path: &str, value: Value) -> Result<(), PolicyError> {
    let Some((key, rest)) = path.split_once('.') else {
        let value = match (tree.get(path), value) {
            (Some(Value::String(_)), Value::Integer(number)) => Value::String(number.to_string()),
            (_, value) => value,
        };
        tree.insert(path.to_owned(), value);
        return Ok(());
    };
    if key == "surface" {
        let (name, rest) =
            rest.split_once('.').ok_or_else(|| PolicyError::new(whole, "names no key of that surface"))?;
        let rows = tree.get_mut("surface").and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
        let names: Vec<String> =
            rows.iter().filter_map(|row| row.get("name")?.as_str().map(ToOwned::to_owned)).collect();
        let row = rows
            .iter_mut()
            .filter_map(Value::as_table_mut)
            .find(|row| row.get("name").and_then(Value::as_str) == Some(name));
        let row =
            row.ok_or_else(|| PolicyError::new(whole, unknown("surface", name, names.iter().map(String::as_str))))?;
        return set(row, whole, rest, value);
    }
    if key == "class"
        && let Some((name, _)) = rest.split_once('.')
        && Class::parse(name).is_none()
        && name != "chrome"
    {
        let known = Class::ALL.iter().map(|class| class.name()).chain(["chrome"]);
        return Err(PolicyError::new(whole, unknown("class", name, known)));
    }
    let child = tree.entry(key).or_insert_with(|| Value::Table(Table::new()));
    match child {
        Value::Table(child) => set(child, whole, rest, value),
        _ => Err(PolicyError::new(whole, format!("\"{key}\" has no cells of its own"))),
    }
}

/// A change of a bucket that is not there and is not made by naming its scope is a slip of the pen.
fn known_buckets(tree: &Table, changes: &[(String, Value)]) -> Result<(), PolicyError> {
    let known = || tree.get("buckets").and_then(Value::as_table).into_iter().flat_map(Table::keys).map(String::as_str);
    for (path, _) in changes {
        let Some((name, _)) = path.strip_prefix("buckets.").and_then(|rest| rest.split_once('.')) else { continue };
        let scope = format!("buckets.{name}.scope");
        if !known().any(|bucket| bucket == name) && !changes.iter().any(|(path, _)| *path == scope) {
            return Err(PolicyError::new(path, unknown("bucket", name, known())));
        }
    }
    Ok(())
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let near = nearest(name, known.iter().copied()).unwrap_or_default();
    format!("there is no {what} \"{name}\"; the nearest is \"{near}\" of {}", known.join(", "))
}

/// What a knob's value is raised to, where it is under the knob's least; `None` where it is not, or is no knob's.
pub(super) fn raised(name: &str, path: &str, value: &Value) -> Option<Value> {
    let tree = builtin(name).ok()?;
    let least = tree.get("knobs")?.get(path)?.get("min")?;
    at_least(value, Some(least)).ok().filter(|raised| raised != value)
}

/// Turns a knob: its value, held to its minimum, goes into each of its cells (`{}` in the cell's form).
fn turn(tree: &mut Table, name: &str, knob: &Value, value: &Value) -> Result<(), PolicyError> {
    let value = at_least(value, knob.get("min")).map_err(|reason| PolicyError::new(name, reason))?;
    let cells = knob.get("cells").and_then(Value::as_table).cloned().unwrap_or_default();
    for (path, form) in cells {
        let filled = match form.as_str() {
            None | Some("{}") => value.clone(),
            Some(form) => Value::String(form.replace("{}", &text(&value))),
        };
        set(tree, name, &path, filled)?;
    }
    Ok(())
}

fn at_least(value: &Value, min: Option<&Value>) -> Result<Value, String> {
    match (value, min) {
        (Value::Integer(number), Some(Value::Integer(min))) => Ok(Value::Integer(*number.max(min))),
        (Value::String(span), Some(Value::String(min))) => {
            let (given, least): (Span, Span) = (quantity::parse_span(span)?, quantity::parse_span(min)?);
            Ok(if given < least { Value::String(min.clone()) } else { value.clone() })
        }
        (Value::Integer(_), Some(Value::String(_))) => Err("is a length of time; write it like \"3s\"".to_owned()),
        (Value::String(_), Some(Value::Integer(_))) => Err("is a whole number".to_owned()),
        _ => Ok(value.clone()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
