//! Edges that are there, beside those that are allowed.

use std::collections::{BTreeMap, BTreeSet};

/// What each of them needs.
pub(super) type Edges = BTreeMap<String, BTreeSet<String>>;

/// What is wrong with the edges that were found. `of`: what they are the edges of.
pub(super) fn faults(of: &str, allowed: &Edges, found: &Edges) -> Vec<String> {
    let mut faults = Vec::new();
    let has = |edges: &Edges, from: &str, to: &str| edges.get(from).is_some_and(|all| all.contains(to));
    for (from, to) in pairs(found).filter(|(from, to)| !has(allowed, from, to)) {
        faults.push(format!("{of}: {from} may not use {to}"));
    }
    for (from, to) in pairs(allowed).filter(|(from, to)| !has(found, from, to)) {
        faults.push(format!("edges.txt: {of}: {from} does not use {to}"));
    }
    for (what, edges) in [("the table", allowed), ("the code", found)] {
        if let Some(cycle) = cycle(edges) {
            faults.push(format!("{of}: a cycle in {what}: {}", cycle.join(" → ")));
        }
    }
    faults
}

fn pairs(edges: &Edges) -> impl Iterator<Item = (&str, &str)> {
    edges.iter().flat_map(|(from, all)| all.iter().map(move |to| (from.as_str(), to.as_str())))
}

/// The first cycle, from one of its members back to it.
pub(super) fn cycle(edges: &Edges) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    edges.keys().find_map(|start| visit(edges, start, &mut Vec::new(), &mut done))
}

fn visit(edges: &Edges, at: &str, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> Option<Vec<String>> {
    if let Some(begin) = path.iter().position(|passed| passed == at) {
        path.push(at.to_owned());
        return Some(path.split_off(begin));
    }
    if done.contains(at) {
        return None;
    }
    path.push(at.to_owned());
    for next in edges.get(at).into_iter().flatten() {
        if let Some(cycle) = visit(edges, next, path, done) {
            return Some(cycle);
        }
    }
    path.pop();
    done.insert(at.to_owned());
    None
}
