//! Characters that a terminal obeys or hides, and JSON without them.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal would obey or hide the character: controls, and format characters (Unicode's category Cf), of which
/// those for right-to-left text make a line read otherwise than it is. The joiners U+200C and U+200D, which some scripts
/// need, are neither.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// JSON with its hidden characters escaped as `\uXXXX`, except line ends. They stand only in its strings, so that it says
/// what it said before.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let escaped = |c: char| c != '\n' && is_hidden(c);
    // Most text is plain, and bytes are soon looked at.
    if json.bytes().all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\n') || !json.contains(escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_of_json_are_escaped_and_mean_the_same() {
        let odd = "a\u{1b}[31m\t\u{7f}\u{9b}\u{202e}b\u{2066}\u{feff}\u{e0001} é";
        let json = serde_json::to_string(&[odd]).expect("JSON");
        let shown = r#"["a\u001b[31m\t\u007f\u009b\u202eb\u2066\ufeff\udb40\udc01 é"]"#;
        assert_eq!(visible_json(&json), shown);
        assert_eq!(serde_json::from_str::<[String; 1]>(shown).expect("JSON"), [odd]);
        for plain in ["{\n  \"a\": 1\n}\n", "\"日本 é “x” 👍\""] {
            assert!(matches!(visible_json(plain), Cow::Borrowed(same) if same == plain));
        }
    }
}
