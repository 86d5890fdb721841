//! Advice for errors of the library, which does not know about the command line: which flag helps.

use hyperdoc2vec::Error;

/// The message of an error, with advice in terms of the command line.
pub fn with_flags(error: &Error) -> String {
    match error {
        Error::BadRecord { place, what } => {
            format!("{place}: {what}. Correct it, or skip such records with --skip-bad")
        }
        Error::Exists { path } => {
            format!("{}: already exists; choose another name, or replace it with --force", path.display())
        }
        Error::Stopped { checkpoint } => {
            format!("stopped; continue with --resume (checkpoint: {})", checkpoint.display())
        }
        Error::Unsaved { source, checkpoint } => format!(
            "{}; the training so far is saved: free some space, then continue with --resume (checkpoint: {})",
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
        assert_eq!(with_flags(&bad), "in.jsonl:2: no id. Correct it, or skip such records with --skip-bad");
        assert!(!bad.to_string().contains("--"));
        assert_eq!(with_flags(&Error::NoWords), "the text has no words");
    }
}
