//! The effective configuration, each value with where it comes from.

use std::fmt::Write as _;

use super::Layers;
use super::keys::{Kind, find, keys};

/// One line for each value in force, as it could stand in a file.
pub(crate) fn show(layers: &Layers) -> String {
    let mut shown = String::new();
    let known = keys().map(|key| key.path);
    let cells = layers.0.keys().map(String::as_str).filter(|path| find(path).is_none());
    for path in known.chain(cells) {
        let Some(sourced) = layers.0.get(path) else { continue };
        let secret = find(path).is_some_and(|key| key.kind == Kind::Secret);
        let value = if secret { "\"(secret)\"".to_owned() } else { sourced.value.to_string() };
        let setting = format!("{path} = {value}");
        let _ = writeln!(shown, "{setting:<56} # {}", sourced.source);
    }
    shown
}
