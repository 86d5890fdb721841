//! Files: written atomically, checked by checksums, read through memory maps.

pub(crate) mod array;
pub(crate) mod atomic;
pub(crate) mod container;
pub(crate) mod huge_pages;
pub(crate) mod part;
pub(crate) mod similar_names;
pub(crate) mod spill;
pub(crate) mod strings;

pub use array::{FileInfo, Files};
pub use atomic::{parent, write_atomically, write_pair_atomically};
pub use container::{HEAD, has_format};
pub use part::{PartKind, Shard, part_kind};
