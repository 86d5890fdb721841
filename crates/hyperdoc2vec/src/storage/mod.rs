//! Files: written atomically, checked by checksums, read through memory maps.

pub mod array;
pub mod atomic;
pub mod container;
pub(crate) mod huge_pages;
pub mod spill;
pub mod strings;
