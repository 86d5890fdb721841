//! The sample glossary, for programs to carry. A crate of its own, as a package holds only what stands below it.

/// The notes: names of Markdown files, and their texts.
pub const NOTES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/notes.rs"));
