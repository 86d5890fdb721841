//! The little of TeX's syntax that is needed to find commands and their arguments.

pub(super) use crate::draft::latex::group;

/// Arguments longer than this are none: a brace was lost.
pub(super) const LONGEST: usize = 1 << 18;
/// Commands of one name that are tried for an argument.
const TRIES: usize = 20;

/// The group in braces with which `text` begins, after white space, and the text that follows.
pub(super) fn argument(text: &str) -> Option<(&str, &str)> {
    short_argument(text, LONGEST)
}

/// The group in braces with which `text` begins, if it is at most `most` bytes long, and the text that follows.
pub(super) fn short_argument(text: &str, most: usize) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let length = group(text, b'{', b'}', most)?;
    Some((&text[1..length - 1], &text[length..]))
}

/// The text after optional arguments in brackets.
pub(super) fn after_options(text: &str) -> &str {
    let mut rest = text;
    loop {
        let start = rest.trim_start_matches([' ', '\t']);
        match group(start, b'[', b']', 2048) {
            Some(length) => rest = &start[length..],
            None => return rest,
        }
    }
}

/// The letters with which `text` begins: the name of a command.
pub(super) fn name(text: &str) -> &str {
    &text[..text.bytes().take_while(|b| b.is_ascii_alphabetic() || *b == b'@').count()]
}

/// The argument of the first command of this name, optional arguments passed over.
pub(super) fn command<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let is_command = |&at: &usize| text[..at].ends_with('\\') && name(&text[at + wanted.len()..]).is_empty();
    let places = memchr::memmem::find_iter(text.as_bytes(), wanted).filter(is_command);
    places.take(TRIES).find_map(|at| {
        let rest = &text[at + wanted.len()..];
        argument(after_options(rest.strip_prefix('*').unwrap_or(rest))).map(|(argument, _)| argument)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_with_their_braces() {
        assert_eq!(argument(" {a{b}\\}c}d"), Some(("a{b}\\}c", "d")));
        assert_eq!(argument("{a"), None);
        assert_eq!(after_options("[a][b{]}] {c}"), " {c}");
        assert_eq!(command("\\titleformat{x}\\title*[s]{T}", "title"), Some("T"));
        assert_eq!(command("\\title", "title"), None);
    }
}
