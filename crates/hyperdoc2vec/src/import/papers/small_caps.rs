//! Names in small capitals, whose first letter is larger, and from which extractors part it: `L AMPORT , L.`

use std::borrow::Cow;

/// The text with such names put together: a capital and a word of capitals, followed by a comma and an initial, or by a
/// comma that stands apart. `A SURVEY OF` stays as it is.
pub(super) fn joined(text: &str) -> Cow<'_, str> {
    let words: Vec<&str> = text.split(' ').collect();
    let capitals = |word: &str| !word.is_empty() && word.chars().all(char::is_uppercase);
    let is_name = |at: usize| {
        let (Some(first), Some(rest)) = (words.get(at), words.get(at + 1)) else { return false };
        let single = first.chars().count() == 1 && capitals(first);
        let (bare, ends) = rest.strip_suffix(',').map_or((*rest, false), |bare| (bare, true));
        let next = words.get(at + 2).copied().unwrap_or_default();
        let mut letters = next.chars();
        let initial = letters.next().is_some_and(char::is_uppercase) && matches!(letters.next(), Some('.' | '-'));
        single && capitals(bare) && if ends { initial } else { next == "," }
    };
    if !(0..words.len()).any(is_name) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < words.len() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(words[at]);
        if is_name(at) {
            out.push_str(words[at + 1]);
            at += 1;
            if words.get(at + 1) == Some(&",") {
                out.push(',');
                at += 1;
            }
        }
        at += 1;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    #[test]
    fn names_are_put_together_and_titles_are_not() {
        for (text, expected) in [
            ("D EAN , J., AND G HEMAWAT, S. MapReduce", "DEAN, J., AND GHEMAWAT, S. MapReduce"),
            ("B OLOSKY, W. J., AND L I , P. Paxos", "BOLOSKY, W. J., AND LI, P. Paxos"),
            ("VAN R ENESSE , R. Paxos", "VAN RENESSE, R. Paxos"),
            ("L AMPORT, L. A SURVEY OF TIME, and X RAYS", "LAMPORT, L. A SURVEY OF TIME, and X RAYS"),
            ("É LUARD, É. and L I, Éditeur", "ÉLUARD, É. and L I, Éditeur"),
            ("S AITO , Y. and J R ., W. E.", "SAITO, Y. and J R ., W. E."),
            ("", ""),
        ] {
            assert_eq!(joined(text), expected);
        }
        assert_linear("A B , ", 20_000, |n| drop(joined(&"A B , ".repeat(n)).into_owned()));
    }
}
