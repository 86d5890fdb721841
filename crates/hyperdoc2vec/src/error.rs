//! The errors of the library. Their messages name the problem, the place and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use strum::VariantArray;

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything the library fails with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The action that failed, as a verb: "read", "create".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The input is not as expected.
    #[error("{place}: {what}")]
    Input {
        /// File and line, byte or id.
        place: String,
        /// The expectation, the finding and the remedy.
        what: String,
    },
    /// A record of the input cannot be read, and bad records are not skipped.
    #[error("{place}: {what}. Correct it, or skip bad records")]
    BadRecord {
        /// File and line.
        place: String,
        /// The reason.
        what: String,
    },
    /// The destination exists, and nobody allowed it to be replaced.
    #[error("{}: already exists; choose another name, or allow replacing it", path.display())]
    Exists {
        /// The destination.
        path: PathBuf,
    },
    /// Another run is writing to the destination.
    #[error("{}: another run is writing this; wait until it has ended, or choose another name", path.display())]
    Busy {
        /// The destination.
        path: PathBuf,
    },
    /// A corpus or model on disk was cut short or altered.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The corpus directory or the model file.
        path: PathBuf,
        /// The defect.
        what: String,
    },
    /// A file or directory is something else than was expected, or was written in a version of its format that this
    /// program does not read.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file or directory.
        path: PathBuf,
        /// The expectation, the finding and the remedy.
        what: String,
    },
    /// A model lacks a part that is needed: its method does not make it, or an earlier program did not.
    #[error("{}: {what}", path.display())]
    Unsupported {
        /// The model file.
        path: PathBuf,
        /// The missing part, and the remedy.
        what: String,
    },
    /// A model or corpus has no such document, word, label or vector.
    #[error("{}: {message}", path.display())]
    NotFound {
        /// The kind of thing that was looked for.
        kind: NotFound,
        /// The model or corpus.
        path: PathBuf,
        /// The name that was looked for, and similar ones.
        message: String,
    },
    /// The text of a question has no words.
    #[error("the text has no words")]
    NoWords,
    /// The operating system starts no more threads.
    #[error("cannot start threads: {0}; use fewer, or allow this user more processes")]
    Threads(String),
    /// A parameter or a combination of them makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The loss of a training run is no longer a number.
    #[error(
        "the loss is not a number (phase {phase}, epoch {epoch}, batch {batch}): the steps were too large; \
         train again with a smaller learning rate"
    )]
    Diverged {
        /// The phase.
        phase: &'static str,
        /// The pass, counting from 1.
        epoch: usize,
        /// The batch, counting from 1.
        batch: usize,
    },
    /// The watching closure stopped a training run; it can go on.
    #[error("stopped; resume from the checkpoint {}", checkpoint.display())]
    Stopped {
        /// Where the checkpoint is.
        checkpoint: PathBuf,
    },
    /// A trained model could not be written.
    #[error("{source}; the training so far is saved: free some space, then resume from the checkpoint {}", checkpoint.display())]
    Unsaved {
        /// The cause.
        source: Box<Error>,
        /// Where the checkpoint is.
        checkpoint: PathBuf,
    },
    /// Processes that are to train one model together would not train the same one.
    #[error("{0}")]
    Ranks(String),
    /// Another of the processes that train together failed.
    #[error("another rank failed, and says why")]
    OtherRank,
    /// The watching closure asked to stop.
    #[error("interrupted; nothing was left behind")]
    Interrupted,
}

/// The kind of thing that a model or corpus does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotFound {
    /// A document.
    Document,
    /// A word with a vector.
    Word,
    /// A document or a label.
    DocumentOrLabel,
    /// A vector other than zero.
    Vector,
}

impl Error {
    /// Wraps an [`io::Error`] with the action and the path.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// Input that cannot be used, with its place.
    pub fn input(place: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Input { place: place.into(), what: what.into() }
    }
}

/// The message for a name that no variant of `E` has.
pub(crate) fn unknown_name<E: VariantArray + Copy + Into<&'static str>>(kind: &str, found: &str) -> String {
    let names: Vec<&str> = E::VARIANTS.iter().map(|&variant| variant.into()).collect();
    format!("expected {kind} ({}), found {found:?}", names.join(", "))
}
