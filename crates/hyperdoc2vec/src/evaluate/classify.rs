//! Classification by cross-validation: every item is predicted by a machine that did not see it.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::metrics::f1;
use super::report::round;
use super::stats::{compare, interval};
use super::svm::{Svm, SvmParams};
use crate::error::{Error, Result};
use crate::kernel::Matrix;

/// The prediction for each row of `data`, made by a machine fitted to the rows of the other folds. `watch` is called for
/// each fold that is done, and may stop.
pub(crate) fn cross_validate(
    data: Matrix<'_>,
    classes: &[u32],
    folds: &[u32],
    params: &SvmParams,
    watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<u32>> {
    let mut predictions = vec![0; classes.len()];
    let count = folds.iter().max().map_or(0, |&last| last + 1);
    let part = |rows: &[usize]| -> Vec<f32> { rows.iter().flat_map(|&row| data.row(row)).copied().collect() };
    for fold in 0..count {
        let (asked, known): (Vec<usize>, Vec<usize>) = (0..classes.len()).partition(|&row| folds[row] == fold);
        let (train, test) = (part(&known), part(&asked));
        let truths: Vec<u32> = known.iter().map(|&row| classes[row]).collect();
        let machine = Svm::fit(Matrix::new(&train, known.len(), data.cols(), data.cols()), &truths, params);
        let found = machine.predict(Matrix::new(&test, asked.len(), data.cols(), data.cols()));
        asked.iter().zip(found).for_each(|(&row, class)| predictions[row] = class);
        if watch(fold as usize).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(predictions)
}

/// F1 of all predictions together, macro and micro with intervals (items drawn with replacement), and by class.
pub(crate) fn figures(truths: &[u32], predictions: &[u32], names: &[String], seed: u64) -> Value {
    let found = f1(truths, predictions, names.len());
    let drawn = |drawn: &[u32]| -> (Vec<u32>, Vec<u32>) {
        drawn.iter().map(|&item| (truths[item as usize], predictions[item as usize])).unzip()
    };
    let ends = |value: &(dyn Fn(&super::metrics::F1) -> f64 + Sync)| {
        let (low, high) = interval(truths.len(), seed, |items| {
            let (truths, predictions) = drawn(items);
            value(&f1(&truths, &predictions, names.len()))
        });
        json!([round(low), round(high)])
    };
    let class = |(number, name): (usize, &String)| {
        let members = truths.iter().filter(|&&class| class as usize == number).count();
        json!({"name": name, "members": members, "f1": found.classes[number].map(round)})
    };
    json!({
        "macro_f1": round(found.macro_f1),
        "micro_f1": round(found.micro_f1),
        "interval": {"macro_f1": ends(&|f1| f1.macro_f1), "micro_f1": ends(&|f1| f1.micro_f1)},
        "classes": names.iter().enumerate().map(class).collect::<Vec<Value>>(),
    })
}

/// Whether one set of predictions is right more often than another: the difference of micro F1, its interval, p.
pub(crate) fn comparison(truths: &[u32], a: &[u32], b: &[u32], seed: u64) -> Value {
    let right = |predictions: &[u32]| -> Vec<f64> {
        truths.iter().zip(predictions).map(|(truth, found)| f64::from(u8::from(truth == found))).collect()
    };
    let items: Vec<u32> = (0..truths.len() as u32).collect();
    let compared = compare(&right(a), &right(b), &items, seed);
    let difference = compared.difference;
    json!({"difference": round(difference.mean), "interval": [round(difference.low), round(difference.high)], "p": compared.p})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_told_apart_by_machines_that_did_not_see_them() {
        let data: Vec<f32> = (0..60).map(|i| (i % 3) as f32 * 4.0 + (i / 3) as f32 * 0.02).collect();
        let classes: Vec<u32> = (0..60).map(|i| i % 3).collect();
        let folds: Vec<u32> = (0..60).map(|i| i / 3 % 5).collect();
        let mut told = Vec::new();
        let mut watch = |fold| {
            told.push(fold);
            ControlFlow::Continue(())
        };
        let data = Matrix::new(&data, 60, 1, 1);
        let found = cross_validate(data, &classes, &folds, &SvmParams::default(), &mut watch).expect("predictions");
        assert_eq!(found, classes);
        assert_eq!(told, [0, 1, 2, 3, 4]);
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let figures = figures(&classes, &found, &names, 1);
        assert_eq!((&figures["macro_f1"], &figures["micro_f1"]), (&json!(1.0), &json!(1.0)));
        assert_eq!(figures["classes"][1], json!({"name": "b", "members": 20, "f1": 1.0}));
        assert_eq!(comparison(&classes, &found, &vec![0; 60], 1)["p"], json!(0.0001));
        let stopped = cross_validate(data, &classes, &folds, &SvmParams::default(), &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(Error::Interrupted)));
    }
}
