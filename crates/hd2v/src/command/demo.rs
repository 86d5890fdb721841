//! `hd2v demo`: the tour, on the documentation that comes with the Rust toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::corpus::{HeldOutLink, Split, SplitPart};
use hyperdoc2vec::evaluate::{RankingRecall, ranking_recall};
use hyperdoc2vec::generate::GenerateParams;
use hyperdoc2vec::import::{Format, Import, ImportOptions};
use hyperdoc2vec::model::TrainParams;
use hyperdoc2vec::train::{TrainProgress, Training};
use hyperdoc2vec::{Corpus, Error, Model, WordId};

use super::common::report_result;
use super::destination::{Destination, OutputKind, check};
use super::{add, doctor, info, recommend};
use crate::output::{count, print, status};
use crate::progress::{Reporter, TrainReporter, stop_on_interrupt};

/// Take a tour in about a minute: import the documentation of the Rust toolchain, train, compare, recommend
#[derive(Args)]
#[command(after_help = "\
Imports the pages, reports what was lost, trains on nine tenths of them, measures how many links of the other pages each \
ranking finds, adds those pages to the model, and explains some recommendations. Each step is shown as the command that \
does it. If the documentation is not installed, the demo uses a synthetic corpus instead.

Example:
  hd2v demo --out demo")]
pub struct DemoArgs {
    /// Output directory; `corpus` and `model` in it are replaced
    #[arg(long, default_value = "hd2v-demo")]
    out: PathBuf,
}

/// The parts of the documentation that are imported: the books and the standard library.
const PARTS: [&str; 14] = [
    "book",
    "reference",
    "cargo",
    "nomicon",
    "rust-by-example",
    "rustc",
    "rustdoc",
    "edition-guide",
    "style-guide",
    "unstable-book",
    "embedded-book",
    "error_codes",
    "clippy",
    "std",
];

/// Passes over the text and over the links: fewer than the defaults, to stay within a minute.
const PASSES: (usize, usize) = (2, 2);
/// The share of the pages that the comparison holds out.
const HELD_OUT: f64 = 0.1;
/// Generated documents of later years are held out: about as many.
const LAST_YEAR: &str = "2017";
/// About as many links are asked for.
const ASKED: usize = 1000;
/// Hits that count.
const HITS: usize = 10;

/// Questions to the documentation of Rust.
const QUESTIONS: [&str; 3] = [
    "elements are kept on the heap in a growable array [[?]] that can be pushed to",
    "several threads own the same value, which is counted atomically [[?]] when it is cloned",
    "the compiler infers how long a reference is valid by lifetime elision [[?]] in function signatures",
];

pub fn run(arguments: &DemoArgs) -> Result<()> {
    stop_on_interrupt();
    let started = Instant::now();
    let out = &arguments.out;
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let (path, model, part) = (out.join("corpus"), out.join("model"), out.join("nine-tenths.model"));
    check(&[&model, &part].map(|path| Destination { path, kind: OutputKind::Model, force: true }), &[])?;
    let html = rust_documentation();
    match &html {
        Some(html) => import_documentation(html, &path)?,
        None => generate(&path)?,
    }
    announce(&format!("hd2v info {}", path.display()))?;
    info::run(&info::InfoArgs::of(&path))?;
    announce(&format!("hd2v doctor {} --links 3", path.display()))?;
    doctor::run(&doctor::DoctorArgs::of(&path, 3))?;

    let corpus = Corpus::open(&path)?;
    let split = match &html {
        Some(_) => Split::by_share(&corpus, HELD_OUT, 1)?,
        // Its links lead back in time, so new documents have links.
        None => Split::by_date(&corpus, LAST_YEAR.parse().map_err(Error::Usage)?)?,
    };
    train_part(&corpus, &split, &part)?;
    compare(&corpus, &split, &part)?;
    announce(&format!("hd2v add {} {} -o {}", part.display(), path.display(), model.display()))?;
    add::run(&add::AddArgs::of(&part, &path, &model))?;
    std::fs::remove_file(&part).with_context(|| format!("cannot remove {}", part.display()))?;

    let texts: Vec<String> = match html {
        Some(_) => QUESTIONS.map(str::to_owned).to_vec(),
        None => split.queries(&corpus).iter().step_by(97).take(3).map(|query| around(&corpus, query)).collect(),
    };
    for text in &texts {
        announce(&format!("hd2v recommend {} --explain --top 2 --text '{text}'", model.display()))?;
        recommend::run(&recommend::RecommendArgs::explained(&model, text, 2))?;
    }
    print(&format!(
        "\nDone in {3:.0} s. Next (install hd2v with `cargo install --path crates/hd2v`, or use `cargo run --release --` \
         in its place):\n  \
         hd2v recommend {1} --text 'your own words [[?]]'\n  \
         hd2v similar {1} {2} --by out\n  \
         hd2v cat {0} | less       # the documents\n  \
         hd2v import --help        # import your own\n  \
         hd2v train --help         # more passes, other methods\n",
        path.display(),
        model.display(),
        if html.is_some() { "std/vec/struct.Vec.html" } else { "d000000" },
        started.elapsed().as_secs_f64(),
    ))
}

/// Trains on the pages that are not held out.
fn train_part(corpus: &Corpus, split: &Split, model: &Path) -> Result<()> {
    let (content, links) = PASSES;
    let flags = format!("--content-epochs {content} --epochs {links}");
    announce(&format!("hd2v train {} -o {} {flags}", corpus.path().display(), model.display()))?;
    status("A tenth of the documents is held out for the comparison below; this trains on the others.");
    let mut params = TrainParams::for_corpus(corpus);
    params.content.epochs = content;
    params.set_epochs(links);
    let mut reporter = TrainReporter::new();
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

/// The words around a link, with the place marked.
fn around(corpus: &Corpus, query: &HeldOutLink) -> String {
    let (before, after) = corpus.context(&corpus.position(query.position), 8);
    let words = |words: &[WordId]| words.iter().map(|&word| corpus.word(word)).collect::<Vec<_>>().join(" ");
    format!("{} [[?]] {}", words(before), words(after))
}

fn announce(command: &str) -> Result<()> {
    print(&format!("\n$ {command}\n"))
}

/// The HTML that comes with the toolchain, if there is any.
fn rust_documentation() -> Option<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim());
    let html = sysroot.join("share/doc/rust/html");
    html.join("std").is_dir().then_some(html)
}

fn import_documentation(html: &Path, corpus: &Path) -> Result<()> {
    let include: Vec<String> = PARTS.map(str::to_owned).to_vec();
    let globs: String = include.iter().map(|part| format!(" --include {part}")).collect();
    let shown = "$(rustc --print sysroot)/share/doc/rust/html";
    announce(&format!("hd2v import html {shown}{globs} -o {}", corpus.display()))?;
    let mut options = ImportOptions::default();
    (options.include, options.force) = (include, true);
    let mut reporter = Reporter::new();
    let made = Import::files(Format::Html, [html]).options(options).watch(|p| reporter.watch(p)).build(corpus)?;
    report_result(&made, reporter.finish());
    Ok(())
}

fn generate(corpus: &Path) -> Result<()> {
    status("The toolchain's documentation is not installed (`rustup component add rust-docs` installs it).");
    status("This demo uses a synthetic corpus with made-up words instead.");
    let mut params = GenerateParams::default();
    (params.docs, params.links) = (6000, 40_000);
    announce(&format!("hd2v generate --docs 6000 --links 40000 -o {}", corpus.display()))?;
    let mut options = ImportOptions::default();
    options.force = true;
    let mut reporter = Reporter::new();
    let made = hyperdoc2vec::generate::generate(&params, corpus, &options, &mut |p| reporter.watch(p))?;
    report_result(&made, reporter.finish());
    Ok(())
}
