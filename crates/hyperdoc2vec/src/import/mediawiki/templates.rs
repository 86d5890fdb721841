//! Templates that only dress the words they are given: these words stay. All others are left out.

/// What stays of a template.
#[derive(Clone, Copy)]
enum Kept {
    /// The argument with this number, counting from 1.
    Argument(usize),
    /// The first two, as in `{{convert|5|km}}`.
    Two,
    /// The last one that has no name.
    Last,
    /// Always this.
    Text(&'static str),
}

/// No name in the list is longer.
const LONGEST: usize = 24;

fn rule(name: &str) -> Option<Kept> {
    Some(match name {
        "abbr" | "tooltip" | "big" | "small" | "smaller" | "larger" | "nowrap" | "nobr" | "em" | "strong"
        | "nobold" | "noitalic" | "code" | "mono" | "var" | "kbd" | "samp" | "sub" | "sup" | "sic" | "not a typo"
        | "small caps" | "smallcaps" | "center" | "nihongo" | "val" | "quote" | "blockquote" | "quotation"
        | "cquote" | "quote box" | "vanchor" | "visible anchor" | "circa" | "as of" | "ill" | "interlanguage link"
        | "underline" | "strikethrough" | "angbr" | "gloss" | "lit" => Kept::Argument(1),
        "lang" | "langx" => Kept::Argument(2),
        "transl" | "transliteration" | "color" | "font color" => Kept::Last,
        "convert" | "cvt" => Kept::Two,
        "!" => Kept::Text("|"),
        "=" => Kept::Text("="),
        "'s" => Kept::Text("'s"),
        "ndash" | "snd" | "spnd" | "spaced ndash" | "endash" => Kept::Text(" – "),
        "mdash" | "emdash" | "spaced mdash" => Kept::Text(" — "),
        "nbsp" | "space" | "spaces" | "·" | "•" | "dot" | "middot" | "bull" => Kept::Text(" "),
        _ if name.starts_with("lang-") => Kept::Argument(1),
        _ => return None,
    })
}

/// The words that stay of the template whose content is `text[start..]`, with bars at `bars`.
pub(super) fn kept(text: &str, start: usize, bars: &[usize]) -> Option<String> {
    let name = text[start..bars.first().copied().unwrap_or(text.len())].trim();
    if name.len() > LONGEST {
        return None;
    }
    let rule = rule(&name.replace('_', " ").to_lowercase())?;
    if let Kept::Text(text) = rule {
        return Some(text.to_owned());
    }
    let ends = bars.iter().skip(1).copied().chain([text.len()]);
    let mut unnamed = 0;
    let arguments = bars.iter().zip(ends).filter_map(|(&bar, end)| {
        let argument = &text[bar + 1..end];
        let name = argument.split_once('=').map(|(name, value)| (name.trim(), value));
        match name {
            Some((number, value)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                Some((number.parse().ok()?, value))
            }
            Some((name, _)) if name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'-')) => {
                None
            }
            _ => {
                unnamed += 1;
                Some((unnamed, argument))
            }
        }
    });
    let arguments: Vec<(usize, &str)> = arguments.collect();
    let argument =
        |wanted: usize| arguments.iter().find(|(number, _)| *number == wanted).map(|(_, value)| value.trim());
    match rule {
        Kept::Argument(number) => argument(number).map(str::to_owned),
        Kept::Two => Some([argument(1).unwrap_or_default(), argument(2).unwrap_or_default()].join(" ")),
        Kept::Last => arguments.last().map(|(_, value)| value.trim().to_owned()),
        Kept::Text(_) => None,
    }
}
