//! Titles of a wiki: its namespaces, which letters count, and which page a link leads to.

use std::borrow::Cow;
use std::collections::HashMap;

use super::entities;
use super::prefixes::{is_language, is_other_wiki};

/// Files (pictures, sounds) and categories have these numbers on every wiki.
const FILE: i32 = 6;
const CATEGORY: i32 = 14;

/// Names that every wiki knows, beside those in its own language.
const KNOWN: [(&str, i32); 30] = [
    ("media", -2),
    ("special", -1),
    ("talk", 1),
    ("user", 2),
    ("user talk", 3),
    ("project", 4),
    ("project talk", 5),
    ("file", FILE),
    ("file talk", 7),
    ("image", FILE),
    ("image talk", 7),
    // Older names in some languages, which dumps do not list.
    ("bild", FILE),
    ("imagen", FILE),
    ("imagem", FILE),
    ("immagine", FILE),
    ("afbeelding", FILE),
    ("grafika", FILE),
    ("obrázek", FILE),
    ("kép", FILE),
    ("изображение", FILE),
    ("画像", FILE),
    ("mediawiki", 8),
    ("mediawiki talk", 9),
    ("template", 10),
    ("template talk", 11),
    ("help", 12),
    ("help talk", 13),
    ("category", CATEGORY),
    ("category talk", 15),
    ("wp", 4),
];

/// The longest title in bytes.
const LONGEST: usize = 255;

/// A namespace as the wiki names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Namespace {
    name: String,
    /// Whether the first letter of a title is always a capital.
    capital: bool,
}

/// A wiki, as the head of its dump describes it.
#[derive(Debug, Clone)]
pub struct Wiki {
    /// The language of its pages.
    pub language: Option<String>,
    /// Web address of its pages, up to the title.
    pub base: Option<String>,
    /// Whether the first letter of a title is always a capital, where a namespace does not define it.
    pub capital: bool,
    namespaces: HashMap<i32, Namespace>,
    /// Lower-case names of namespaces.
    numbers: HashMap<String, i32>,
    /// Namespaces whose pages are read.
    wanted: Vec<i32>,
}

/// The number of a namespace, given as a number or by its English name; the error has what is expected.
pub fn namespace(given: &str) -> Result<i32, String> {
    let name = given.trim().replace('_', " ").to_lowercase();
    let known = KNOWN.iter().find(|(known, _)| *known == name).map(|&(_, number)| number);
    let articles = matches!(name.as_str(), "main" | "article" | "articles").then_some(0);
    let wrong = || "expected a number (0 are articles) or an English name such as `category`".to_owned();
    name.parse().ok().or(known).or(articles).ok_or_else(wrong)
}

/// The target between the brackets of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WikiTarget {
    /// A page that may be a document.
    Page(String),
    /// A picture or another file, to be shown.
    File,
    /// A category that the page is in.
    Category(String),
    /// This page in another language.
    Language,
    /// Nothing that could be a document: another wiki, another namespace, a part of the same page, no title at all.
    Elsewhere,
}

impl Wiki {
    /// A wiki of which nothing is known yet; pages of `wanted` namespaces are read.
    pub fn new(wanted: &[i32]) -> Wiki {
        Wiki {
            language: None,
            base: None,
            capital: true,
            namespaces: HashMap::new(),
            numbers: KNOWN.iter().map(|&(name, number)| (name.to_owned(), number)).collect(),
            wanted: wanted.to_vec(),
        }
    }

    /// Learns the name of a namespace.
    pub fn add_namespace(&mut self, number: i32, name: &str, capital: bool) {
        let name = clean(name).into_owned();
        if number != 0 {
            self.numbers.insert(name.to_lowercase(), number);
        }
        self.namespaces.insert(number, Namespace { name, capital });
    }

    /// A namespace that is wanted, but that the dump, which names its own, does not have.
    pub(super) fn unknown_namespace(&self) -> Option<i32> {
        let named = |number: &&i32| self.namespaces.is_empty() || self.namespaces.contains_key(number);
        self.wanted.iter().find(|number| !named(number)).copied()
    }

    /// The namespaces that pages can be in, for messages: `0 (articles), 1 (Talk)`.
    pub(super) fn list_namespaces(&self) -> String {
        let mut all: Vec<_> = self.namespaces.iter().filter(|(number, _)| **number >= 0).collect();
        all.sort_by_key(|(number, _)| **number);
        let shown = |(number, Namespace { name, .. }): (&i32, &Namespace)| {
            format!("{number} ({})", if name.is_empty() { "articles" } else { name })
        };
        all.into_iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    /// Whether pages of this namespace are read.
    pub(super) fn wants(&self, number: i32) -> bool {
        self.wanted.contains(&number)
    }

    /// The namespace of a page, by its title.
    pub(super) fn namespace_of(&self, title: &str) -> i32 {
        self.split(title).0
    }

    /// The namespace that a title begins with, and the rest of it.
    fn split<'t>(&self, title: &'t str) -> (i32, &'t str) {
        let found = title
            .split_once(':')
            .and_then(|(name, rest)| Some((*self.numbers.get(&name.trim_end().to_lowercase())?, rest.trim_start())));
        found.unwrap_or((0, title))
    }

    /// Whether a link with this target is of a kind that leaves no text behind: [`WikiTarget::File`],
    /// [`WikiTarget::Category`], [`WikiTarget::Language`].
    pub(super) fn leaves_nothing(&self, target: &str) -> bool {
        target.contains(':')
            && matches!(self.target(target), WikiTarget::File | WikiTarget::Category(_) | WikiTarget::Language)
    }

    /// Reads a target as it stands in a link.
    pub(super) fn target(&self, target: &str) -> WikiTarget {
        let target = entities::decoded(target);
        let target = if target.contains('%') { percent_decoded(&target) } else { target };
        let title = target.split_once('#').map_or(&*target, |(title, _)| title);
        let title = clean(title);
        let (shown, title) = match title.strip_prefix(':') {
            Some(title) => (true, title.trim_start()),
            None => (false, &*title),
        };
        if title.is_empty() || title.len() > LONGEST || title.contains(['<', '>', '[', ']', '{', '}', '|', '\u{fffd}'])
        {
            return WikiTarget::Elsewhere;
        }
        let (number, rest) = self.split(title);
        match number {
            FILE if !shown => return WikiTarget::File,
            CATEGORY if !shown && !rest.is_empty() => {
                return WikiTarget::Category(self.capitalised(number, rest).into_owned());
            }
            0 => match title.split_once(':') {
                Some((prefix, _)) if is_language(prefix.trim_end()) => {
                    return if shown { WikiTarget::Elsewhere } else { WikiTarget::Language };
                }
                Some((prefix, _)) if is_other_wiki(prefix.trim_end()) => return WikiTarget::Elsewhere,
                _ => {}
            },
            _ => {}
        }
        if !self.wants(number) || rest.is_empty() {
            return WikiTarget::Elsewhere;
        }
        WikiTarget::Page(self.full(number, rest))
    }

    /// Where a redirect leads, whatever the namespace; `None` if that is no title.
    pub(super) fn redirect(&self, target: &str) -> Option<String> {
        let title = target.split_once('#').map_or(target, |(title, _)| title);
        let title = clean(title);
        let title = title.trim_start_matches(':').trim_start();
        let (number, rest) = self.split(title);
        let title = self.full(number, rest);
        (!title.is_empty() && crate::document::markup::unlinkable(&title).is_none()).then_some(title)
    }

    /// The title with the name of its namespace.
    fn full(&self, number: i32, rest: &str) -> String {
        let rest = self.capitalised(number, rest);
        match self.namespaces.get(&number).map(|namespace| &*namespace.name) {
            _ if number == 0 => rest.into_owned(),
            Some(name) => format!("{name}:{rest}"),
            None => {
                let known = KNOWN.iter().find(|&&(_, known)| known == number).map_or("", |&(name, _)| name);
                format!("{}:{rest}", capital(known))
            }
        }
    }

    fn capitalised<'t>(&self, number: i32, title: &'t str) -> Cow<'t, str> {
        let rule = self.namespaces.get(&number).map_or(self.capital, |namespace| namespace.capital);
        if rule { capital(title) } else { title.into() }
    }

    /// The web address of a page.
    pub(super) fn url(&self, title: &str) -> Option<String> {
        let base = self.base.as_deref()?;
        let mut url = String::with_capacity(base.len() + title.len() + 8);
        url.push_str(base);
        for byte in title.bytes() {
            match byte {
                b' ' => url.push('_'),
                b'"' | b'%' | b'&' | b'\'' | b'+' | b'=' | b'?' | b'\\' | b'^' | b'`' | b'~' | 0x80.. => {
                    url.push_str(&format!("%{byte:02X}"));
                }
                _ => url.push(char::from(byte)),
            }
        }
        Some(url)
    }
}

/// A title as a page has it: underscores are spaces, no space twice, none around; marks of direction are left out.
pub(super) fn clean(title: &str) -> Cow<'_, str> {
    let odd = |c: char| {
        matches!(c, '_' | '\u{a0}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
            || (c.is_whitespace() && c != ' ')
    };
    let title = title.trim_matches([' ', '\t', '\n']);
    if !title.contains(odd) && !title.contains("  ") {
        return title.into();
    }
    let mark = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    let kept: String = title.chars().filter(|&c| !mark(c)).map(|c| if odd(c) { ' ' } else { c }).collect();
    kept.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").into()
}

/// The title with a capital, where the first letter has one.
fn capital(title: &str) -> Cow<'_, str> {
    let Some(first) = title.chars().next() else { return title.into() };
    // Georgian has capitals that nobody writes at the beginning of a word.
    if first.is_ascii_uppercase() || !first.is_alphabetic() || ('\u{10d0}'..='\u{10ff}').contains(&first) {
        return title.into();
    }
    let mut upper = first.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) if upper != first => {
            let mut capital = String::with_capacity(title.len() + 2);
            capital.push(upper);
            capital.push_str(&title[first.len_utf8()..]);
            capital.into()
        }
        _ => title.into(),
    }
}

/// `%C3%A9` as the bytes it stands for, if these are text.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8().unwrap_or(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german() -> Wiki {
        let mut site = Wiki::new(&[0]);
        site.base = Some("https://de.wikipedia.org/wiki/".to_owned());
        for (number, name) in [(0, ""), (6, "Datei"), (14, "Kategorie"), (4, "Wikipedia"), (-2, "Medium")] {
            site.add_namespace(number, name, true);
        }
        site
    }

    fn page(title: &str) -> WikiTarget {
        WikiTarget::Page(title.to_owned())
    }

    #[test]
    fn a_namespace_is_given_by_number_or_name() {
        assert_eq!(
            ["14", "Category", "user_talk", "articles"].map(|given| namespace(given).ok()),
            [Some(14), Some(14), Some(3), Some(0)]
        );
        assert!(namespace("Kategorie").is_err());
        let mut site = Wiki::new(&[0, 99]);
        assert_eq!(site.unknown_namespace(), None);
        site.add_namespace(0, "", true);
        site.add_namespace(14, "Kategorie", true);
        site.add_namespace(-1, "Spezial", true);
        assert_eq!(
            (site.unknown_namespace(), site.list_namespaces().as_str()),
            (Some(99), "0 (articles), 14 (Kategorie)")
        );
    }

    #[test]
    fn a_page_has_one_title_however_it_is_written() {
        let site = german();
        for written in [
            "Große Katze",
            "große_Katze",
            " große  _Katze ",
            "Gro%C3%9Fe Katze",
            ":große Katze",
            "große&nbsp;Katze#Teil",
        ] {
            assert_eq!(site.target(written), page("Große Katze"), "{written}");
        }
        assert_eq!(site.target("ßa"), page("ßa"));
        assert_eq!(site.target("élan"), page("Élan"));
        assert_eq!(site.target("100% sicher"), page("100% sicher"));
        assert_eq!(site.target("2001: Odyssee"), page("2001: Odyssee"));
    }

    #[test]
    fn namespaces_are_known_by_their_own_and_their_english_names() {
        let site = german();
        assert_eq!(site.target("Datei:Katze.jpg"), WikiTarget::File);
        assert_eq!(site.target("image:Katze.jpg"), WikiTarget::File);
        assert_eq!(
            site.target("kategorie : tiere_und_Pflanzen"),
            WikiTarget::Category("Tiere und Pflanzen".to_owned())
        );
        assert_eq!(site.target("Category:Tiere"), WikiTarget::Category("Tiere".to_owned()));
        for written in [":Kategorie:Tiere", ":Datei:Katze.jpg", "Wikipedia:Hilfe", "Medium:Ton.ogg", "#Teil", "", " : "]
        {
            assert_eq!(site.target(written), WikiTarget::Elsewhere, "{written:?}");
        }
        let site = Wiki { wanted: vec![0, 14], ..site };
        assert_eq!(site.target(":category:tiere"), page("Kategorie:Tiere"));
    }

    #[test]
    fn other_wikis_are_elsewhere_and_other_languages_leave_nothing() {
        let site = german();
        assert_eq!(site.target("fr:Chat"), WikiTarget::Language);
        assert_eq!(site.target("zh-min-nan:Niau"), WikiTarget::Language);
        assert_eq!(site.target(":fr:Chat"), WikiTarget::Elsewhere);
        assert_eq!(site.target("wikt:Katze"), WikiTarget::Elsewhere);
        assert!(site.leaves_nothing("fr:Chat") && !site.leaves_nothing("wikt:Katze") && !site.leaves_nothing("Katze"));
    }

    #[test]
    fn what_can_be_no_title_is_no_page() {
        for written in ["a{b", "a<b>", "a|b", "x".repeat(256).as_str(), "%FF%"] {
            let target = german().target(written);
            assert!(target == WikiTarget::Elsewhere || written.starts_with('%'), "{written}: {target:?}");
        }
    }

    #[test]
    fn where_letters_count_they_are_kept() {
        let mut site = Wiki { capital: false, ..Wiki::new(&[0]) };
        assert_eq!(site.target("dog"), page("dog"));
        site.add_namespace(14, "Category", true);
        assert_eq!(site.target("Category:dogs"), WikiTarget::Category("Dogs".to_owned()));
    }

    #[test]
    fn a_page_has_a_web_address() {
        assert_eq!(german().url("Große Katze?").as_deref(), Some("https://de.wikipedia.org/wiki/Gro%C3%9Fe_Katze%3F"));
    }

    #[test]
    fn a_redirect_may_lead_out_of_the_namespaces_that_are_read() {
        assert_eq!(german().redirect("wikipedia:hilfe#Teil").as_deref(), Some("Wikipedia:Hilfe"));
        assert_eq!(german().redirect("#Teil"), None);
        assert_eq!(german().redirect("a]]b"), None);
    }
}
