//! `&nbsp;`, `&#91;` and the like.

use std::borrow::Cow;

use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

/// No entity is longer, `&` and `;` included.
const LONGEST: usize = 34;

/// The meaning of the entity that `text` begins with, and its length; `None` if it begins with none.
pub(super) fn first(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let bytes = text.as_bytes();
    let end = bytes.iter().take(LONGEST).position(|&b| b == b';')?;
    let name = text.get(1..end).filter(|name| !name.is_empty() && bytes[0] == b'&')?;
    let meaning = match name {
        "nbsp" | "thinsp" | "ensp" | "emsp" => " ".into(),
        "ndash" => "–".into(),
        "mdash" => "—".into(),
        "amp" => "&".into(),
        "lt" => "<".into(),
        "gt" => ">".into(),
        "quot" => "\"".into(),
        _ => match name.strip_prefix('#') {
            Some(number) => character(number)?.to_string().into(),
            None => named(&text[..=end])?.into(),
        },
    };
    Some((meaning, end + 1))
}

/// A text without entities.
pub(in crate::import) fn decoded(text: &str) -> Cow<'_, str> {
    let Some(mut at) = memchr::memchr(b'&', text.as_bytes()) else { return text.into() };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (meaning, length) = first(rest).unwrap_or(("&".into(), 1));
        out.push_str(&meaning);
        rest = &rest[length..];
        match memchr::memchr(b'&', rest.as_bytes()) {
            Some(next) => at = next,
            None => return (out + rest).into(),
        }
    }
}

fn character(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(digits, 16).ok()?,
        None if number.bytes().all(|b| b.is_ascii_digit()) => number.parse().ok()?,
        _ => return None,
    };
    match char::from_u32(code)? {
        '\u{a0}' => Some(' '),
        control if control.is_control() && !matches!(control, '\t' | '\n') => None,
        character => Some(character),
    }
}

/// Named entities are those of the HTML standard.
fn named(entity: &str) -> Option<String> {
    if !entity[1..entity.len() - 1].bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let mut meaning = Vec::new();
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _span: html5gum::Span<()>| -> Option<()> {
        if let CallbackEvent::String { value } = event {
            meaning.extend_from_slice(value);
        }
        None
    });
    Tokenizer::new_with_emitter(entity, emitter).for_each(drop);
    String::from_utf8(meaning).ok().filter(|meaning| meaning != entity && !meaning.ends_with(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_become_what_they_stand_for() {
        assert_eq!(decoded("a&nbsp;b &eacute;&#233;&#xE9; &lt;br&gt; AT&amp;T"), "a b ééé <br> AT&T");
    }

    #[test]
    fn what_is_no_entity_stays() {
        for text in [
            "AT&T",
            "a & b; c",
            "&;",
            "&#;",
            "&#x;",
            "&#xZZ;",
            "&#0;",
            "&#1114112;",
            "&nosuchthing;",
            "&",
            "&#-5;",
            "&notit;",
        ] {
            assert_eq!(decoded(text), text);
        }
    }
}
