//! Tables for people: columns below each other, the first to the left, the others to the right.
//!
//! Ours, not a crate for tables: it takes a page, and hidden characters are shown as everywhere (`output::cell`).

use crate::output::cell;

/// Rows under their heads.
pub fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let heads: Vec<String> = heads.iter().map(|head| cell(head)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<String>>().join("  ").trim_end().to_owned() + "\n"
    };
    [&heads].into_iter().chain(&rows).map(line).collect()
}

/// A share of 1 as a percentage.
pub fn percent(value: &serde_json::Value) -> String {
    value.as_f64().map_or_else(String::new, |share| format!("{:.1}", 100.0 * share))
}

/// `±`-like: the ends of an interval, as percentages.
pub fn ends(value: &serde_json::Value) -> String {
    match (value[0].as_f64(), value[1].as_f64()) {
        (Some(low), Some(high)) => format!("{:.1}-{:.1}", 100.0 * low, 100.0 * high),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["méthode".to_owned(), "12.5".to_owned()]];
        assert_eq!(table(&["m", "recall"], &rows), "m        recall\na             1\nméthode    12.5\n");
        assert_eq!(percent(&serde_json::json!(0.1234)), "12.3");
        assert_eq!(ends(&serde_json::json!([0.1, 0.25])), "10.0-25.0");
    }
}
