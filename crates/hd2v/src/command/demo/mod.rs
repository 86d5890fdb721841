//! `hd2v demo`: a tour, on documents that are at hand.

mod sample;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::corpus::{Split, SplitPart};
use hyperdoc2vec::evaluate::{RankingRecall, ranking_recall};
use hyperdoc2vec::model::TrainParams;
use hyperdoc2vec::train::{TrainProgress, Training};
use hyperdoc2vec::{Corpus, Model};

use self::sample::SampleDocuments;
use super::destination::{Destination, OutputKind, check};
use super::{add, recommend, serve};
use crate::output::{count, print, status};
use crate::progress::{TrainReporter, stop_on_interrupt};

/// Take a tour in about a minute: import documents that are at hand, train, recommend, compare
#[derive(Args)]
#[command(after_help = "\
Imports the documentation of your Rust toolchain or, where that is not installed, a glossary of 218 notes that the program \
carries. Trains on nine tenths of the pages, adds the others to the model, explains some recommendations, and measures how \
many links of those other pages each ranking finds. Each step is shown as the command that does it.

Examples:
  hd2v demo
  hd2v demo --serve             # and the page in the browser at the end
  hd2v demo --glossary --out demo")]
pub struct DemoArgs {
    /// Output directory; `corpus` and `model` in it are replaced
    #[arg(long, default_value = "hd2v-demo")]
    out: PathBuf,
    /// Use the glossary even where the Rust documentation is installed
    #[arg(long)]
    glossary: bool,
    /// At the end, serve the model and open its page in the browser
    #[arg(long)]
    serve: bool,
}

/// The share of the pages that the comparison holds out.
const HELD_OUT: f64 = 0.1;
/// About as many links are asked for.
const ASKED: usize = 1000;
/// Hits that count.
const HITS: usize = 10;
/// The port of the page, if it is free.
const PORT: u16 = 8080;

/// For those who have run it from a checkout.
const UNINSTALLED: &str =
    " (install hd2v with `cargo install --path crates/hd2v`, or use `cargo run --release --` in its place)";

pub fn run(arguments: &DemoArgs) -> Result<()> {
    stop_on_interrupt();
    let started = Instant::now();
    let out = &arguments.out;
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let (path, model, part) = (out.join("corpus"), out.join("model"), out.join("nine-tenths.model"));
    check(&[&model, &part].map(|path| Destination { path, kind: OutputKind::Model, force: true }), &[])?;
    let sample = match SampleDocuments::rust_documentation().filter(|_| !arguments.glossary) {
        Some(sample) => sample,
        None => SampleDocuments::glossary(out.join("glossary"))?,
    };
    announce(&sample.command(&path))?;
    let corpus = sample.import(&path)?;
    let split = Split::by_share(&corpus, HELD_OUT, 1)?;
    train_part(&corpus, &split, &sample, &part)?;
    announce(&format!("hd2v add {} {} -o {}", part.display(), path.display(), model.display()))?;
    add::run(&add::AddArgs::of(&part, &path, &model))?;
    for text in sample.questions {
        announce(&format!("hd2v recommend {} --explain --top 2 --text '{text}'", model.display()))?;
        recommend::run(&recommend::RecommendArgs::explained(&model, text, 2))?;
    }
    compare(&corpus, &split, &part)?;
    std::fs::remove_file(&part).with_context(|| format!("cannot remove {}", part.display()))?;

    let page = format!("hd2v serve {} --corpus {} --open", model.display(), path.display());
    print(&format!(
        "\nDone in {4:.0} s. Next{5}:\n  \
         {2}       # the page\n  \
         hd2v recommend {1} --text 'your own words [[?]]'\n  \
         hd2v similar {1} {3} --by out\n  \
         hd2v doctor {0} --links 3       # the links, and what was left out\n  \
         hd2v import --help       # your own documents\n",
        path.display(),
        model.display(),
        page,
        sample.document,
        started.elapsed().as_secs_f64(),
        // Cargo sets it for what it runs.
        if std::env::var_os("CARGO").is_some() { UNINSTALLED } else { "" },
    ))?;
    if arguments.serve {
        announce(&page)?;
        let free = TcpListener::bind(("127.0.0.1", PORT)).is_ok();
        serve::run(&serve::ServeArgs::opened(&model, &path, if free { PORT } else { 0 }))?;
    }
    Ok(())
}

/// Trains on the pages that are not held out.
fn train_part(corpus: &Corpus, split: &Split, sample: &SampleDocuments, model: &Path) -> Result<()> {
    let mut params = TrainParams::for_corpus(corpus);
    let mut flags = String::new();
    if let Some((content, links)) = sample.passes {
        params.content.epochs = content;
        params.set_epochs(links);
        flags = format!(" --content-epochs {content} --epochs {links}");
    }
    announce(&format!("hd2v train {} -o {}{flags}", corpus.path().display(), model.display()))?;
    status("A tenth of the documents is held out for the comparison below; this trains on the others.");
    let mut reporter = TrainReporter::new().brief();
    let watch = |progress: &TrainProgress| reporter.watch(progress);
    let trained = Training::new(corpus).params(params).split(split).replace().watch(watch).run(model)?;
    status(format_args!(
        "{}: {}; {:.1} s",
        model.display(),
        count(trained.documents() as u64, "document"),
        reporter.finish()
    ));
    Ok(())
}

/// Measures how many links of the held-out pages each ranking finds, with and without their anchors.
fn compare(corpus: &Corpus, split: &Split, path: &Path) -> Result<()> {
    let (questions, recalls) = ranking_recall(corpus, split, &Model::open(path)?, ASKED, HITS)?;
    let pages = split.documents(SplitPart::Test).count() as u64;
    let mut table = format!(
        "\n{} from {} held out: share of targets among the first {HITS} hits\n\n{:26}{:>12}{:>16}\n",
        count(questions as u64, "link"),
        count(pages, "page"),
        "",
        "as written",
        "anchor dropped",
    );
    for RankingRecall { ranking, sourced, with_anchor, without_anchor, .. } in recalls {
        let name = if sourced { format!("{ranking}, knowing the page") } else { ranking.to_string() };
        let [with, without] = [with_anchor, without_anchor].map(|share| 100.0 * share);
        table.push_str(&format!("{name:26}{with:10.1} %{without:14.1} %\n"));
    }
    print(&table)
}

fn announce(command: &str) -> Result<()> {
    print(&format!("\n$ {command}\n"))
}
