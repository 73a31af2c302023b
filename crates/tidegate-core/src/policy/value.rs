//! The value of one cell of a policy.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A cell's value, as [`Policy::load`](super::Policy::load) takes it. Spans and rates are text, as in the tables:
/// `"250ms"`, `"18/60s"`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A word, a span or a rate.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Keys and their values.
    Table(Vec<(String, Value)>),
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl Value {
    /// As the parser of the tables has it.
    pub(super) fn to_toml(&self) -> toml::Value {
        match self {
            Self::Bool(value) => toml::Value::Boolean(*value),
            Self::Integer(value) => toml::Value::Integer(*value),
            Self::Float(value) => toml::Value::Float(*value),
            Self::Text(text) => toml::Value::String(text.clone()),
            Self::List(values) => toml::Value::Array(values.iter().map(Self::to_toml).collect()),
            Self::Table(cells) => {
                toml::Value::Table(cells.iter().map(|(key, value)| (key.clone(), value.to_toml())).collect())
            }
        }
    }
}
