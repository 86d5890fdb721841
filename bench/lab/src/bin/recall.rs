//! The share of later links that the embedding finds after training on a part of a corpus: a tool for choosing defaults.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin recall -- CORPUS UNTIL|SHARE [OPTION=VALUE …]`
//!
//! The options are read in `main`: `dim`, `window`, `epochs`, `rate`, `decay`, `content` (passes of PV-DBOW) and so on.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::model::tables::Tables;
use hyperdoc2vec::internals::model::weighting::{WeightRule, Weighting};
use hyperdoc2vec::internals::train::Phase;
use hyperdoc2vec::internals::train::citation::Citation;
use hyperdoc2vec::internals::train::content::Content;
use hyperdoc2vec::model::CitationParams;
use hyperdoc2vec::model::ContentParams;
use hyperdoc2vec::model::LossFunction;
use hyperdoc2vec_lab::{partners, recall};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let corpus = hyperdoc2vec::Corpus::open(&args[1]).unwrap();
    let split = match args[2].parse() {
        Ok(date) => Split::by_date(&corpus, date).unwrap(),
        Err(_) => Split::by_share(&corpus, args[2].parse().unwrap(), 1).unwrap(),
    };
    let get = |name: &str, default: f32| {
        args.iter().find_map(|a| a.strip_prefix(&format!("{name}="))).map_or(default, |v| v.parse().unwrap())
    };
    let dim = get("dim", 100.0) as usize;
    let window = get("window", 50.0) as usize;
    let mut params = CitationParams::default();
    params.epochs = get("epochs", 8.0) as usize;
    params.batch = get("batch", 512.0) as usize;
    params.noise = get("noise", 64.0) as usize;
    params.rate = get("rate", 0.3);
    params.decay = get("decay", 20.0);
    params.rarity = get("rarity", 1.0) > 0.0;
    params.loss = match get("loss", 0.0) as usize {
        0 => LossFunction::SampledSoftmax,
        1 => LossFunction::FullSoftmax,
        _ => LossFunction::NegativeSampling,
    };
    params.noise_weight = get("weight", 1.0);
    params.source_words = get("swords", 0.0) as usize;
    params.source_weight = get("sweight", 0.5);
    let threads = get("threads", 2.0) as usize;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().unwrap();
    let t = Instant::now();
    let view = View::new(&corpus, &split, 5).unwrap();
    println!(
        "{} documents {} words {} links; view {:?}",
        view.documents.len(),
        view.words.len(),
        view.links.len(),
        t.elapsed()
    );
    let mut tables = Tables::zeros(&view, dim);
    tables.input.fill(0..view.table_rows(), dim, 1, 1);
    let mut text = ContentParams::default();
    text.epochs = get("content", 0.0) as usize;
    text.document_rate = get("drate", 0.05);
    text.word_rate = get("wrate", 0.1);
    text.negatives = get("neg", 5.0);
    text.sample = get("sample", 1e-3);
    text.noise = get("dnoise", 512.0) as usize;
    text.batch = get("dbatch", 256.0) as usize;
    rayon::scope(|_| {
        let content = Content::new(&view, &text, 1);
        for epoch in 0..text.epochs {
            let t = Instant::now();
            let (mut loss, mut words) = (0.0, 0);
            let _ = content.epoch(epoch, 0, &mut tables, &mut |done, _| {
                loss += done.loss;
                words += done.units;
                std::ops::ControlFlow::Continue(())
            });
            let s = t.elapsed().as_secs_f64();
            println!("content {epoch} loss {:.4} {:.1} s {:.0} words/s", loss / words as f64, s, words as f64 / s);
            if epoch + 1 == text.epochs || epoch == 0 {
                println!("link partners among the 10 nearest: {:.2} %", 100.0 * partners(&view, &tables.input));
            }
        }
        let citation = Citation::new(&view, &params, window, 1);
        let citation = if text.epochs > 0 { citation.from_content() } else { citation };
        citation.prepare(&mut tables);
        for epoch in 0..params.epochs {
            let t = Instant::now();
            let (mut loss, mut links) = (0.0, 0);
            let _ = citation.epoch(epoch, 0, &mut tables, &mut |done, _| {
                loss += done.loss;
                links += done.units;
                std::ops::ControlFlow::Continue(())
            });
            let s = t.elapsed().as_secs_f64();
            println!("epoch {epoch} loss {:.4} {:.1} s {:.0} links/s", loss / links as f64, s, links as f64 / s);
        }
        let weighting = Weighting::new(&view, window, WeightRule { decay: params.decay, rarity: params.rarity });
        for source in [0.0, 0.2, 0.4, 0.7, 1.0] {
            println!(
                "source {source} recall@10 {:.2} %",
                100.0 * recall(&view, &split, &tables, window, &weighting, source)
            );
        }
    });
}
