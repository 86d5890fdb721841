//! How well the map keeps neighbourhoods.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin map -- MODEL`
//!
//! For up to 2,000 documents at regular steps: the share of the 10 nearest by vector that are among the 10 and the 30
//! nearest on the map, and how many of the 10 nearest (by vector, on the map, at random) share a label with the document.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use hyperdoc2vec::Model;
use hyperdoc2vec::internals::search::rank::{self, nearest};
use hyperdoc2vec::map::layout;
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec_lab::cpu_seconds;

const ASKED: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::open(std::env::args().nth(1).ok_or("expected a model")?)?;
    let vectors = model.vectors(Vectors::DocIn);
    let (started, worked) = (Instant::now(), cpu_seconds());
    let places = layout(vectors, &mut |_| ControlFlow::Continue(()))?;
    let (seconds, worked) = (started.elapsed().as_secs_f64(), cpu_seconds() - worked);
    let count = model.documents();
    let shares_label = |a: usize, b: usize| model.label_ids(a).iter().any(|label| model.label_ids(b).contains(label));
    let (mut asked, mut labelled) = (0, 0);
    let (mut kept, mut pure) = ([0; 2], [0; 3]);
    for document in (0..count).step_by(count.div_ceil(ASKED)).filter(|&row| vectors.row(row).iter().any(|&x| x != 0.0))
    {
        let true_ones: Vec<u32> = nearest(vectors, document, 10).iter().map(|hit| hit.row).collect();
        let [x, y] = places[document];
        let close: Vec<f32> = places.iter().map(|&[a, b]| -((a - x).powi(2) + (b - y).powi(2))).collect();
        let shown: Vec<u32> = rank::top(&close, 30, |row| row != document).iter().map(|hit| hit.row).collect();
        for (kept, among) in kept.iter_mut().zip([10, 30]) {
            *kept += shown.iter().take(among).filter(|row| true_ones.contains(row)).count();
        }
        asked += true_ones.len();
        if !model.label_ids(document).is_empty() {
            let random: Vec<u32> = (1..=10).map(|i| ((document + i * count / 11) % count) as u32).collect();
            for (pure, near) in pure.iter_mut().zip([&true_ones[..], &shown[..10.min(shown.len())], &random]) {
                *pure += near.iter().filter(|&&row| shares_label(document, row as usize)).count();
            }
            labelled += true_ones.len();
        }
    }
    let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
    eprintln!("{count} documents in {seconds:.1} s on {} threads, {worked:.1} CPU s", rayon::current_num_threads());
    eprintln!(
        "of the 10 nearest, among 10 on the map {:.1} %, among 30 {:.1} %",
        share(kept[0], asked),
        share(kept[1], asked)
    );
    let [vectors, map, random] = pure.map(|pure| share(pure, labelled));
    eprintln!(
        "of 10 neighbours with the same label: by vector {vectors:.1} %, on the map {map:.1} %, at random {random:.1} %"
    );
    Ok(())
}
