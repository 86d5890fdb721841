//! Metrics and the SVM against values recorded from scikit-learn and trec_eval (`data/evaluate/make.py`).

use crate::evaluate::metrics::{Profile, average_precision, f1, ndcg, recall, reciprocal_rank};
use crate::evaluate::svm::{Gamma, Svm, SvmParams};
use crate::kernel::Matrix;
use serde::Deserialize;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn rankings_are_judged_as_trec_eval_does() {
    #[derive(Deserialize)]
    struct Case {
        places: Vec<u32>,
        truths: usize,
        recall: f64,
        map: f64,
        mrr: f64,
        ndcg: f64,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/data/evaluate/trec.json")).expect("JSON");
    assert_eq!(cases.len(), 60);
    for Case { places, truths, recall: r, map, mrr, ndcg: gain } in cases {
        assert!(near(recall(&places, truths, 10), r), "{places:?}");
        assert!(near(average_precision(&places, truths, 10, Profile::Trec), map), "{places:?}");
        assert!(near(reciprocal_rank(&places, 10), mrr), "{places:?}");
        assert!(near(ndcg(&places, truths, 10), gain), "{places:?}");
    }
}

#[test]
fn f1_is_that_of_scikit_learn() {
    #[derive(Deserialize)]
    struct Case {
        classes: Vec<Option<f64>>,
        truths: Vec<u32>,
        predictions: Vec<u32>,
        r#macro: f64,
        micro: f64,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/data/evaluate/f1.json")).expect("JSON");
    for case in cases {
        let found = f1(&case.truths, &case.predictions, case.classes.len());
        assert!(near(found.macro_f1, case.r#macro) && near(found.micro_f1, case.micro), "{found:?}");
        for (a, b) in found.classes.iter().zip(&case.classes) {
            assert!(a.zip(*b).is_some_and(|(a, b)| near(a, b)) || (a.is_none() && b.is_none()), "{found:?}");
        }
    }
}

#[test]
fn the_svm_predicts_as_that_of_scikit_learn() {
    #[derive(Deserialize)]
    struct Recorded {
        dim: usize,
        train: Vec<f32>,
        classes: Vec<u32>,
        test: Vec<f32>,
        truths: Vec<u32>,
        cases: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Case {
        c: f64,
        gamma: Option<f32>,
        predictions: Vec<u32>,
    }
    let recorded: Recorded = serde_json::from_str(include_str!("../../tests/data/evaluate/svm.json")).expect("JSON");
    let matrix = |data| Matrix::new(data, <[f32]>::len(data) / recorded.dim, recorded.dim, recorded.dim);
    for Case { c, gamma, predictions } in recorded.cases {
        let params = SvmParams { c, gamma: gamma.map_or(Gamma::Auto, Gamma::Of), ..SvmParams::default() };
        let found = Svm::fit(matrix(&recorded.train), &recorded.classes, &params).predict(matrix(&recorded.test));
        let same = found.iter().zip(&predictions).filter(|(a, b)| a == b).count();
        assert!(same * 100 >= 99 * predictions.len(), "C {c}: {same} of {} agree", predictions.len());
        let right = found.iter().zip(&recorded.truths).filter(|(a, b)| a == b).count();
        assert!(gamma.is_some() || right * 2 > found.len(), "C {c}: {right} of {} right", found.len());
    }
}
