//! Who may know whom: the edges between the workspace's crates, and between the top-level modules of each crate, are those
//! of `edges.txt`. Any other is a fault, and so is a cycle, and so is a line of the table that nothing needs.

mod crates;
mod graph;
mod imports;
mod table;

#[cfg(test)]
mod tests;

use anyhow::{Result, bail};

use self::table::Table;
use crate::tools::Workspace;

const TABLE: &str = include_str!("../edges.txt");

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let table = Table::parse(TABLE)?;
    let packages = crates::read(&workspace.root)?;
    let mut faults = graph::faults("crates", &table.crates, &crates::edges(&packages));
    let mut modules = 0;
    for package in &packages {
        let found = imports::of_crate(&package.folder.join("src"))?;
        modules += found.len();
        let none = graph::Edges::new();
        let allowed = table.modules.get(&package.name).unwrap_or(&none);
        faults.extend(graph::faults(&package.name, allowed, &found));
    }
    let unknown = |name: &&String| packages.iter().all(|package| package.name != **name);
    faults.extend(table.modules.keys().filter(unknown).map(|name| format!("edges.txt: there is no crate {name}")));
    for fault in &faults {
        println!("{fault}");
    }
    println!("{} crates, {modules} modules, {} faults", packages.len(), faults.len());
    if !faults.is_empty() {
        bail!("{} faults in who knows whom; the edges that are allowed are in xtask/src/edges.txt", faults.len());
    }
    Ok(())
}
