//! Where values come from: defaults, the file, the environment, flags; later ones win.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use tidegate_core::policy::{Policy, nearest};
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::ConfigError;
use super::keys::{find, keys};
use super::value::{check, from_text};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File { path: PathBuf, line: usize },
    Env(String),
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Sourced {
    pub(crate) value: Value,
    pub(crate) source: Source,
}

/// All values by path.
#[derive(Debug, Default)]
pub(crate) struct Layers(pub(crate) BTreeMap<String, Sourced>);

impl Layers {
    pub(crate) fn defaults() -> Self {
        let mut layers = Self::default();
        for key in keys().filter(|key| !key.default.is_empty()) {
            let table = format!("v = {}", key.default).parse::<Table>();
            if let Some(value) = table.ok().and_then(|mut table| table.remove("v")) {
                layers.0.insert(key.path.to_owned(), Sourced { value, source: Source::Default });
            }
        }
        layers
    }

    pub(crate) fn file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let fail = |line: Option<usize>, reason: String| {
            let source = line.map_or_else(|| path.display().to_string(), |line| format!("{}:{line}", path.display()));
            ConfigError { key: String::new(), at: source, reason }
        };
        let text = std::fs::read_to_string(path).map_err(|error| fail(None, error.to_string()))?;
        // Editors of some systems mark a file's encoding so.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let wrong = |error: &toml::de::Error| {
            fail(error.span().map(|span| line_of(text, span.start)), error.message().to_owned())
        };
        let values: Table = toml::from_str(text).map_err(|error| wrong(&error))?;
        let spans = DeTable::parse(text).map_err(|error| wrong(&error))?;
        let mut found = Vec::new();
        walk("", &values, spans.get_ref(), &mut found);
        for (key, value, at) in found {
            let source = Source::File { path: path.to_owned(), line: line_of(text, at) };
            self.set(key, value, source)?;
        }
        Ok(())
    }

    pub(crate) fn env(&mut self, vars: impl Iterator<Item = (String, String)>) -> Result<(), ConfigError> {
        for (name, written) in vars {
            let Some(rest) = name.strip_prefix("TIDEGATE_") else { continue };
            // Kubernetes sets these in every pod beside a service of this name.
            if rest == "PORT" || ["PORT_", "SERVICE_HOST", "SERVICE_PORT"].iter().any(|known| rest.starts_with(known)) {
                continue;
            }
            let path = rest.to_lowercase().replace("__", ".");
            let value = from_text(find(&path).map(|key| key.kind), &written);
            self.set(path, value, Source::Env(name))?;
        }
        Ok(())
    }

    pub(crate) fn flag(&mut self, path: &str, written: &str, name: &'static str) -> Result<(), ConfigError> {
        let value = from_text(find(path).map(|key| key.kind), written);
        self.set(path.to_owned(), value, Source::Flag(name))
    }

    fn set(&mut self, path: String, value: Value, source: Source) -> Result<(), ConfigError> {
        let fail = |reason| ConfigError { key: path.clone(), at: source.to_string(), reason };
        match find(&path) {
            Some(key) => check(key.kind, &value).map_err(fail)?,
            None => known_policy(&path).map_err(fail)?,
        }
        self.0.insert(path, Sourced { value, source });
        Ok(())
    }
}

/// `policy.NAME.…` with a name that there is.
fn known_policy(path: &str) -> Result<(), String> {
    let Some(rest) = path.strip_prefix("policy.") else {
        let known = keys().map(|key| key.path).chain(["policy"]);
        let near = nearest(path, known).unwrap_or_default();
        return Err(format!("there is no key \"{path}\"; the nearest is \"{near}\""));
    };
    let name = rest.split('.').next().unwrap_or_default();
    if !rest.contains('.') {
        return Err("names no cell of the policy".to_owned());
    }
    if Policy::names().any(|known| known == name) {
        return Ok(());
    }
    let near = nearest(name, Policy::names()).unwrap_or_default();
    Err(format!("there is no policy \"{name}\"; the nearest is \"{near}\""))
}

type Found = Vec<(String, Value, usize)>;

/// All leaves with their paths and places. `values` and `spans` are the same file.
fn walk(prefix: &str, values: &Table, spans: &DeTable<'_>, found: &mut Found) {
    for (key, span) in spans {
        let name: &str = key.get_ref();
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        match (values.get(name), span.get_ref()) {
            (Some(Value::Table(inner)), DeValue::Table(spans)) if find(&path).is_none() => {
                walk(&path, inner, spans, found);
            }
            (Some(value), _) => found.push((path, value.clone(), key.span().start)),
            (None, _) => {}
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}
