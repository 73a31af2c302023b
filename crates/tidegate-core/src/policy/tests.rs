use super::*;

#[test]
fn every_table_compiles() {
    for name in Policy::names() {
        Policy::load(name, &[]).unwrap();
    }
}
