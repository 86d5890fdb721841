//! The examination of a model file, and of the files beside it.

use anyhow::Result;
use hyperdoc2vec::map::{self, DocumentMap};
use hyperdoc2vec::model::{Sidecar, Vectors};
use hyperdoc2vec::search::{ApproximateIndex, index_path};
use hyperdoc2vec::{Error, Model};
use serde_json::{Value, json};

use crate::output::{count, thousands};

/// Findings about a model whose checksums fit.
pub struct Examination {
    sealed: bool,
    documents: u64,
    vocabulary: u64,
    program: String,
    version: u64,
    vectors: Vec<VectorsExamined>,
    hybrid: Value,
    sidecars: Vec<(&'static str, String)>,
}

/// One of the four matrices.
struct VectorsExamined {
    name: &'static str,
    rows: usize,
    /// Rows of zeros only: nothing was learnt of them.
    zero: usize,
    /// Rows with a number that is not finite.
    not_finite: usize,
}

impl Examination {
    pub fn new(model: &Model) -> Result<Examination> {
        let about = model.about();
        let examined = |which: Vectors| {
            let matrix = model.stored_vectors(which);
            let rows = || (0..matrix.rows()).map(|row| matrix.row(row));
            VectorsExamined {
                name: which.name(),
                rows: matrix.rows(),
                zero: rows().filter(|row| row.iter().all(|&x| x == 0.0)).count(),
                not_finite: rows().filter(|row| row.iter().any(|x| !x.is_finite())).count(),
            }
        };
        Ok(Examination {
            sealed: model.is_sealed(),
            documents: model.documents() as u64,
            vocabulary: model.words() as u64,
            program: about["program"].as_str().unwrap_or("?").to_owned(),
            version: about["version"].as_u64().unwrap_or(0),
            vectors: [Vectors::WordIn, Vectors::WordOut, Vectors::DocIn, Vectors::DocOut].map(examined).into(),
            hybrid: about["hybrid"].clone(),
            sidecars: vec![
                ("index", state(ApproximateIndex::open(model, &index_path(model)))?),
                ("map", state(DocumentMap::open(model, &map::path(model)))?),
            ],
        })
    }

    pub fn json(&self) -> Value {
        let vectors: serde_json::Map<String, Value> = self
            .vectors
            .iter()
            .map(|v| (v.name.to_owned(), json!({"rows": v.rows, "zero": v.zero, "not_finite": v.not_finite})))
            .collect();
        let sidecars: serde_json::Map<String, Value> =
            self.sidecars.iter().map(|(kind, state)| ((*kind).to_owned(), json!(state))).collect();
        json!({
            "kind": "doctor",
            "intact": true,
            "description_checked": self.sealed,
            "program": self.program,
            "version": self.version,
            "documents": self.documents,
            "vocabulary": self.vocabulary,
            "vectors": vectors,
            "hybrid": self.hybrid,
            "sidecars": sidecars,
        })
    }

    pub fn report(&self) -> String {
        let mut out = format!(
            "intact: {}, {} with vectors; all checksums match\nwritten by program {} in version {} of the format",
            count(self.documents, "document"),
            count(self.vocabulary, "word"),
            self.program,
            self.version,
        );
        out.push_str(if self.sealed { "\n" } else { ": its description has no checksum and was not checked\n" });
        for VectorsExamined { name, rows, zero, not_finite } in &self.vectors {
            let [rows, zero] = [*rows, *zero].map(|number| thousands(number as u64));
            out.push_str(&format!("{name:8}  {rows} vectors, {zero} of them zero\n"));
            if *not_finite > 0 {
                out.push_str(&format!("{name:8}  {not_finite} with numbers that are not finite: train again\n"));
            }
        }
        match &self.hybrid {
            Value::Null => out.push_str("no learnt ranking: questions are answered by another\n"),
            hybrid => {
                let links = thousands(hybrid["links"].as_u64().unwrap_or(0));
                out.push_str(&format!("learnt ranking, from {links} held-out links\n"));
                // Earlier versions looked at all candidates.
                let what = if hybrid["scales"].is_null() { "candidates" } else { "first hits" };
                for bin in hybrid["calibration"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|bin| bin["candidates"].as_f64() > Some(0.0))
                {
                    let percent = |name: &str| bin[name].as_f64().unwrap_or(0.0) * 100.0;
                    let candidates = thousands(bin["candidates"].as_f64().unwrap_or(0.0) as u64);
                    out.push_str(&format!(
                        "  predicted {:5.1} %, right {:5.1} % of {candidates} {what}\n",
                        percent("predicted"),
                        percent("observed"),
                    ));
                }
            }
        }
        for (kind, state) in &self.sidecars {
            out.push_str(&format!("{kind}: {state}\n"));
        }
        out
    }
}

fn state<T>(sidecar: Result<Sidecar<T>, Error>) -> Result<String> {
    // One of a newer program is as foreign as any other file.
    let sidecar = match sidecar {
        Err(Error::Foreign { what, .. }) => Sidecar::Foreign(what),
        sidecar => sidecar?,
    };
    Ok(match sidecar {
        Sidecar::Whole(_) => "whole".to_owned(),
        Sidecar::Missing => "none".to_owned(),
        Sidecar::Stale => "belongs to another model; it will be rebuilt when needed".to_owned(),
        Sidecar::Damaged(what) => format!("damaged: {what}; remove it, or rebuild it"),
        Sidecar::Foreign(what) => what,
    })
}
