//! Metrics and the SVM against values recorded from scikit-learn and trec_eval (`data/evaluate/make.py`).

use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::evaluate::metrics::{Profile, average_precision, f1, ndcg, recall, reciprocal_rank};
use crate::evaluate::svm::{Gamma, Svm, SvmParams};
use crate::evaluate::{Findings, HeldOutLinks, MethodPlaces, comparisons_json, data_json, methods_json, split_json};
use crate::kernel::Matrix;
use crate::tests::corpus::corpus;
use serde::Deserialize;
use serde_json::json;

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

/// Old documents a to d, of which only a and b are linked to; a new one with three positions.
fn newcomers() -> (tempfile::TempDir, crate::Corpus) {
    let old = ["a (2000): one [[b]]", "b (2001): two [[a]]", "c (2001): three", "d (2002): four"];
    let new = "n (2005): five [[a|c]] six [[d]] seven [[b]] eight";
    corpus(&[old.as_slice(), &[new]].concat())
}

#[test]
fn positions_with_a_newcomer_are_counted_in_the_papers_way_and_strictly() {
    let (_dir, corpus) = newcomers();
    let split = Split::by_date(&corpus, "2002".parse().expect("a date")).expect("a split");
    let view = View::new(&corpus, &split, 1).expect("a view");
    let asked = HeldOutLinks::new(&view, &split, 1).expect("questions");
    assert_eq!(split_json(&view, &split, &asked)["newcomer_positions"], 2, "c and d are newcomers");
    // The truths are a, c; d; b.
    let cell = |method: &str, places: [u32; 4]| {
        let cell = json!({"method": method, "anchors": true, "places": places, "train_seconds": 0, "query_seconds": 0});
        serde_json::from_value::<MethodPlaces>(cell).expect("a cell of an earlier version")
    };
    let cells = [cell("found", [2, 0, 5, 1]), cell("lost", [0, 0, 0, 1])];
    let findings = Findings::new(&view, &split, &asked, &cells, 1);
    let report = methods_json(&findings, Profile::Paper, None);
    let found = &report[0]["newcomer_positions"];
    assert_eq!(found["positions"], 2);
    // The first position has half of its truths at place 2, the second its only one at 5; the third has no newcomer.
    let gain = |place: f64| 1.0 / (place + 1.0).log2();
    for (metric, expected) in [
        ("recall@10", (0.5 + 1.0) / 2.0),
        ("map@10", (0.5 + 0.2) / 2.0),
        ("mrr@10", (0.5 + 0.2) / 2.0),
        ("ndcg@10", (gain(2.0) / (gain(1.0) + gain(2.0)) + gain(5.0)) / 2.0),
    ] {
        let value = found[metric].as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-6, "{metric}: {value}");
    }
    // Strictly, c is lost and d found: the truth a does not count.
    assert_eq!((&report[0]["newcomers"]["positions"], &report[0]["newcomers"]["recall@10"]), (&json!(2), &json!(0.5)));
    assert_eq!(report[1]["newcomer_positions"]["recall@10"], 0.0);
    let compared = &comparisons_json(&findings)[0];
    assert_eq!(compared["newcomer_positions"]["difference"], 0.75);
    assert_eq!(compared["newcomers"]["difference"], 0.5);
    assert_eq!(compared["difference"], 0.5, "(0.5 + 1 + 0) / 3");
}

#[test]
fn the_data_of_a_split_are_counted_as_in_table_3() {
    let (_dir, corpus) = newcomers();
    let split = Split::by_date(&corpus, "2002".parse().expect("a date")).expect("a split");
    let view = View::new(&corpus, &split, 1).expect("a view");
    assert_eq!(
        data_json(&view, &split),
        json!({
            "train": {"documents": 4, "links": 2, "dates": ["2000", "2002"]},
            "test": {"documents": 1, "links": 4, "dates": ["2005", "2005"]},
            "total": {"documents": 5, "links": 6, "dates": ["2000", "2005"]},
        })
    );
}
