//! Suggest citations for a draft: every `[[?]]` in it is answered.
//!
//! `cargo run --release --example cite_a_draft -- papers.model draft.txt`
//!
//! Without arguments it makes a small model and a draft of its own, so that it runs anywhere.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use hyperdoc2vec::{Document, Error, Import, Model, Question, Recommender, Training};

/// Characters of the draft on each side of a mark that are shown to the model; it weighs near words more.
const AROUND: usize = 400;

fn main() -> Result<(), Error> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (model, draft) = match arguments.as_slice() {
        [model, draft] => (Model::open(model)?, std::fs::read_to_string(draft).expect("a draft to read")),
        _ => own_model()?,
    };
    let recommender = Recommender::new(&model);

    // One question for each mark: the text around it, with the other marks taken out, and the whole draft as the source,
    // so that what it says elsewhere helps.
    let whole = draft.replace("[[?]]", " ");
    let questions = draft.match_indices("[[?]]").map(|(at, mark)| {
        let before = &draft[..at];
        let from = before.char_indices().rev().nth(AROUND).map_or(0, |(from, _)| from);
        let after = &draft[at + mark.len()..];
        let to = after.char_indices().nth(AROUND).map_or(after.len(), |(to, _)| to);
        let clean = |text: &str| text.replace("[[?]]", " ");
        Question::new(format!("{} [[?]] {}", clean(&before[from..]), clean(&after[..to]))).source_text(&whole).top(3)
    });
    let questions: Vec<Question> = questions.collect();

    // All of them at once: the answers are the same as one by one.
    for (number, answer) in recommender.ask_all(&questions).into_iter().enumerate() {
        let answer = answer?;
        println!("mark {}:", number + 1);
        for hit in &answer.hits {
            let sure = hit.probability.map_or(String::new(), |p| format!("  {:.0} %", 100.0 * p));
            println!("  {}  {}{sure}", hit.id, hit.title.as_deref().unwrap_or(""));
        }
        if let Some(reason) = answer.reason {
            println!("  nothing: {reason}");
        }
    }
    Ok(())
}

/// A model of a handful of papers, and a draft that should cite two of them.
fn own_model() -> Result<(Model, String), Error> {
    let folder = std::env::temp_dir().join("hyperdoc2vec-cite-a-draft");
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let mut papers = vec![
        Document::new("metric", "compares the output of a system with reference translations").title("A metric"),
        Document::new("parser", "a fast parser for sentences of many languages").title("A parser"),
    ];
    papers.extend((0..40).map(|n| {
        let text = match n % 2 {
            0 => "the quality of translations is scored automatically [[metric]] on held-out data",
            _ => "sentences are parsed into trees [[parser]] before features are taken",
        };
        Document::new(format!("paper-{n}"), text)
    }));
    let corpus = Import::documents(papers).replace().build(folder.join("papers.corpus"))?;
    let model = Training::new(&corpus).dim(16).replace().run(folder.join("papers.model"))?;
    let draft =
        "All sentences are first parsed into trees [[?]]. The translations are then scored automatically [[?]].";
    Ok((model, draft.to_owned()))
}
