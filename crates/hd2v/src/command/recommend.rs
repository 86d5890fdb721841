//! `hd2v recommend`: the documents that a text should link to.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::{ArgGroup, Args};
use hyperdoc2vec::search::suggest::similar;
use hyperdoc2vec::search::{Hit, Query, Ranking, Searcher, rank};
use hyperdoc2vec::{Date, Model};
use serde_json::json;

use super::model::{document_json, find, hits_table, suggested};
use crate::output::{print, print_json, talk, thousands};

/// Find the documents that a text should link to
#[derive(Args)]
#[command(
    group(ArgGroup::new("context").required(true).args(["text", "file", "stdin"])),
    after_help = "\
The text is what stands around the link. `[[?]]` in it marks the place of the link: near words then weigh more, and
words further away than the model's window do not count. Without a mark the whole text counts.

Rankings:
  embedding   words' IN vectors against documents' OUT vectors, as the model was trained; knows linked documents
  bm25        words that the text shares with the documents' own text; knows all documents
  bm25-cited  the same, and with the contexts of the links that point at a document

Examples:
  hd2v recommend papers.model --text 'we report the BLEU score [[?]] of each system'
  hd2v recommend papers.model --file draft.txt --source P07-2045 --before 2007 --json
  pbpaste | hd2v recommend papers.model - --rank bm25-cited --only evaluation"
)]
pub struct Arguments {
    /// The model file
    model: PathBuf,
    /// The text
    #[arg(long)]
    text: Option<String>,
    /// A file that holds the text
    #[arg(long)]
    file: Option<PathBuf>,
    /// Read the text from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
    /// The document that the text stands in: it is no hit itself
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// How many documents
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// Leave these documents out
    #[arg(long, value_name = "ID", num_args = 1..)]
    exclude: Vec<String>,
    /// Only these documents, or those with one of these labels
    #[arg(long, value_name = "ID-OR-LABEL", num_args = 1..)]
    only: Vec<String>,
    /// Only documents dated before this
    #[arg(long, value_name = "DATE")]
    before: Option<Date>,
    /// What to rank by: embedding, bm25, bm25-cited
    #[arg(long, default_value_t = Ranking::Embedding)]
    rank: Ranking,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let model = Model::open(&arguments.model)?;
    let text = text(arguments)?;
    let admitted = admitted(arguments, &model)?;
    let searcher = Searcher::new(&model);
    let query = searcher.query(&text)?;
    ensure!(query.length > 0, "the text has no words");
    let (hits, reason) = match searcher.scores(&query, arguments.rank)? {
        None => (vec![], Some(unknown_words(&query, arguments.rank))),
        Some(_) if !admitted.contains(&true) => {
            (vec![], Some("no document passes --exclude, --only and --before".to_owned()))
        }
        Some(scores) => answer(&scores, arguments, &admitted),
    };
    if arguments.json {
        let hits = hits.iter().zip(1..).map(|(hit, rank)| document_json(&model, rank, hit));
        let mut out = json!({
            "ranking": arguments.rank.name(),
            "query": {"words": query.length, "marked": query.marked, "unknown": query.unknown},
            "hits": hits.collect::<Vec<_>>(),
        });
        if let (Some(out), Some(reason)) = (out.as_object_mut(), reason) {
            out.insert("reason".to_owned(), json!(reason));
        }
        return print_json(&out);
    }
    if let Some(reason) = reason {
        talk(reason);
    }
    let (names, titles) = (model.names(), model.titles());
    let row = |hit: &Hit| (hit.score, names.get(hit.row as usize), titles.get(hit.row as usize));
    print(&hits_table(&hits.iter().map(row).collect::<Vec<_>>()))
}

/// The best documents. BM25 leaves out those that share no word with the text.
fn answer(scores: &[f32], arguments: &Arguments, admitted: &[bool]) -> (Vec<Hit>, Option<String>) {
    let shares_words = |row: usize| arguments.rank == Ranking::Embedding || scores[row] > 0.0;
    let hits = rank::top(scores, arguments.top, |row| admitted[row] && shares_words(row));
    let reason = (hits.is_empty() && arguments.top > 0).then(|| "no document shares a word with the text".to_owned());
    (hits, reason)
}

fn unknown_words(query: &Query, ranking: Ranking) -> String {
    let what = if ranking == Ranking::Embedding { "has a vector in the model" } else { "is known to the model" };
    let more = if query.words.is_empty() { "" } else { "; try --rank bm25" };
    format!("none of the {} words of the text {what}{more}", thousands(query.length as u64))
}

fn text(arguments: &Arguments) -> Result<String> {
    let stdin = || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        utf8(bytes, "standard input")
    };
    match (&arguments.text, &arguments.file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(path)) if path != Path::new("-") => {
            let shown = path.display().to_string();
            utf8(std::fs::read(path).with_context(|| format!("cannot read {shown}"))?, &shown)
        }
        _ => stdin(),
    }
}

fn utf8(bytes: Vec<u8>, place: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        anyhow::anyhow!("{place}: expected UTF-8, found something else at byte {at}")
    })
}

/// Which documents may be hits.
fn admitted(arguments: &Arguments, model: &Model) -> Result<Vec<bool>> {
    let names = model.names();
    let mut admitted = vec![arguments.only.is_empty(); model.documents()];
    let labels = model.labels();
    for name in &arguments.only {
        let document = names.find(name);
        let label = (0..labels.ends.len()).find(|&label| labels.get(label) == name.as_str());
        if document.is_none() && label.is_none() {
            let mut near = similar(labels, name, 1);
            near.extend(similar(names, name, 2));
            let shown = model.path().display();
            bail!("{shown}: no document or label is called {name:?}{}", suggested(&near));
        }
        document.into_iter().for_each(|row| admitted[row] = true);
        if let Some(label) = label {
            let has = |&row: &usize| model.label_ids(row).contains(&(label as u32));
            (0..model.documents()).filter(has).for_each(|row| admitted[row] = true);
        }
    }
    if let Some(before) = arguments.before {
        for (row, admitted) in admitted.iter_mut().enumerate() {
            *admitted &= model.date(row).is_some_and(|date| date < before);
        }
    }
    for id in arguments.exclude.iter().chain(&arguments.source) {
        admitted[find(model, names, id, "document has the id")?] = false;
    }
    Ok(admitted)
}
