//! `hd2v train`: from a corpus to a model.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use hyperdoc2vec::model::{DirectParams, LossFunction, Method, OutOfRange, TrainParams, VectorStorage};
use hyperdoc2vec::storage;
use hyperdoc2vec::train::{Ranks, TrainProgress, Training, learns_ranker};
use hyperdoc2vec::{Corpus, Date, Error, Model, Suggester};
use serde_json::json;
use strum::VariantArray;

use super::common::{most_threads, named, with_suffix};
use super::destination::{Destination, OutputKind, check};
use crate::output::{count, status};
use crate::progress::{TrainReporter, stop_on_interrupt, stopped};
use crate::vector_index;

/// Train a model on a corpus
#[derive(Args)]
#[command(after_help = "\
The same corpus, parameters and seed give the same file, byte for byte, for any number of threads. \
Ctrl-C stops after the current batch and leaves a checkpoint beside the model; --resume continues from it.

Examples:
  hd2v train papers.corpus -o papers.model
  hd2v train papers.corpus -o papers.model --until 2009 --dim 200 --log train.jsonl

Methods:
  h-d2v         content (PV-DBOW), then links by sampled softmax; the default
  joint         content and links in alternating batches
  pv-dbow       content only: works without links
Methods of the paper and its rivals, for comparison:
  h-d2v-paper   the paper's method: PV-DM, then negative sampling link by link; slow
  h-d2v-random  the paper's method from random vectors
  joint-paper   PV-DM and the paper's step on the links in alternating batches; slow
  pv-dm, d2v-nc content only
  d2v-cac       content and the contexts of links to it, by PV-DBOW; d2v-cac-dm by PV-DM
  w2v           citation as word: CBOW over words and links; documents with fewer than --min-count
                links to them are not words
  skip-gram     citation as word by skip-gram; slow with a wide window
  npm           the neural probabilistic model
  deepwalk      random walks over the links; ignores the text")]
pub struct TrainArgs {
    /// The corpus directory
    corpus: PathBuf,
    /// The model file to write
    #[arg(short, long)]
    output: PathBuf,
    /// The method (see below) [default: h-d2v; with --compat reference, h-d2v-paper]
    #[arg(long)]
    method: Option<Method>,
    #[arg(long, help = format!("Vector dimensions {}", defaults(|params| Some(params.dim))))]
    dim: Option<usize>,
    #[arg(long, value_name = "WORDS", help = format!("Words that count on each side of a link, or of a word in methods \
        that predict words from their neighbours {}", defaults(|params| Some(params.window))))]
    window: Option<usize>,
    #[arg(long, help = format!("Passes of the method's own phase {}", defaults(|params| Some(params.epochs()))))]
    epochs: Option<usize>,
    /// Make as many passes as fit into this time (such as 90s, 10m or 1h), with content and links in proportion, up to
    /// --epochs and --content-epochs; if time is short, the ranker is skipped, as with --no-hybrid
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Hold out a twentieth of the links, stop after this many passes without improvement on them, and keep the best pass;
    /// by default all passes are made (h-d2v and joint)
    #[arg(long, value_name = "PASSES")]
    patience: Option<usize>,
    #[arg(long, value_name = "WORDS", help = format!(
        "Words on each side of a word in PV-DM ({}) [default: that of --window; with --compat reference, {}]",
        names(Method::has_dm), DirectParams::AUTHORS_DM_WINDOW))]
    dm_window: Option<usize>,
    /// `reference`: reproduce the authors' program, bugs included (h-d2v-paper and h-d2v-random)
    #[arg(long, value_parser = ["reference"])]
    compat: Option<String>,
    /// Scores beyond ±6 in the paper's step: `saturate` takes σ as 0 or 1, as word2vec.c does; `skip` learns nothing from
    /// such pairs, as the authors' program does [default: saturate; with --compat reference, skip]
    #[arg(long, value_name = "HOW", value_parser = named::<OutOfRange>())]
    beyond: Option<OutOfRange>,
    /// With --compat reference: put windows where the links are, not where the authors' program looks for them
    #[arg(long, requires = "compat")]
    no_shift: bool,
    /// Train w2v as skip-gram, not CBOW: the same as --method skip-gram
    #[arg(long)]
    skip_gram: bool,
    /// The loss that h-d2v and joint minimise on links: softmax over the targets of a batch and some noise, softmax over all
    /// documents (exact, but slow for many), or the paper's negative sampling [default: sampled-softmax]
    #[arg(long, value_parser = named::<LossFunction>())]
    loss: Option<LossFunction>,
    #[arg(long, help = noise_help())]
    noise: Option<usize>,
    #[arg(long, help = format!("Passes over the text before the links {}", defaults(TrainParams::content_epochs)))]
    content_epochs: Option<usize>,
    #[arg(long, help = format!(
        "Initial learning rate on the links (h-d2v and joint) [default: {}]", TrainParams::default().citation.rate))]
    rate: Option<f32>,
    #[arg(long, help = format!(
        "Words this far from a link weigh 1/e; 0 for equal weights [default: {}, or {} where most links have anchor text]",
        TrainParams::default().citation.decay, TrainParams::HYPERTEXT_DECAY))]
    decay: Option<f32>,
    /// Do not weight words by their rarity
    #[arg(long)]
    no_rarity: bool,
    /// Do not learn the hybrid ranking: a third faster for 600,000 documents, and far faster for a few hundred, but
    /// `recommend` has no hybrid
    #[arg(long)]
    no_hybrid: bool,
    /// Do not build the index of a model with 100,000 documents or more: `recommend` and `serve` are slower
    #[arg(long)]
    no_index: bool,
    /// How the model file holds the vectors: in single precision, or in half, which takes half the space on disk and in
    /// memory, for about the same answers
    #[arg(long, value_name = "HOW", default_value = "f32", value_parser = named::<VectorStorage>())]
    storage: VectorStorage,
    /// Keep vectors while they are learnt in files beside the model (without names, gone at the end), so that they may be
    /// larger than memory; slower, the same model
    #[arg(long, conflicts_with = "time")]
    out_of_core: bool,
    /// Words that occur less often get no vectors [default: the corpus's own]
    #[arg(long)]
    min_count: Option<u64>,
    /// Train only on documents dated up to this date
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    /// The random seed
    #[arg(long, default_value_t = TrainParams::default().seed)]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Minutes between checkpoints
    #[arg(long, default_value_t = 10.0, value_name = "MINUTES")]
    checkpoint_every: f64,
    /// Continue from the checkpoint of an interrupted run
    #[arg(long)]
    resume: bool,
    /// Write progress to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Replace the model if it exists
    #[arg(long)]
    force: bool,
}

/// Whether a method has a use for a flag.
type Takes = fn(Method) -> bool;

/// The methods that a flag is for, as a list in a sentence.
fn names(takes: Takes) -> String {
    Method::VARIANTS.iter().filter(|&&method| takes(method)).map(|method| method.name()).collect::<Vec<_>>().join(", ")
}

/// The parameters of a method if nothing else is asked for.
fn default_params(method: Method) -> TrainParams {
    let mut params = TrainParams::default();
    params.set_method(method);
    params
}

fn noise_help() -> String {
    let params = TrainParams::default();
    format!(
        "Documents drawn as noise for a batch of links (in the paper's step, for each link; in npm, words for each word) \
         [default: {}; {} with negative sampling or in the paper's step; {} in npm]",
        params.citation.noise, params.reference.noise, params.npm.noise
    )
}

/// The default of a parameter for each method that has it, for the help: `[default: 8 for h-d2v, joint; 5 for all others]`.
fn defaults(of: impl Fn(&TrainParams) -> Option<usize>) -> String {
    let mut named: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for &method in Method::VARIANTS {
        if let Some(default) = of(&default_params(method)) {
            named.entry(default).or_default().push(method.name());
        }
    }
    if let (1, Some((default, names))) = (named.len(), named.first_key_value()) {
        return format!("({}) [default: {default}]", names.join(", "));
    }
    let most = named.values().map(Vec::len).max();
    let (others, special): (Vec<_>, Vec<_>) = named.into_iter().partition(|(_, names)| Some(names.len()) == most);
    let special = special.into_iter().map(|(default, names)| format!("{default} for {}", names.join(", ")));
    let others = others.into_iter().map(|(default, _)| format!("{default} for all others"));
    format!("[default: {}]", special.chain(others).collect::<Vec<_>>().join("; "))
}

/// Reads `90s`, `10m`, `1.5h`; a bare number means seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("expected a time such as 90s, 10m or 1h, found the unit {unit:?}")),
    };
    let number: f64 =
        number.trim().parse().map_err(|_| format!("expected a time such as 90s, 10m or 1h, found {text:?}"))?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a time above 0".to_owned()),
    }
}

pub fn run(arguments: &TrainArgs) -> Result<()> {
    train(arguments, prepare(arguments, None)?, None)
}

/// What stands before training: the corpus, opened and checked, and what to do with it.
pub struct Prepared {
    corpus: Corpus,
    params: TrainParams,
    checkpoint: PathBuf,
    every: Duration,
}

/// Training that other processes share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    pub ranks: &'a dyn Ranks,
    /// Whether each keeps a part of the vectors of documents, not all.
    pub shard_tables: bool,
}

/// Whether this process speaks and writes: it is alone, or the first of several.
fn leads(shared: Option<Shared<'_>>) -> bool {
    shared.is_none_or(|shared| shared.ranks.rank() == 0)
}

/// Checks arguments, destinations and the corpus.
pub fn prepare(arguments: &TrainArgs, shared: Option<Shared<'_>>) -> Result<Prepared> {
    let output = &arguments.output;
    let checkpoint = with_suffix(output, "checkpoint");
    let model = Destination { path: output, kind: OutputKind::Model, force: arguments.force };
    // A checkpoint that is there is spoken of below.
    let saved = Destination { path: &checkpoint, kind: OutputKind::Checkpoint, force: true };
    let log = arguments.log.as_deref().map(|path| Destination { path, kind: OutputKind::TrainingLog, force: true });
    if leads(shared) {
        check(&[model, saved].into_iter().chain(log).collect::<Vec<_>>(), &[&arguments.corpus])?;
    }
    // Better now than after hours of training.
    let folder = storage::parent(output);
    ensure!(folder.is_dir(), "{}: no such directory, so {} cannot be written", folder.display(), output.display());
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    let params = params(arguments, &corpus)?;
    params.validate()?;
    let every = Duration::try_from_secs_f64(arguments.checkpoint_every * 60.0).map_err(|_| {
        Error::Usage(format!("--checkpoint-every is {}, but must be a number of minutes", arguments.checkpoint_every))
    })?;
    if leads(shared) {
        ensure!(
            arguments.resume || arguments.force || !checkpoint.exists(),
            "{}: checkpoint of an interrupted run; continue with --resume, or start again with --force",
            checkpoint.display()
        );
        if arguments.resume && !checkpoint.exists() {
            status(format_args!("{}: no such checkpoint; training starts from the beginning", checkpoint.display()));
        }
    }
    if shared.is_some() && arguments.time.is_some() {
        let clash =
            "--time cannot be used with several ranks; give the passes with --epochs and --content-epochs instead";
        bail!(Error::Usage(clash.to_owned()));
    }
    Ok(Prepared { corpus, params, checkpoint, every })
}

/// Trains, alone or as one of several ranks.
pub fn train(arguments: &TrainArgs, prepared: Prepared, shared: Option<Shared<'_>>) -> Result<()> {
    let Prepared { corpus, params, checkpoint, every } = prepared;
    let output = &arguments.output;
    let leads = leads(shared);
    let wanted = params.hybrid;
    let mut training = Training::new(&corpus).params(params).threads(arguments.threads).replace();
    training = training.storage(arguments.storage).out_of_core(arguments.out_of_core);
    if let Some(Shared { ranks, shard_tables }) = shared {
        training = training.ranks(ranks).shard_tables(shard_tables);
    }
    if let Some(budget) = arguments.time {
        let clash = "--time cannot be used with --resume; give the passes that --time had chosen instead";
        ensure!(!arguments.resume, Error::Usage(clash.to_owned()));
        training = training.fit_to(budget)?;
        status(format_args!("{budget:?} is enough for {}", passes(training.current_params())));
        if wanted && !training.current_params().hybrid {
            status("not enough time to learn the hybrid ranking; recommend will rank by bm25-cited");
        }
    }
    let mut log = match &arguments.log {
        Some(path) if leads => {
            // A resumed run keeps the log of its beginning.
            let (append, fresh) = (arguments.resume, !arguments.resume);
            let file = File::options().create(true).write(fresh).append(append).truncate(fresh).open(path);
            Some(BufWriter::new(file.with_context(|| format!("cannot create {}", path.display()))?))
        }
        _ => None,
    };
    stop_on_interrupt();
    let mut reporter = TrainReporter::new();
    let mut unlogged = None;
    let watch = |progress: &TrainProgress| {
        if !leads {
            return stopped();
        }
        let flow = reporter.watch(progress);
        if let (true, Some(log)) = (reporter.is_milestone(progress), log.as_mut()) {
            // A log that cannot be written does not stop the training; it is reported at the end.
            let line = log_line(progress, &reporter);
            unlogged = unlogged.take().or(writeln!(log, "{line}").and_then(|()| log.flush()).err());
        }
        flow
    };
    let params = training.current_params().clone();
    let result = training.watch(watch).checkpoint(checkpoint, every).resume(arguments.resume).write(output);
    if let (Err(Error::Stopped { .. }), Some(_)) = (&result, arguments.time) {
        status(format_args!("with --resume, give {} instead of --time", passes(&params)));
    }
    result?;
    let seconds = reporter.finish();
    if !leads {
        return Ok(());
    }
    let model = Model::open(output)?;
    if let (Some(error), Some(path)) = (unlogged, &arguments.log) {
        status(format_args!("{}: the log is incomplete: {error}", path.display()));
    }
    let unlinked = model.links_to().iter().all(|&links| links == 0);
    if learns_ranker(&params) && model.about()["hybrid"]["links"] == 0 {
        let links = if unlinked { "no" } else { "too few" };
        status(format_args!(
            "{links} links to learn the hybrid ranking from; it uses what was learnt from other collections"
        ));
    }
    if learns_ranker(&params) && !unlinked && Suggester::new(&model).is_err() {
        status("too few links to learn from where links belong: hd2v suggest needs more; hd2v recommend answers [[?]]");
    }
    if params.method.needs_links() && unlinked {
        status(format_args!(
            "no document links to another, so vectors come from words alone; if there should be links, hd2v doctor {} \
             shows what the import lost",
            arguments.corpus.display()
        ));
    }
    status(format_args!(
        "{}: {}, {}, {}; {seconds:.1} s",
        output.display(),
        count(model.documents() as u64, "document"),
        count(model.words() as u64, "word"),
        count(params.dim as u64, "dimension")
    ));
    if !arguments.no_index {
        vector_index::open_or_make_if_large(&model);
    }
    Ok(())
}

/// The flags that request these passes.
fn passes(params: &TrainParams) -> String {
    let before = params.content_epochs().map(|epochs| format!("--content-epochs {epochs} ")).unwrap_or_default();
    format!("{before}--epochs {}{}", params.epochs(), if params.hybrid { "" } else { " --no-hybrid" })
}

fn params(arguments: &TrainArgs, corpus: &Corpus) -> Result<TrainParams> {
    let method = match (arguments.method, &arguments.compat) {
        (None, None) => TrainParams::default().method,
        (None, Some(_)) => Method::HyperDocPaper,
        (Some(Method::W2v), None) if arguments.skip_gram => Method::SkipGram,
        (Some(method @ (Method::HyperDocPaper | Method::HyperDocRandom)), _) | (Some(method), None) => method,
        (Some(method), Some(_)) => {
            bail!(Error::Usage(format!("--compat is for h-d2v-paper and h-d2v-random, not for {method}")))
        }
    };
    let mut params = TrainParams::for_corpus(corpus);
    params.set_method(method);
    params.dim = arguments.dim.unwrap_or(params.dim);
    params.seed = arguments.seed;
    params.min_count = arguments.min_count.unwrap_or(params.min_count);
    params.until = arguments.until;
    params.hybrid = !arguments.no_hybrid;
    check_flags(arguments, method)?;
    if let Some(epochs) = arguments.content_epochs {
        params.set_content_epochs(epochs);
    }
    if let Some(window) = arguments.window {
        params.set_window(window);
    }
    if let Some(epochs) = arguments.epochs {
        params.set_epochs(epochs);
    }
    params.direct.dm_window = arguments.dm_window.or(params.direct.dm_window);
    if arguments.compat.is_some() {
        params.follow_authors_program();
    }
    if let Some(beyond) = arguments.beyond {
        params.reference.beyond = beyond;
        // The authors' program had one rule for everything, PV-DM included.
        if arguments.compat.is_some() && method == Method::HyperDocPaper {
            params.direct.beyond = beyond;
        }
    }
    params.reference.shift &= !arguments.no_shift;
    params.citation.patience = arguments.patience.unwrap_or(params.citation.patience);
    if let Some(loss) = arguments.loss {
        params.set_loss(loss);
    }
    match arguments.noise {
        Some(noise) if method == Method::Npm => params.npm.noise = noise,
        Some(noise) => (params.citation.noise, params.reference.noise) = (noise, noise),
        None => {}
    }
    params.citation.rate = arguments.rate.unwrap_or(params.citation.rate);
    params.citation.rarity = !arguments.no_rarity;
    params.citation.decay = arguments.decay.unwrap_or(params.citation.decay);
    Ok(params)
}

/// Refuses flags that would have no effect.
fn check_flags(arguments: &TrainArgs, method: Method) -> Result<()> {
    let noise = |method: Method| method.weighs_words() || method.has_paper_step() || method == Method::Npm;
    let content = |method| default_params(method).content_epochs().is_some();
    let skip_gram = |method| matches!(method, Method::W2v | Method::SkipGram);
    let flags: [(&str, bool, Takes); 10] = [
        ("--patience", arguments.patience.is_some(), Method::weighs_words),
        ("--loss", arguments.loss.is_some(), Method::weighs_words),
        ("--rate", arguments.rate.is_some(), Method::weighs_words),
        ("--decay", arguments.decay.is_some(), Method::weighs_words),
        ("--no-rarity", arguments.no_rarity, Method::weighs_words),
        ("--noise", arguments.noise.is_some(), noise),
        ("--dm-window", arguments.dm_window.is_some(), Method::has_dm),
        ("--content-epochs", arguments.content_epochs.is_some(), content),
        ("--beyond", arguments.beyond.is_some(), Method::has_paper_step),
        ("--skip-gram", arguments.skip_gram, skip_gram),
    ];
    for (flag, given, takes) in flags {
        ensure!(
            !given || takes(method),
            Error::Usage(format!("{flag} has no effect on {method}; it is for {}", names(takes)))
        );
    }
    Ok(())
}

fn log_line(progress: &TrainProgress, reporter: &TrainReporter) -> serde_json::Value {
    let (rate, left) = reporter.pace(progress).unzip();
    let short = |number: f64| (number * 1000.0).round() / 1000.0;
    json!({
        "phase": progress.phase,
        "epoch": progress.epoch + 1,
        "epochs": progress.epochs,
        "batch": progress.batch,
        "batches": progress.batches,
        "unit": progress.unit,
        "units": progress.units,
        "loss": progress.loss,
        "held_out_loss": progress.held_out,
        "kept_epoch": progress.kept.map(|epoch| epoch + 1),
        "seconds": short(reporter.seconds()),
        "units_a_second": rate.map(short),
        "seconds_left": left.map(short),
    })
}
