//! Templates that only dress the words they are given: these words stay. All others are left out.

/// Which part of a template stays.
#[derive(Clone, Copy)]
enum TemplateRule {
    /// The argument with this number, counting from 1.
    Argument(usize),
    /// A measure: `{{convert|5|km}}`, `{{convert|10|to|60|km}}`.
    Measure,
    /// Titles of pages, as links.
    Links,
    /// The last one that has no name.
    Last,
    /// Always this.
    Text(&'static str),
}

/// No name in the list is longer.
const LONGEST: usize = 24;

fn rule(name: &str) -> Option<TemplateRule> {
    Some(match name {
        "abbr" | "tooltip" | "big" | "small" | "smaller" | "larger" | "nowrap" | "nobr" | "em" | "strong"
        | "nobold" | "noitalic" | "code" | "mono" | "var" | "kbd" | "samp" | "sub" | "sup" | "sic" | "not a typo"
        | "small caps" | "smallcaps" | "center" | "nihongo" | "val" | "quote" | "blockquote" | "quotation"
        | "cquote" | "quote box" | "vanchor" | "visible anchor" | "circa" | "as of" | "ill" | "interlanguage link"
        | "underline" | "strikethrough" | "angbr" | "gloss" | "lit" => TemplateRule::Argument(1),
        "lang" | "langx" => TemplateRule::Argument(2),
        "transl" | "transliteration" | "color" | "font color" => TemplateRule::Last,
        "convert" | "cvt" => TemplateRule::Measure,
        "main"
        | "main article"
        | "main articles"
        | "see also"
        | "seealso"
        | "further"
        | "further information"
        | "details" => TemplateRule::Links,
        "!" => TemplateRule::Text("|"),
        "=" => TemplateRule::Text("="),
        "'s" => TemplateRule::Text("'s"),
        "ndash" | "snd" | "spnd" | "spaced ndash" | "endash" => TemplateRule::Text(" – "),
        "mdash" | "emdash" | "spaced mdash" => TemplateRule::Text(" — "),
        "nbsp" | "space" | "spaces" | "·" | "•" | "dot" | "middot" | "bull" => TemplateRule::Text(" "),
        _ if name.starts_with("lang-") => TemplateRule::Argument(1),
        _ => return None,
    })
}

/// The words that stay of the template whose content is `text[start..]`, with bars at `bars`.
pub(super) fn kept(text: &str, start: usize, bars: &[usize]) -> Option<String> {
    let name = text[start..bars.first().copied().unwrap_or(text.len())].trim();
    const NUMBER: &str = "formatnum:";
    if name.get(..NUMBER.len()).is_some_and(|start| start.eq_ignore_ascii_case(NUMBER)) {
        return Some(name[NUMBER.len()..].trim().to_owned());
    }
    if name.len() > LONGEST {
        return None;
    }
    let rule = rule(&name.replace('_', " ").to_lowercase())?;
    if let TemplateRule::Text(text) = rule {
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
        TemplateRule::Argument(number) => argument(number).map(str::to_owned),
        TemplateRule::Measure => {
            const JOINTS: &str = " to and or by x × - – + ± +/- to(-) and(-) ";
            let joins = |word: &str| !word.is_empty() && JOINTS.contains(&format!(" {word} "));
            let mut last = 2;
            while argument(last).is_some_and(joins) {
                last += 2;
            }
            Some((1..=last).filter_map(argument).collect::<Vec<_>>().join(" "))
        }
        TemplateRule::Links => {
            let link = |&(_, title): &(usize, &str)| match title.trim() {
                "" => None,
                title if title.contains("[[") => Some(title.to_owned()),
                title => Some(format!("[[{title}]]")),
            };
            let links = arguments.iter().filter_map(link).collect::<Vec<_>>().join(", ");
            (!links.is_empty()).then(|| links + "\n")
        }
        TemplateRule::Last => arguments.last().map(|(_, value)| value.trim().to_owned()),
        TemplateRule::Text(_) => None,
    }
}
