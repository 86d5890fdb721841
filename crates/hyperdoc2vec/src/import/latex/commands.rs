//! Commands and environments of LaTeX, and their meaning for the text.

/// Environments of which nothing stays but their captions.
pub(super) const DROPPED: [&str; 36] = [
    "figure",
    "table",
    "equation",
    "align",
    "eqnarray",
    "gather",
    "multline",
    "displaymath",
    "math",
    "tikzpicture",
    "tabular",
    "tabularx",
    "longtable",
    "algorithm",
    "algorithmic",
    "lstlisting",
    "verbatim",
    "minted",
    "thebibliography",
    "comment",
    "picture",
    "array",
    "pspicture",
    "wrapfigure",
    "wraptable",
    "filecontents",
    "subequations",
    "flalign",
    "alignat",
    "sidewaystable",
    "sidewaysfigure",
    "CCSXML",
    "dmath",
    "IEEEeqnarray",
    "references",
    "algorithm2e",
];
/// Commands whose first argument is no text, but their second is.
pub(super) const SECOND_COUNTS: [&str; 9] =
    ["textcolor", "href", "colorbox", "resizebox", "hyperref", "bibinfo", "bibfield", "href@noop", "Eprint"];
/// Commands that part paragraphs.
pub(super) const BREAKS: [&str; 10] = [
    "section",
    "subsection",
    "subsubsection",
    "chapter",
    "paragraph",
    "subparagraph",
    "part",
    "caption",
    "footnote",
    "item",
];

/// How many arguments go with a command of which nothing stays.
pub(super) fn dropped_arguments(called: &str) -> Option<usize> {
    Some(match called {
        "printbibliography" => 0,
        "label" | "ref" | "eqref" | "pageref" | "cref" | "Cref" | "autoref" | "vref" | "includegraphics"
        | "bibliography" | "bibliographystyle" | "vspace" | "hspace" | "usepackage" | "color" | "index"
        | "graphicspath" | "hypersetup" | "pagestyle" | "thispagestyle" | "pagenumbering" | "nocite" | "thanks"
        | "hyphenation" | "addbibresource" | "title" | "author" | "date" | "institute" | "affil" | "affiliation"
        | "address" | "email" | "ead" | "newcounter" | "IEEEauthorblockA" | "inst" | "orcid" | "tikzset"
        | "ensuremath" | "documentclass" | "documentstyle" | "BibitemShut" | "selectlanguage" | "SelectLanguage" => 1,
        "newcommand"
        | "renewcommand"
        | "providecommand"
        | "newtheorem"
        | "DeclareMathOperator"
        | "setlength"
        | "addtolength"
        | "setcounter"
        | "addtocounter"
        | "fontsize"
        | "rule"
        | "markboth"
        | "numberwithin" => 2,
        "newenvironment" | "addcontentsline" | "definecolor" => 3,
        _ => return None,
    })
}

/// `\cite` and its family: `citep`, `textcite`, `parencites`, `footcite`.
pub(super) fn is_citation(called: &str) -> bool {
    let lower = called.to_ascii_lowercase();
    lower.contains("cite")
        && !matches!(
            lower.as_str(),
            "nocite"
                | "citestyle"
                | "bibcite"
                | "citename"
                | "citenamefont"
                | "citepunct"
                | "citetext"
                | "setcitestyle"
                | "newcites"
        )
        && !lower.starts_with("declare")
        && !lower.ends_with("cited")
}

/// Letters and words that commands stand for.
pub(super) fn letters(called: &str) -> Option<&'static str> {
    Some(match called {
        "ss" => "ß",
        "o" => "ø",
        "O" => "Ø",
        "l" => "ł",
        "L" => "Ł",
        "ae" => "æ",
        "AE" => "Æ",
        "oe" => "œ",
        "OE" => "Œ",
        "aa" => "å",
        "AA" => "Å",
        "i" => "i",
        "j" => "j",
        "S" => "§",
        "ldots" | "dots" | "textellipsis" => "…",
        "LaTeX" => "LaTeX",
        "TeX" => "TeX",
        "BibTeX" => "BibTeX",
        "textendash" => "–",
        "textemdash" => "—",
        "textbackslash" => "\\",
        "textasciitilde" => "~",
        "textquotesingle" => "'",
        "ie" => "i.e.",
        "eg" => "e.g.",
        "etal" => "et al.",
        _ => return None,
    })
}

/// The accent that a command puts on the letter after it.
pub(super) fn accent(called: &str) -> Option<char> {
    Some(match called {
        "'" => '\u{301}',
        "`" => '\u{300}',
        "^" => '\u{302}',
        "\"" => '\u{308}',
        "~" => '\u{303}',
        "=" => '\u{304}',
        "." => '\u{307}',
        "c" => '\u{327}',
        "v" => '\u{30c}',
        "u" => '\u{306}',
        "H" => '\u{30b}',
        "r" => '\u{30a}',
        "k" => '\u{328}',
        "d" => '\u{323}',
        "b" => '\u{331}',
        _ => return None,
    })
}
