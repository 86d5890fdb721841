//! Trains on a part of a corpus and tells how many later links the embedding finds: a tool for choosing defaults.
//!
//! `cargo run --release --example recall -- CORPUS UNTIL`
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use hyperdoc2vec::kernel::{Matrix, MatrixMut, Panels, Start, gather_sum, multiply, pack_transposed};
use hyperdoc2vec::split::Split;
use hyperdoc2vec::train::citation::{Citation, CitationParams, Weighting};
use hyperdoc2vec::train::dbow::{Dbow, DbowParams};
use hyperdoc2vec::train::table::Table;
use hyperdoc2vec::train::view::View;
use hyperdoc2vec::train::{Phase, Tables};
use std::time::Instant;

/// Share of a document's link partners among its 10 nearest by the cosine of IN vectors.
fn partners(view: &View<'_>, table: &Table) {
    let (v, d, stride) = (view.words.len(), view.documents.len(), table.stride());
    let mut unit = table.data()[v * stride..].to_vec();
    for row in unit.chunks_mut(stride) {
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
        row.iter_mut().for_each(|x| *x /= norm);
    }
    let mut linked = vec![std::collections::BTreeSet::new(); d];
    for link in &view.links {
        let s = view.document_row(view.corpus.position(link.position as usize).source).unwrap() as usize - v;
        let t = link.target as usize - v;
        linked[s].insert(t);
        linked[t].insert(s);
    }
    let docs: Vec<usize> = (0..d).filter(|&i| !linked[i].is_empty()).step_by(5).collect();
    let (mut found, mut total) = (0, 0);
    for block in docs.chunks(256) {
        let x: Vec<f32> = block.iter().flat_map(|&i| unit[i * stride..][..stride].to_vec()).collect();
        let mut scratch = vec![0.0; Panels::len(stride, block.len())];
        let panels = pack_transposed(Matrix::new(&x, block.len(), stride, stride), &mut scratch);
        let mut s = vec![0f32; d * block.len()];
        multiply(
            Matrix::new(&unit, d, stride, stride),
            panels,
            MatrixMut::new(&mut s, d, block.len(), block.len()),
            Start::Zero,
        );
        for (i, &doc) in block.iter().enumerate() {
            let mut top: Vec<(f32, usize)> =
                (0..d).filter(|&j| j != doc).map(|j| (-s[j * block.len() + i], j)).collect();
            top.select_nth_unstable_by(9, |a, b| a.partial_cmp(b).unwrap());
            found += top[..10].iter().filter(|(_, j)| linked[doc].contains(j)).count();
            total += linked[doc].len().min(10);
        }
    }
    println!("link partners among the 10 nearest: {:.2} %", 100.0 * found as f64 / total as f64);
}

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
    let params = CitationParams {
        epochs: get("epochs", 8.0) as usize,
        batch: get("batch", 512.0) as usize,
        noise: get("noise", 64.0) as usize,
        rate: get("rate", 0.3),
        decay: get("decay", 20.0),
        rarity: get("rarity", 1.0) > 0.0,
    };
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
    let queries = split.queries(&corpus);
    let mut tables = Tables { input: Table::new(view.rows(), dim), output: Table::new(view.rows(), dim) };
    tables.input.fill(0..view.rows(), dim, 1, 1);
    let dbow = DbowParams {
        epochs: get("content", 0.0) as usize,
        document_rate: get("drate", 0.05),
        word_rate: get("wrate", 0.1),
        negatives: get("neg", 5.0),
        sample: get("sample", 1e-3),
        noise: get("dnoise", 512.0) as usize,
        batch: get("dbatch", 256.0) as usize,
    };
    rayon::scope(|_| {
        let content = Dbow::new(&view, &dbow, 1);
        for epoch in 0..dbow.epochs {
            let t = Instant::now();
            let (mut loss, mut words) = (0.0, 0);
            let _ = content.epoch(epoch, 0, &mut tables, &mut |done, _| {
                loss += done.loss;
                words += done.units;
                std::ops::ControlFlow::Continue(())
            });
            let s = t.elapsed().as_secs_f64();
            println!("content {epoch} loss {:.4} {:.1} s {:.0} words/s", loss / words as f64, s, words as f64 / s);
            if epoch + 1 == dbow.epochs || epoch == 0 {
                partners(&view, &tables.input);
            }
        }
        let citation = Citation::new(&view, &params, window, 1);
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
        let weighting = Weighting::new(&view, window, params.decay, params.rarity);
        let Tables { input, output } = &tables;
        let stride = input.stride();
        let (mut found, mut newcomers, mut newfound) = (0.0, 0, 0.0);
        let v = view.words.len();
        let d = view.documents.len();
        let docs = &output.data()[v * stride..];
        for block in queries.chunks(256) {
            let mut x = vec![0f32; block.len() * stride];
            for (q, row) in block.iter().zip(x.chunks_mut(stride)) {
                let (mut ids, mut ws) = (vec![], vec![]);
                view.context(q.position, window, |w, dist| {
                    ids.push(w);
                    ws.push(weighting.of(w, dist));
                });
                let total: f32 = ws.iter().sum();
                ws.iter_mut().for_each(|w| *w /= total.max(1e-9));
                gather_sum(input.matrix(), &ids, &ws, row);
            }
            let mut scratch = vec![0.0; Panels::len(stride, block.len())];
            let panels = pack_transposed(Matrix::new(&x, block.len(), stride, stride), &mut scratch);
            let mut s = vec![0f32; d * block.len()];
            multiply(
                Matrix::new(docs, d, stride, stride),
                panels,
                MatrixMut::new(&mut s, d, block.len(), block.len()),
                Start::Zero,
            );
            for (i, q) in block.iter().enumerate() {
                let truths: Vec<usize> = q.truths.iter().map(|&t| view.document_row(t).unwrap() as usize - v).collect();
                let mut f = 0.0;
                for (&t, &doc) in truths.iter().zip(&q.truths) {
                    let score = s[t * block.len() + i];
                    let better = (0..d)
                        .filter(|&j| s[j * block.len() + i] > score || (s[j * block.len() + i] == score && j < t))
                        .count();
                    if better < 10 {
                        f += 1.0;
                    }
                    if split.is_newcomer(doc) {
                        newcomers += 1;
                        newfound += f32::from(better < 10);
                    }
                }
                found += f / truths.len() as f32;
            }
        }
        println!(
            "recall@10 {:.2} % of {} positions; newcomers {:.1} of {}",
            100.0 * found / queries.len() as f32,
            queries.len(),
            newfound,
            newcomers
        );
    });
}
