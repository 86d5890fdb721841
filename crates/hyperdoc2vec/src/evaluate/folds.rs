//! Cross-validation: documents dealt out to folds, each class evenly.

use crate::error::{Error, Result};
use crate::rng::Rng;

const PURPOSE: u64 = 0xf01d;

/// The fold of each item, from 0 to `folds`. Members of a class are shuffled by the seed and dealt out in turn, going on
/// where the class before stopped, so that folds differ by at most one item a class and one in all.
///
/// `names` are the classes' names, for the message where one has fewer members than there are folds; `advice` is what to do
/// where there are not two classes.
pub(crate) fn stratified(classes: &[u32], names: &[String], folds: usize, seed: u64, advice: &str) -> Result<Vec<u32>> {
    if folds < 2 {
        return Err(Error::Usage(format!("folds is {folds}, but must be 2 or more")));
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (item, &class) in classes.iter().enumerate() {
        members[class as usize].push(item);
    }
    let there: Vec<usize> = (0..names.len()).filter(|&class| !members[class].is_empty()).collect();
    if there.len() < 2 {
        let found = there.first().map_or("none".to_owned(), |&class| format!("only {:?}", names[class]));
        return Err(Error::Usage(format!("classification needs two classes or more, and there is {found}; {advice}")));
    }
    let small: Vec<usize> = there.iter().copied().filter(|&class| members[class].len() < folds).collect();
    if let Some(&class) = small.first() {
        let more = if small.len() > 1 { format!(" (and {} more classes)", small.len() - 1) } else { String::new() };
        return Err(Error::Usage(format!(
            "class {:?} has {} of the {folds} members that {folds} folds need{more}; \
             take fewer folds, or leave out classes of fewer than {folds} members",
            names[class],
            members[class].len(),
        )));
    }
    let mut fold_of = vec![0; classes.len()];
    let mut next = 0;
    for (class, members) in members.iter_mut().enumerate() {
        Rng::keyed(seed, &[PURPOSE, class as u64]).shuffle(members);
        for &item in members.iter() {
            fold_of[item] = (next % folds) as u32;
            next += 1;
        }
    }
    Ok(fold_of)
}

/// Of `count` classes those of `least` members or more, rising; and the others that have any, with how many.
pub(super) fn by_size(classes: &[u32], count: usize, least: usize) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut members = vec![0usize; count];
    classes.iter().for_each(|&class| members[class as usize] += 1);
    let there = members.into_iter().enumerate().filter(|&(_, members)| members > 0);
    let (large, small): (Vec<_>, Vec<_>) = there.partition(|&(_, members)| members >= least);
    (large.into_iter().map(|(class, _)| class).collect(), small)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| format!("c{class}")).collect()
    }

    #[test]
    fn every_fold_has_its_share_of_every_class() {
        let classes: Vec<u32> = (0..103).map(|i| u32::from(i % 5 == 0) + u32::from(i % 3 == 0)).collect();
        let folds = stratified(&classes, &names(3), 5, 1, "").expect("folds");
        for class in 0..3 {
            let count = |fold| (0..103).filter(|&i| classes[i] == class && folds[i] == fold).count();
            let counts: Vec<usize> = (0..5).map(count).collect();
            assert!(counts.iter().max().zip(counts.iter().min()).is_some_and(|(a, b)| a - b <= 1), "{counts:?}");
        }
        let sizes: Vec<usize> = (0..5).map(|fold| folds.iter().filter(|&&f| f == fold).count()).collect();
        assert!(sizes.iter().all(|&size| size == 20 || size == 21), "{sizes:?}");
        assert_eq!(folds, stratified(&classes, &names(3), 5, 1, "").expect("folds"));
        assert_ne!(folds, stratified(&classes, &names(3), 5, 2, "").expect("folds"));
    }

    #[test]
    fn what_cannot_be_dealt_out_is_told() {
        let told = |classes: &[u32], folds| {
            stratified(classes, &names(3), folds, 1, "label more").expect_err("refused").to_string()
        };
        assert_eq!(told(&[0; 9], 3), "classification needs two classes or more, and there is only \"c0\"; label more");
        assert!(told(&[], 3).ends_with("there is none; label more"));
        assert!(
            told(&[0, 0, 0, 1, 1, 2], 3)
                .starts_with("class \"c1\" has 2 of the 3 members that 3 folds need (and 1 more")
        );
        assert_eq!(told(&[0, 1], 1), "folds is 1, but must be 2 or more");
    }
}
