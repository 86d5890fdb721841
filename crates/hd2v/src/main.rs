//! hd2v
fn main() {}
