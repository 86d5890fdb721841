//! Advice for errors of the library, which does not know about the command line: which flag helps.

use std::path::{Path, PathBuf};

use hyperdoc2vec::Error;
use hyperdoc2vec::document::{Loss, Losses, Tally};
use hyperdoc2vec::import::Format;

use crate::recognise::{self, Thing, import_command, quoted};

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
        Error::Foreign { path, what } => foreign(path, what),
        // What is no model at all may look like one that was cut short.
        Error::Damaged { path, what } => match recognise::at(path) {
            Some(Thing::Source(format, kind)) => source(path, format, kind),
            _ => format!("{}: {what}", path.display()),
        },
        error => error.to_string(),
    }
}

/// The message for a path at which something else stands than a command wants: what that is, and the way from there.
fn foreign(path: &Path, what: &str) -> String {
    let shown = path.display();
    match recognise::at(path) {
        Some(Thing::Model) => {
            format!("{shown}: this is a model, but a corpus is needed: the imported documents that it was trained on")
        }
        Some(Thing::Corpus) => {
            let model = path.file_name().map_or_else(|| PathBuf::from("documents"), PathBuf::from);
            let model = model.with_extension("model");
            format!("{shown}: {what}; train one: hd2v train {} -o {}", quoted(path), quoted(&model))
        }
        Some(Thing::Source(format, kind)) if !what.starts_with("not a part") => source(path, format, kind),
        _ => format!("{shown}: {what}"),
    }
}

/// The message for documents where a corpus or a model is wanted.
fn source(path: &Path, format: Format, kind: &str) -> String {
    let command = import_command(format, path);
    format!("{}: neither a corpus nor a model, but {kind}; import it first: {command}", path.display())
}

/// The message of an error of an import, with the format that reads what was given where it is another one.
pub fn on_import(error: &Error, asked: Format, paths: &[PathBuf]) -> Option<String> {
    let (Error::Input { place, .. } | Error::BadRecord { place, .. }) = error else { return None };
    let path = paths.iter().find(|path| place.starts_with(&*path.to_string_lossy()))?;
    // Other formats are JSON, a record a line, too.
    let also_json = matches!(asked, Format::S2orc | Format::Unarxive | Format::OpenAlex);
    match recognise::at(path)? {
        Thing::Source(Format::Jsonl, _) if also_json => None,
        Thing::Source(format, what) if format != asked => {
            Some(format!("{error}. This is {what}: {}", import_command(format, path)))
        }
        _ => None,
    }
}

/// Advice on the three most frequent kinds of loss that something can be done about, with a sample each.
pub fn on_losses(losses: &Losses, format: &str) -> String {
    let mut kinds: Vec<(Loss, &Tally)> = losses.iter().collect();
    kinds.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.count));
    let advice = kinds.into_iter().filter_map(|(loss, tally)| Some((tally, on_loss(loss, tally, format)?)));
    let line = |(tally, advice): (&Tally, String)| {
        let sample = tally.samples.first().map(|sample| format!(" (such as {})", sample.replace('\n', " ")));
        format!("  {}{}: {advice}\n", crate::output::thousands(tally.count), sample.unwrap_or_default())
    };
    let lines: String = advice.take(3).map(line).collect();
    if lines.is_empty() { lines } else { format!("what to do about the most frequent losses:\n{lines}") }
}

fn on_loss(loss: Loss, tally: &Tally, format: &str) -> Option<String> {
    let advice = match loss {
        Loss::UnknownTarget => {
            let above = tally.samples.iter().filter(|sample| sample.starts_with("../")).count();
            if above * 2 > tally.samples.len() {
                "these links lead out of the folder; import the folder above it, or the other one too"
            } else if matches!(format, "html" | "markdown") {
                "no page has this name; import the folder that holds it too, give the web address of the folder with \
                 --base-url, or correct the links"
            } else {
                "no document has this id; add the documents, or correct the ids"
            }
        }
        Loss::UnmatchedReference if format == "pdf" => {
            "these works are not in the folder; --cited-works makes documents of them, where their entries can be read"
        }
        Loss::UnmatchedReference if format == "library" => {
            "these works are not in the library, and no document was made of their entries, which lack a title, an \
             author or a year; --references FILE shows how each was read"
        }
        Loss::UnmatchedReference => "these works are not in the set; add them, or read --references FILE to see why",
        Loss::AmbiguousReference => "two documents could be meant; remove duplicates, or add DOIs to the metadata",
        Loss::MarkWithoutTarget | Loss::MarkWithoutEntry => {
            "these marks name no entry that was found; a GROBID server (format tei, or --grobid URL for PDFs) reads \
             references better"
        }
        Loss::NoReferenceList => "no list of references was found; check that the text is complete, or use GROBID",
        Loss::MissingFile => "these files are not there; name the folder that holds them with --files DIR",
        Loss::UnreadFile => "these files were not read, for the reason given; save them again, or remove them",
        Loss::LittleText => "these may be scans; run text recognition (ocrmypdf) on them and import again",
        Loss::MixedColumns => "columns were read across; install pdftotext (poppler-utils) or use --grobid URL",
        Loss::TextWithoutRow if format == "library" => "these files belong to no entry; add them to the bibliography",
        Loss::DuplicateId => "these ids came twice, and the first was kept; give one of them another id",
        Loss::MalformedRecord => "these could not be read, for the reason given; correct them and import again",
        Loss::BrokenEntry => "these entries are broken, for the reason given; correct them and import again",
        Loss::BrokenMark => "these marks do not close; write `\\[[` for brackets that are not a link",
        Loss::UnreadableDate => "write dates as 2009, 2009-06 or 2009-06-30",
        _ => return None,
    };
    Some(advice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_most_frequent_losses_come_with_advice() {
        let mut losses = Losses::default();
        for (loss, count) in [
            (Loss::UnknownTarget, 3),
            (Loss::SelfLink, 9),
            (Loss::BrokenMark, 2),
            (Loss::UnreadableDate, 1),
            (Loss::DuplicateId, 4),
        ] {
            (0..count).for_each(|_| losses.add(loss, "../a (3)"));
        }
        let text = on_losses(&losses, "markdown");
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("4 (such as ../a (3)): these ids") && text.contains("import the folder above"), "{text}");
        assert_eq!(on_losses(&Losses::default(), "html"), "");
    }

    #[test]
    fn formats_of_json_lines_are_not_taken_for_one_another() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("works.jsonl");
        std::fs::write(&path, "{}").expect("a file");
        let error = Error::BadRecord { place: format!("{}:1", path.display()), what: "no id".to_owned() };
        let paths = [path];
        assert_eq!(on_import(&error, Format::OpenAlex, &paths), None);
        assert!(on_import(&error, Format::Markdown, &paths).is_some_and(|advice| advice.contains("hd2v import jsonl")));
    }

    #[test]
    fn advice_names_flags_and_other_messages_stay() {
        let bad = Error::BadRecord { place: "in.jsonl:2".to_owned(), what: "no id".to_owned() };
        assert_eq!(with_flags(&bad), "in.jsonl:2: no id. Correct it, or skip such records with --skip-bad");
        assert!(!bad.to_string().contains("--"));
        assert_eq!(with_flags(&Error::NoWords), "the text has no words");
    }
}
