//! Run and qrels files, as trec_eval reads them, so that others can check the figures.
//!
//! ```text
//! run     question Q0 document rank score method
//! qrels   question 0 document 1
//! ```
//! Fields end at white space, so white space and `%` in ids are written `%20`, `%25` and so on. trec_eval goes by the
//! score alone, as a float, and settles ties by names; ours are settled by numbers. So a score that is not below the one
//! before it is lowered to the next float below.

use std::io::{self, Write};

use crate::search::Hit;

/// An id without white space.
pub(crate) fn escaped(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        if c.is_whitespace() || c.is_control() || c == '%' {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// The next smaller number.
fn below(score: f32) -> f32 {
    if score == f32::NEG_INFINITY { score } else { score.next_down() }
}

/// Writes the hits of one question, best first; `name` gives the id of a row.
pub(crate) fn write_run<'a>(
    out: &mut (impl Write + ?Sized),
    question: &str,
    hits: &[Hit],
    name: impl Fn(u32) -> &'a str,
    method: &str,
) -> io::Result<()> {
    let mut last = f32::INFINITY;
    for (place, hit) in hits.iter().enumerate() {
        let score = if hit.score.is_nan() { f32::MIN } else { hit.score.clamp(f32::MIN, f32::MAX) };
        last = if score < last { score } else { below(last) };
        // Nine digits tell any two floats apart.
        writeln!(out, "{question} Q0 {} {} {last:.9e} {method}", escaped(name(hit.row)), place + 1)?;
    }
    Ok(())
}

/// Writes the truths of one question.
pub(crate) fn write_qrels<'a>(
    out: &mut (impl Write + ?Sized),
    question: &str,
    truths: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    for truth in truths {
        writeln!(out, "{question} 0 {} 1", escaped(truth))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_fall_from_line_to_line_even_where_they_tie() {
        let hits = [(3, 2.0), (1, 2.0), (2, 2.0), (0, -1e-30), (4, f32::NAN)].map(|(row, score)| Hit { row, score });
        let mut out = Vec::new();
        let names = ["a", "b b", "c%", "d", "e"];
        write_run(&mut out, "q:1", &hits, |row| names[row as usize], "popular").expect("written");
        let text = String::from_utf8(out).expect("UTF-8");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
        let documents: Vec<&str> = lines.iter().map(|line| line[2]).collect();
        assert_eq!(documents, ["d", "b%20b", "c%25", "a", "e"]);
        assert!(lines.iter().enumerate().all(|(i, l)| l.len() == 6 && l[3] == (i + 1).to_string() && l[1] == "Q0"));
        let scores: Vec<f32> = lines.iter().map(|line| line[4].parse().expect("a number")).collect();
        assert!(scores.windows(2).all(|two| two[0] > two[1]), "{scores:?}");
        assert_eq!((scores[0], scores[3]), (2.0, -1e-30));
    }

    #[test]
    fn truths_are_lines_too() {
        let mut out = Vec::new();
        write_qrels(&mut out, "q", ["x", "y\u{3000}z"].into_iter()).expect("written");
        assert_eq!(String::from_utf8(out).expect("UTF-8"), "q 0 x 1\nq 0 y%E3%80%80z 1\n");
    }
}
