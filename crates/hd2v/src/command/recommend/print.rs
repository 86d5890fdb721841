//! Hits as a table, as lines for a text, as entries of a bibliography.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::IsTerminal;

use hyperdoc2vec::DocRow;
use hyperdoc2vec::Model;
use hyperdoc2vec::export::{BibEntry, BibFormat, bibliography, cite_key};
use hyperdoc2vec::import::CITED_ONLY;
use hyperdoc2vec::recommend::{DocumentHit, DocumentNames, DraftFormat};
use hyperdoc2vec::search::Ranking;

use super::explain::{shades_here, why_text};
use super::input::AnsweredPlace;
use crate::command::common::hits_table;
use crate::output::{shown, status};

/// The name of the column of scores.
pub fn score_name(ranking: Ranking) -> &'static str {
    if ranking == Ranking::Hybrid { "p" } else { ranking.name() }
}

fn titled(hit: &DocumentHit) -> String {
    let title = one_line(hit.title.as_deref().unwrap_or_default());
    if hit.cited_only { format!("{title} ({CITED_ONLY})").trim_start().to_owned() } else { title }
}

/// On one line, whole.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `draft.md:12:5: [[?]]`, for a place; nothing for a passage that was asked for as a whole.
fn heading(place: &AnsweredPlace) -> String {
    let path = place.path.as_deref().map(shown);
    match (&path, &place.mark) {
        (Some(path), Some((line, column, mark))) => format!("{path}:{line}:{column}: {}", one_line(mark)),
        (Some(path), None) => path.clone(),
        (None, Some((line, column, mark))) => format!("{line}:{column}: {}", one_line(mark)),
        (None, None) => String::new(),
    }
}

/// Tables for people, one a place, with explanations where these were asked for; and whether it has colours.
pub fn tables(places: &[AnsweredPlace], alone: bool) -> (String, bool) {
    let (shade, whole) = (shades_here(), !std::io::stdout().is_terminal());
    let (mut out, mut shaded) = (String::new(), false);
    for (number, place) in places.iter().enumerate() {
        if !alone {
            let _ = writeln!(out, "{}{}", if number > 0 { "\n" } else { "" }, heading(place));
        }
        if let Some(reason) = &place.answer.reason {
            status(if alone { reason.clone() } else { format!("{}: {reason}", heading(place)) });
            continue;
        }
        let rows: Vec<(f32, String, String)> =
            place.answer.hits.iter().map(|hit| (hit.score, hit.id.clone(), titled(hit))).collect();
        let table = hits_table(score_name(place.answer.ranking), "id", &rows, whole);
        let mut lines = table.lines();
        out.extend(lines.next().into_iter().flat_map(|head| [head, "\n"]));
        for (line, hit) in lines.zip(&place.answer.hits) {
            let _ = writeln!(out, "{line}");
            if let Some(why) = &hit.why {
                out.push_str(&why_text(&place.answer.query, why, shade));
                shaded = shade;
            }
        }
    }
    (out, shaded)
}

/// Columns between tabs, with their names first.
pub fn tsv(places: &[AnsweredPlace]) -> String {
    let mut out =
        "file\tline\tcolumn\trank\tscore\tvalue\tid\ttitle\tauthors\tdate\tlinks\turl\tcited_only\n".to_owned();
    for place in places {
        let path = place.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let at = |which: fn(&(usize, usize, String)) -> usize| {
            place.mark.as_ref().map(which).map(|number| number.to_string()).unwrap_or_default()
        };
        for (rank, hit) in (1..).zip(&place.answer.hits) {
            let cells = [
                path.clone(),
                at(|mark| mark.0),
                at(|mark| mark.1),
                format!("{rank}"),
                score_name(place.answer.ranking).to_owned(),
                format!("{}", hit.score),
                hit.id.clone(),
                hit.title.clone().unwrap_or_default(),
                hit.authors.join("; "),
                hit.date.map(|date| date.to_string()).unwrap_or_default(),
                hit.links.map(|links| links.to_string()).unwrap_or_default(),
                hit.url.clone().unwrap_or_default(),
                if hit.cited_only { "yes" } else { "" }.to_owned(),
            ];
            let cells: Vec<String> = cells.iter().map(|cell| one_line(cell)).collect();
            let _ = writeln!(out, "{}", cells.join("\t"));
        }
    }
    out
}

/// A hit as a citation in the syntax of a format, with a comment that says what it is.
fn citation(format: DraftFormat, ranking: Ranking, hit: &DocumentHit) -> String {
    let key = cite_key(&hit.id);
    let title = titled(hit).replace("--", "-");
    let what = format!("{} {:.2} {title}", score_name(ranking), hit.score);
    match format {
        DraftFormat::Markdown => format!("[@{key}] <!-- {what} -->"),
        DraftFormat::Rst => format!("[{key}]_ .. {what}"),
        DraftFormat::Html => format!("<cite>{key}</cite> <!-- {what} -->"),
        DraftFormat::Mediawiki => format!("[[{key}]] <!-- {what} -->"),
        _ => format!("\\cite{{{key}}} % {what}"),
    }
}

/// Citations to paste, one a hit.
pub fn cite(places: &[AnsweredPlace], alone: bool) -> String {
    let mut out = String::new();
    for place in places {
        if !alone {
            let _ = writeln!(out, "{}", heading(place));
        }
        for hit in &place.answer.hits {
            let _ = writeln!(out, "{}", citation(place.format, place.answer.ranking, hit));
        }
    }
    out
}

/// Items of a list in Markdown: links to addresses, or from the file to the pages of its tree.
pub fn markdown(places: &[AnsweredPlace], model: &Model, alone: bool) -> String {
    let names = DocumentNames::new(model);
    let mut out = String::new();
    for place in places {
        if !alone {
            let _ = writeln!(out, "{}## {}\n", if out.is_empty() { "" } else { "\n" }, heading(place));
        }
        for hit in &place.answer.hits {
            let href = || names.href(DraftFormat::Markdown, &place.location, DocRow(hit.row as u32));
            let title = one_line(hit.title.as_deref().unwrap_or(&hit.id)).replace('[', "\\[").replace(']', "\\]");
            let url = hit.url.clone().unwrap_or_else(href).replace(' ', "%20").replace(')', "%29");
            let note = if hit.cited_only { format!(", {CITED_ONLY}") } else { String::new() };
            let _ = writeln!(out, "- [{title}]({url}) ({} {:.2}{note})", score_name(place.answer.ranking), hit.score);
        }
    }
    out
}

/// The hits of all places as entries of a bibliography, each once.
pub fn entries(places: &[AnsweredPlace], model: &Model, format: BibFormat) -> String {
    let mut seen = HashSet::new();
    let hits = places.iter().flat_map(|place| &place.answer.hits);
    let entries: Vec<BibEntry> =
        hits.filter(|hit| seen.insert(hit.row)).map(|hit| BibEntry::of(model, hit.row)).collect();
    bibliography(&entries, format)
}
