//! Tables of hits, for commands that use a model.

/// A title is cut at this many characters in a table.
const TITLE: usize = 60;

/// Rows of a table: rank, score, name, and more where there is more to say. Columns stand below each other.
pub fn hits_table(rows: &[(f32, String, String)]) -> String {
    let width = rows.iter().map(|(_, name, _)| name.chars().count()).max().unwrap_or(0);
    let digits = rows.len().to_string().len();
    rows.iter()
        .enumerate()
        .map(|(place, (score, name, more))| {
            let line = format!("{:digits$}  {score:8.4}  {name:width$}  {}", place + 1, shortened(&one_line(more)));
            line.trim_end().to_owned() + "\n"
        })
        .collect()
}

/// White space as single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn shortened(title: &str) -> String {
    if title.chars().count() <= TITLE {
        return title.to_owned();
    }
    title.chars().take(TITLE - 1).chain(['…']).collect()
}
