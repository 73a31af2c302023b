//! `docs/reference.md`: every key of the configuration and every policy, as the code has them.

use tidegate_core::policy::{Policy, PolicyError};

use super::keys::{Key, Kind, keys};

const HEAD: &str = "# Reference

Made by `tidegate check --reference`; a test compares it with the program.

## Configuration

One TOML file (`--config F`), the environment, or a flag; `tidegate check` prints what is in force and from where. A key with a
dot stands in the table before it (`telegram.api` is `api` under `[telegram]`). Any cell of a policy is a key too:
`policy.NAME.buckets.BUCKET.KEY` and `policy.NAME.surface.SURFACE.class.CLASS.KEY`.

";

/// The whole page.
pub(crate) fn reference() -> Result<String, PolicyError> {
    let rows: String = keys().map(row).collect();
    let policies = Policy::names().map(|name| {
        let matrix = Policy::load(name, &[])?.markdown();
        Ok(format!("\n## Policy `{name}`\n\n{matrix}"))
    });
    let policies = policies.collect::<Result<String, PolicyError>>()?;
    let columns = "| key | environment | value | default | what it does |\n|---|---|---|---|---|\n";
    Ok([HEAD, columns, &rows, &policies].concat())
}

fn row(key: &Key) -> String {
    let Key { path, kind, default, meaning } = key;
    let environment = format!("TIDEGATE_{}", path.replace('.', "__").to_uppercase());
    let default = if default.is_empty() { "absent".to_owned() } else { format!("`{default}`") };
    format!("| `{path}` | `{environment}` | {} | {default} | {meaning} |\n", shown(*kind))
}

/// What a value of that kind looks like.
fn shown(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Secret => "text, never shown".to_owned(),
        Kind::Url => "`http://…` or `https://…`".to_owned(),
        Kind::Address => "`host:port`".to_owned(),
        Kind::Span => "length of time: `\"250ms\"`, `\"5s\"`, `\"10min\"`".to_owned(),
        Kind::Bytes => "size: `\"64KiB\"`".to_owned(),
        Kind::Count(least, most) => format!("{least} to {most}"),
        Kind::Level => "`off`, `error`, `warn`, `info`, `debug` or `trace`".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Scale => "number over 0".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Spans => "two lengths of time: `[\"1s\", \"5s\"]`".to_owned(),
        Kind::Shares => "two parts of a whole: `[0.5, 1.0]`".to_owned(),
        Kind::OneOf(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
    }
}
