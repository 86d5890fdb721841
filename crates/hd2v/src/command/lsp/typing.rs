//! The text before the cursor: a target that is being typed.

/// A target that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// The byte where it begins.
    pub start: usize,
    pub syntax: TargetSyntax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetSyntax {
    /// `[[`: an id, and what closes it.
    Wiki,
    /// `](`: a path.
    Path,
    /// `\cite{`, `[@`: a key, which others may follow.
    Key,
}

impl TargetSyntax {
    /// The end of the target, where nothing may follow it.
    pub fn close(self) -> &'static str {
        match self {
            TargetSyntax::Wiki => "]]",
            TargetSyntax::Path => ")",
            TargetSyntax::Key => "",
        }
    }
}

/// Bytes of a line that are looked at, back from the cursor.
const LONGEST: usize = 1 << 10;

/// The target that is being typed before a place, on its line.
pub fn typing(text: &str, at: usize) -> Option<Typing> {
    let mut least = at.saturating_sub(LONGEST);
    while !text.is_char_boundary(least) {
        least += 1;
    }
    let line = text[least..at].rfind('\n').map_or(least, |newline| least + newline + 1);
    let before = &text[line..at];
    let open = |mark: &str, closed: &[char], syntax| {
        let start = before.rfind(mark)? + mark.len();
        (!before[start..].contains(closed)).then_some(Typing { start: line + start, syntax })
    };
    let wiki = open("[[", &[']', '|'], TargetSyntax::Wiki);
    let path = open("](", &[')'], TargetSyntax::Path);
    let key = open("@", &[']', ' ', ';', ','], TargetSyntax::Key)
        .filter(|typing| before[..typing.start - line].rfind('[').is_some_and(|at| !before[at..].contains(']')));
    let cite = before.rfind('\\').and_then(|command| {
        let rest = &before[command..];
        let brace = rest.find('{')?;
        if !rest[..brace].to_ascii_lowercase().contains("cite") || rest.contains('}') {
            return None;
        }
        let comma = rest.rfind(',').filter(|&comma| comma > brace).unwrap_or(brace);
        let spaces = rest[comma + 1..].len() - rest[comma + 1..].trim_start().len();
        Some(Typing { start: line + command + comma + 1 + spaces, syntax: TargetSyntax::Key })
    });
    [wiki, path, key, cite].into_iter().flatten().max_by_key(|typing| typing.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_typed_is_found() {
        let found = |line: &str| typing(line, line.len()).map(|typing| line[typing.start..].to_owned());
        assert_eq!(found("see [[Fet"), Some("Fet".to_owned()));
        assert_eq!(found("see [x](../a"), Some("../a".to_owned()));
        assert_eq!(found("as \\citep[see]{doe99, r"), Some("r".to_owned()));
        assert_eq!(found("as [see @doe; @r"), Some("r".to_owned()));
        assert_eq!(found("see [[?"), Some("?".to_owned()));
        assert_eq!(found("\\cite{"), Some(String::new()));
        assert_eq!(found("a [[closed]] link"), None);
        assert_eq!(found("mail me@example.org"), None);
        assert_eq!(found("[[on the line before\n"), None);
        assert_eq!(found(&format!("[[{}é", "é".repeat(600))), None, "too far away");
    }
}
