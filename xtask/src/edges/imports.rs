//! Which top-level module of a crate uses which, by its tokens: `use` trees and paths alike, in macros too. Tests may know
//! everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::graph::Edges;

/// What stands in the crate's root itself.
const ROOT: &str = "the root";

/// The edges of one crate, whose sources are in that folder. Each top-level module has an entry.
pub(super) fn of_crate(src: &Path) -> Result<Edges> {
    let mut files = BTreeMap::new();
    for path in sources(src)? {
        let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        files.insert(path.strip_prefix(src)?.to_path_buf(), text);
    }
    of_files(&files)
}

/// All Rust files in a folder and below.
pub(super) fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The edges of a crate with these sources, by their paths in its `src`.
pub(super) fn of_files(files: &BTreeMap<PathBuf, String>) -> Result<Edges> {
    let root = ["lib.rs", "main.rs"].into_iter().find_map(|name| files.get(Path::new(name)));
    let mut scan = Scan::default();
    scan.root_items(&tokens("the root", root.context("no lib.rs and no main.rs")?)?);
    let mut parsed = Vec::new();
    for (path, text) in files {
        let module = module_of(path);
        if !module.is_empty() && module[0] != "bin" && module[0] != "main" && module[0] != "lib" {
            parsed.push((module, tokens(&path.display().to_string(), text)?));
        }
    }
    scan.top = parsed.iter().map(|(module, _)| module[0].clone()).collect();
    for (module, tokens) in &parsed {
        scan.find_tests(module, tokens);
    }
    scan.top.retain(|name| !scan.tests.contains(&vec![name.clone()]));
    scan.edges = scan.top.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    for (module, tokens) in &parsed {
        let is_test = (1..=module.len()).any(|length| scan.tests.contains(&module[..length]));
        if !is_test && !module.last().is_some_and(|name| name.ends_with("_tests")) {
            scan.walk(tokens, &mut module.clone());
        }
    }
    Ok(scan.edges)
}

fn tokens(name: &str, text: &str) -> Result<Vec<TokenTree>> {
    let stream: TokenStream = text.parse().map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(stream.into_iter().collect())
}

/// `a/b/mod.rs` and `a/b.rs` are the module `a::b`.
fn module_of(path: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    module
}

#[derive(Default)]
struct Scan {
    /// The top-level modules.
    top: BTreeSet<String>,
    /// Where each name comes from that the root re-exports.
    reexported: BTreeMap<String, String>,
    /// Modules that are there for tests only.
    tests: BTreeSet<Vec<String>>,
    edges: Edges,
}

impl Scan {
    /// Takes in what the root says: its re-exports, and its modules for tests.
    fn root_items(&mut self, tokens: &[TokenTree]) {
        self.find_tests(&[], tokens);
        let mut at = 0;
        while at < tokens.len() {
            if is_ident(tokens.get(at), "use") {
                let mut leaves = Vec::new();
                at = leaves_of(tokens, at + 1, &[], &mut leaves);
                for mut leaf in leaves {
                    if leaf.first().is_some_and(|first| first == "self" || first == "crate") {
                        leaf.remove(0);
                    }
                    if let [module, .., name] = leaf.as_slice() {
                        self.reexported.insert(name.clone(), module.clone());
                    }
                }
            }
            at += 1;
        }
    }

    /// Notes the modules that are declared under `#[cfg(test)]`.
    fn find_tests(&mut self, module: &[String], tokens: &[TokenTree]) {
        for at in 0..tokens.len() {
            let declared = test_item(tokens, at).filter(|item| is_ident(tokens.get(*item), "mod"));
            if let Some(TokenTree::Ident(name)) = declared.and_then(|item| tokens.get(item + 1)) {
                self.tests.insert([module, &[name.to_string()]].concat());
            }
        }
    }

    fn walk(&mut self, tokens: &[TokenTree], module: &mut Vec<String>) {
        let mut at = 0;
        while at < tokens.len() {
            if let Some(item) = test_item(tokens, at) {
                at = behind_item(tokens, item);
                continue;
            }
            let inline = is_ident(tokens.get(at), "mod").then(|| (tokens.get(at + 1), tokens.get(at + 2)));
            match (inline, &tokens[at]) {
                (Some((Some(TokenTree::Ident(name)), Some(TokenTree::Group(body)))), _) => {
                    module.push(name.to_string());
                    self.walk(&body.stream().into_iter().collect::<Vec<_>>(), module);
                    module.pop();
                    at += 3;
                }
                (_, TokenTree::Group(group)) => {
                    self.walk(&group.stream().into_iter().collect::<Vec<_>>(), module);
                    at += 1;
                }
                (_, TokenTree::Ident(_)) => at = self.path(tokens, at, module),
                _ => at += 1,
            }
        }
    }

    /// A path may begin here; behind what was looked at.
    fn path(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let (mut next, above) = match &tokens[at] {
            TokenTree::Ident(word) if word == "crate" => (at + 1, module.len()),
            TokenTree::Ident(word) if word == "super" => (at + 1, 1),
            _ => return at + 1,
        };
        let mut left = module.len().saturating_sub(above);
        while is_colons(tokens, next) && is_ident(tokens.get(next + 2), "super") {
            left = left.saturating_sub(1);
            next += 3;
        }
        if left > 0 || !is_colons(tokens, next) {
            return next;
        }
        let mut leaves = Vec::new();
        let end = leaves_of(tokens, next + 2, &[], &mut leaves);
        for leaf in leaves {
            let first = leaf.first().map_or("", String::as_str);
            self.edge(&module[0], first);
        }
        end
    }

    fn edge(&mut self, from: &str, name: &str) {
        let to = match self.reexported.get(name) {
            _ if self.top.contains(name) => name,
            Some(module) => module,
            None => ROOT,
        };
        if to != from {
            self.edges.entry(from.to_owned()).or_default().insert(to.to_owned());
        }
    }
}

/// The item under a `#[cfg(test)]` that stands here.
fn test_item(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let attribute = |at: usize| match (tokens.get(at)?, tokens.get(at + 1)?) {
        (TokenTree::Punct(hash), TokenTree::Group(body))
            if hash.as_char() == '#' && body.delimiter() == Delimiter::Bracket =>
        {
            Some(body.stream().to_string().replace(' ', ""))
        }
        _ => None,
    };
    if attribute(at)? != "cfg(test)" {
        return None;
    }
    let mut item = at + 2;
    while attribute(item).is_some() {
        item += 2;
    }
    while is_ident(tokens.get(item), "pub")
        || matches!(tokens.get(item), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
    {
        item += 1;
    }
    Some(item)
}

/// Behind an item: its `;`, or its body.
fn behind_item(tokens: &[TokenTree], item: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    // The braces of a `use` tree are not its end.
    let is_use = is_ident(tokens.get(item), "use");
    let ends = |token: &TokenTree| ends(token) && !(is_use && matches!(token, TokenTree::Group(_)));
    tokens[item..].iter().position(ends).map_or(tokens.len(), |found| item + found + 1)
}

/// All paths of a `use` tree, or the one path that begins here; behind it.
fn leaves_of(tokens: &[TokenTree], mut at: usize, before: &[String], leaves: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => path.push("*".to_owned()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
                for one in inner.split(is_comma).filter(|one| !one.is_empty()) {
                    leaves_of(one, 0, &path, leaves);
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !is_colons(tokens, at) {
            break;
        }
        at += 2;
    }
    if is_ident(tokens.get(at), "as")
        && let (Some(TokenTree::Ident(name)), [_, .., last]) = (tokens.get(at + 1), path.as_mut_slice())
    {
        *last = name.to_string();
    }
    leaves.push(path);
    at
}

fn is_ident(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(tokens.get(at)) && colon(tokens.get(at + 1))
}
