//! Errors of the library with the flags that help: the library does not know that there is a command line.

use hyperdoc2vec::Error;

/// The message of an error, with advice in terms of the command line.
pub fn with_flags(error: &Error) -> String {
    match error {
        Error::BadRecord { place, what } => {
            format!("{place}: {what}. Mend it, or leave such records out with --skip-bad")
        }
        Error::Exists { path } => {
            format!("{}: exists already; choose another name, or replace it with --force", path.display())
        }
        Error::Stopped { checkpoint } => {
            format!("stopped; go on with --resume (checkpoint: {})", checkpoint.display())
        }
        Error::Unsaved { source, checkpoint } => format!(
            "{}; what was learnt is kept: make room, then go on with --resume (checkpoint: {})",
            with_flags(source),
            checkpoint.display()
        ),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_flags_and_other_messages_stay() {
        let bad = Error::BadRecord { place: "in.jsonl:2".to_owned(), what: "no id".to_owned() };
        assert_eq!(with_flags(&bad), "in.jsonl:2: no id. Mend it, or leave such records out with --skip-bad");
        assert!(!bad.to_string().contains("--"));
        assert_eq!(with_flags(&Error::NoWords), "the text has no words");
    }
}
