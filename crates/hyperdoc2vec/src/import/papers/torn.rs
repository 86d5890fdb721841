//! Labels that a scanner tore from their entries: a column of labels is read first, the column of entries after it.
//!
//! The lines are put together again where the entries are as many as the labels; else the labels are left out, since the
//! last one would stand before the first entry.

use super::clean::PaperLine;
use super::heads::cut_into;
use super::labels::{Label, NumberStyle, label, misread};
use super::split;

/// How many labels may be lost in a row.
const LOST: u32 = 3;

/// The lines with each torn label before its entry; nothing if no label is torn.
pub(super) fn mended(lines: &[PaperLine]) -> Option<Vec<PaperLine>> {
    let mut out: Vec<PaperLine> = Vec::with_capacity(lines.len());
    let mut torn = false;
    // Labels whose entries do not follow them, and where the last labelled entry begins.
    let mut waiting: Vec<String> = Vec::new();
    let mut last = 0;
    let mut at = 0;
    while at < lines.len() {
        // No run begins with a blank line; of many in a row, each would be looked at again from each before it.
        let run = if lines[at].text.is_empty() { TornRun::default() } else { run(&lines[at..]) };
        if run.labels.len() < 2 {
            if label(&lines[at].text).is_some() {
                last = out.len();
            }
            out.push(lines[at].clone());
            at += 1;
            continue;
        }
        torn = true;
        at += run.lines;
        let end = at + lines[at..].iter().position(|line| split::is_labelled(&line.text)).unwrap_or(lines.len() - at);
        if lines[at..end].iter().all(|line| line.text.is_empty()) {
            waiting.extend(run.labels);
            continue;
        }
        last = out.len();
        attach(&mut out, &lines[at..end], &run.labels);
        at = end;
    }
    if !waiting.is_empty() {
        // Their entries are the last ones, after the last that has its label.
        let tail = out.split_off(last);
        let number = |text: &str| match label(text) {
            Some((Label::Number(_, number), _)) => Some(number),
            _ => None,
        };
        // Numbers go on where the last one ends.
        let first = waiting.first().and_then(|label| number(label));
        let follows = first.is_none_or(|first| tail.first().and_then(|line| number(&line.text)) == Some(first - 1));
        match cut_into(&tail, waiting.len() + 1) {
            Some(starts) if follows => {
                out.extend_from_slice(&tail[..starts[1]]);
                attach(&mut out, &tail[starts[1]..], &waiting);
            }
            _ => out.extend(tail),
        }
    }
    torn.then_some(out)
}

/// Puts labels before the entries of some lines, if there are as many.
fn attach(out: &mut Vec<PaperLine>, lines: &[PaperLine], labels: &[String]) {
    let starts = cut_into(lines, labels.len()).unwrap_or_default();
    let mut labels = starts.iter().zip(labels).peekable();
    for (at, line) in lines.iter().enumerate() {
        let text = match labels.next_if(|(start, _)| **start == at) {
            Some((_, label)) => format!("{label} {}", line.text),
            None => line.text.clone(),
        };
        out.push(PaperLine { text, indent: line.indent });
    }
}

/// Lines at the start that are nothing but labels.
#[derive(Default)]
struct TornRun {
    labels: Vec<String>,
    lines: usize,
}

/// Labels that follow each other without an entry. A number that is lost between two is put back, one that cannot be
/// read is the next.
fn run(lines: &[PaperLine]) -> TornRun {
    let mut run = TornRun::default();
    let mut last = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.text.is_empty()) {
        let text = line.text.as_str();
        let found = lone_number(text);
        // The first of them may be misread, too.
        let found = found.or_else(|| {
            let next =
                lines[at + 1..].iter().find(|line| !line.text.is_empty()).and_then(|line| lone_number(&line.text))?;
            let before = next.checked_sub(1).filter(|_| run.labels.is_empty())?;
            misread(text, &(before..=before)).map(|(number, _)| number)
        });
        match (found, last) {
            (Some(number), None) if run.labels.is_empty() => last = Some(number),
            (Some(number), Some(before)) if (before + 1..=before + 1 + LOST).contains(&number) => last = Some(number),
            (_, Some(before)) if is_scrap(text) => {
                last = misread(text, &(before + 1..=before + 2)).map(|(number, _)| number).or(Some(before + 1));
            }
            (None, None) if is_lone_key(text) || !run.labels.is_empty() && is_scrap(text) => {
                run.labels.push(text.to_owned());
                run.lines = at + 1;
                continue;
            }
            _ => break,
        }
        let number = last.unwrap_or_default();
        let from = first_number(&run).map_or(number, |first| first + run.labels.len() as u32);
        run.labels.extend((from..=number).map(|number| format!("[{number}]")));
        run.lines = at + 1;
    }
    run
}

/// The number in square brackets that a line is.
fn lone_number(text: &str) -> Option<u32> {
    match label(text)? {
        (Label::Number(NumberStyle::Square, number), end) if end == text.len() => Some(number),
        _ => None,
    }
}

/// The number with which a run begins.
fn first_number(run: &TornRun) -> Option<u32> {
    run.labels.first()?.trim_matches(['[', ']']).parse().ok()
}

fn is_lone_key(text: &str) -> bool {
    matches!(label(text), Some((Label::Key(_) | Label::Names(_), end)) if end == text.len())
}

/// Whether a text may be the rest of a label: one short word that opens or closes a square bracket.
fn is_scrap(text: &str) -> bool {
    text.len() <= 10 && !text.contains(' ') && (text.starts_with('[') || text.ends_with(']'))
}

/// Whether a line is a label without an entry, or what is left of one.
pub(super) fn is_bare_label(text: &str) -> bool {
    is_scrap(text) || is_lone_key(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn shown(text: &str) -> Option<Vec<String>> {
        let line = |text: &str| PaperLine { text: text.to_owned(), indent: 0 };
        let lines: Vec<PaperLine> = text.lines().map(line).collect();
        mended(&lines).map(|lines| lines.into_iter().map(|line| line.text).collect())
    }

    const THREE: &str = "J. Doe. Rivers run\nfar. Shores, 2001.\nB. Roe. Tides. 2002.\nC. Poe. Rocks. 2003.";

    #[test]
    fn labels_read_before_their_entries_are_put_before_each() {
        let expected =
            ["[1] J. Doe. Rivers run", "far. Shores, 2001.", "[2] B. Roe. Tides. 2002.", "[3] C. Poe. Rocks. 2003."];
        for labels in ["[1]\n[2]\n[3]", "[1]\n[3]", "[1]\n\n[Z]\n[3]", "[1]\n[2\nIS]", "[1]\n[21\n[3]"] {
            assert_eq!(shown(&format!("{labels}\n{THREE}")).expect("torn"), expected, "{labels}");
        }
        let keys = format!("[Doe01]\n[Roe02]\n[Poe, 2003]\n{THREE}");
        assert_eq!(shown(&keys).expect("torn")[3], "[Poe, 2003] C. Poe. Rocks. 2003.");
    }

    #[test]
    fn labels_above_the_list_belong_to_its_last_entries() {
        let text = "[2]\n[3]\n[1] A. Noe. Winds. 2000.\nJ. Doe. Rivers. 2001.\nB. Roe. Tides. 2002.";
        assert_eq!(
            shown(text).expect("torn"),
            ["[1] A. Noe. Winds. 2000.", "[2] J. Doe. Rivers. 2001.", "[3] B. Roe. Tides. 2002."]
        );
    }

    #[test]
    fn labels_above_a_list_that_they_do_not_continue_are_left_out() {
        let text = "[3]\n[4]\n[1] A. Noe. Winds. 2000.\nJ. Doe. Rivers. 2001.\nB. Roe. Tides. 2002.";
        assert!(shown(text).expect("torn").iter().skip(1).all(|line| !line.starts_with('[')));
    }

    #[test]
    fn the_first_of_torn_labels_may_be_misread() {
        assert_eq!(shown(&format!("[lO]\n[11]\n[12]\n{THREE}")).expect("torn")[2], "[11] B. Roe. Tides. 2002.");
    }

    #[test]
    fn labels_that_are_not_as_many_as_the_entries_are_left_out() {
        assert_eq!(shown(&format!("[1]\n[2]\n{THREE}")).expect("torn").join("\n"), THREE);
    }

    #[test]
    fn blank_lines_take_time_in_proportion() {
        assert_linear("blank lines", 20_000, |pieces| assert_eq!(shown(&"\n".repeat(pieces)), None));
        assert_linear("labels far apart", 20_000, |pieces| drop(shown(&"[1]\n\n\n\nx\n".repeat(pieces))));
    }

    #[test]
    fn a_label_on_the_line_before_its_entry_is_not_torn() {
        assert_eq!(shown("[1]\nJ. Doe. Rivers. 2001.\n[2]\nB. Roe. Tides. 2002."), None);
        assert_eq!(shown(THREE), None);
    }
}
