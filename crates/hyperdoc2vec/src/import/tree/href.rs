//! The target of a link as it is written: a place on this page, another site, or a path; and paths joined to folders.
//!
//! Ours, not the url crate: links lead to files of a tree, in which a path above the root must stay recognisable.

use crate::error::{Error, Result};

/// A link's target as written, without its fragment and query.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::import) enum Href<'a> {
    /// This page, or a part of it.
    Here,
    /// A path from this page's folder.
    Relative(&'a str),
    /// A path from the top of the site; begins with `/`.
    Top(&'a str),
    /// A web address without its scheme: `host/path`.
    Web(&'a str),
    /// Mail, scripts, data and the like.
    Other,
}

impl<'a> Href<'a> {
    /// Reads the text of a link.
    pub(in crate::import) fn read(text: &'a str) -> Href<'a> {
        let text = text.trim();
        let text = text.split(['#', '?']).next().unwrap_or_default();
        if text.is_empty() {
            return Href::Here;
        }
        if let Some(web) = text.strip_prefix("//") {
            return Href::Web(web);
        }
        if text.starts_with('/') {
            return Href::Top(text);
        }
        match scheme(text) {
            None => Href::Relative(text),
            Some(scheme) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
                Href::Web(text[scheme.len() + 1..].trim_start_matches('/'))
            }
            Some(_) => Href::Other,
        }
    }
}

/// The letters before the colon, if the text begins as an address does.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let first = bytes.next()?.is_ascii_alphabetic();
    let all = bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    (first && all).then_some(scheme)
}

/// A folder of the web: `host/path/`, compared without regard to scheme and to the case of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) struct Base {
    /// As given, up to the last slash, for making addresses.
    url: String,
    host: String,
    /// Begins and ends with `/`.
    path: String,
}

impl Base {
    /// The folder that `url` names: all of it, with a slash added if there is none.
    pub(in crate::import) fn read(url: &str) -> Option<Base> {
        let Href::Web(web) = Href::read(url) else { return None };
        let (host, path) = web.split_at(web.find('/').unwrap_or(web.len()));
        if host.is_empty() {
            return None;
        }
        let path = format!("{}/", path.trim_end_matches('/'));
        let url = url.trim().split(['#', '?']).next().unwrap_or_default();
        Some(Base { url: format!("{}/", url.trim_end_matches('/')), host: host.to_ascii_lowercase(), path })
    }

    /// Reads an address that a user may give; an error if it is none.
    pub(in crate::import) fn given(url: Option<&str>) -> Result<Option<Base>> {
        let wrong = |url| format!("base URL: expected an address such as https://example.org/docs/, found {url:?}");
        url.map(|url| Base::read(url).ok_or_else(|| Error::Usage(wrong(url)))).transpose()
    }

    /// The folder under which `url` is the page at `path`, if `url` ends in that path, as it is or prettified.
    pub(in crate::import) fn infer(url: &str, path: &str) -> Option<Base> {
        let url = url.trim().split(['#', '?']).next().unwrap_or_default();
        let decoded = decode(url);
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let folder = stem.strip_suffix("index").filter(|folder| folder.is_empty() || folder.ends_with('/'));
        let forms = [Some(path), Some(stem), folder, folder.and_then(|folder| folder.strip_suffix('/'))];
        let base = forms.into_iter().flatten().find_map(|form| decoded.strip_suffix(form))?;
        base.ends_with('/').then(|| Base::read(base)).flatten()
    }

    /// The path below this folder that a web address (`host/path`) has.
    pub(in crate::import) fn below<'a>(&self, web: &'a str) -> Option<&'a str> {
        let (host, path) = web.split_at(web.find('/').unwrap_or(web.len()));
        host.eq_ignore_ascii_case(&self.host).then(|| self.below_path(path)).flatten()
    }

    /// The path below this folder that a path from the top of its host has.
    pub(in crate::import) fn below_path<'a>(&self, path: &'a str) -> Option<&'a str> {
        if path.strip_suffix('/').unwrap_or(path) == &self.path[..self.path.len() - 1] {
            return Some("");
        }
        path.strip_prefix(&*self.path)
    }

    /// The address of a path below this folder.
    pub(in crate::import) fn address(&self, path: &str) -> String {
        format!("{}{}", self.url, encode(path))
    }
}

/// `path` as seen from `folder` (both without a slash at the end of the folder). Above the top it begins with `/..`.
/// A slash at the end of `path`, or `.` and `..` there, leaves one at the end.
pub(in crate::import) fn join(folder: &str, path: &str) -> String {
    let mut full = folder.trim_end_matches('/').to_owned();
    let mut is_folder = path.is_empty();
    for part in path.split('/') {
        is_folder = matches!(part, "" | "." | "..");
        match part {
            "" | "." => {}
            ".." => match full.rfind('/') {
                Some(last) if &full[last..] != "/.." => full.truncate(last),
                _ => full.push_str("/.."),
            },
            _ => {
                full.push('/');
                full.push_str(part);
            }
        }
    }
    if is_folder {
        full.push('/');
    }
    full
}

/// `full` as seen from the folder `from`, both from the top of the file system: `../` for each folder up.
pub(in crate::import) fn relative(from: &str, full: &str) -> String {
    let common = from.split('/').zip(full.split('/')).take_while(|(a, b)| a == b).count();
    let up = from.split('/').count() - common;
    let down: Vec<&str> = full.split('/').skip(common).collect();
    "../".repeat(up) + &down.join("/")
}

/// The folder of a file's path, without a slash at the end.
pub(in crate::import) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Percent-encoding undone; bytes that then are no UTF-8 are replaced.
pub(in crate::import) fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Percent-encodes what may not stand in the path of an address.
fn encode(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&b);
    path.bytes().map(|b| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_told_apart() {
        assert_eq!(Href::read(" #part "), Href::Here);
        assert_eq!(Href::read(""), Href::Here);
        assert_eq!(Href::read("?page=2#x"), Href::Here);
        assert_eq!(Href::read("a/b.html?q=1#x"), Href::Relative("a/b.html"));
        assert_eq!(Href::read("./a:b.html"), Href::Relative("./a:b.html"));
        assert_eq!(Href::read("/a/"), Href::Top("/a/"));
        assert_eq!(Href::read("//example.org/a"), Href::Web("example.org/a"));
        assert_eq!(Href::read("HTTPS://example.org/a?b"), Href::Web("example.org/a"));
        assert_eq!(Href::read("mailto:a@b.c"), Href::Other);
        assert_eq!(Href::read("javascript:void(0)"), Href::Other);
    }

    #[test]
    fn paths_join_as_in_a_browser() {
        let cases = [
            ("/s/a", "b.html", "/s/a/b.html"),
            ("/s/a", "./b/../c.html", "/s/a/c.html"),
            ("/s/a", "../b.html", "/s/b.html"),
            ("/s/a", "../../../b.html", "/../b.html"),
            ("/s/a", "../../../../b/../c.html", "/../../c.html"),
            ("/s/a", "", "/s/a/"),
            ("/s/a", ".", "/s/a/"),
            ("/s/a", "..", "/s/"),
            ("/s/a", "b//c/", "/s/a/b/c/"),
            ("", "b", "/b"),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(join(folder, path), expected, "{folder} + {path}");
        }
    }

    #[test]
    fn a_path_above_a_folder_does_not_depend_on_where_the_folder_stands() {
        for folder in ["/s", "/s/t", "/u/v/w/x"] {
            for path in ["../b.html", "../../../b.html", "../../../../../../b/c.html", "../../b/"] {
                assert_eq!(relative(folder, &join(folder, path)), path, "{folder}");
            }
        }
        assert_eq!(relative("/s/t", "/s/t/a/b.html"), "a/b.html");
    }

    #[test]
    fn percent_encoding_is_undone_once() {
        assert_eq!(decode("a%20b%2Fc%C3%A9"), "a b/cé");
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%2"), "%zz%2");
        assert_eq!(decode("%2525"), "%25");
        assert_eq!(decode("%FF"), "\u{FFFD}");
    }

    #[test]
    fn a_base_covers_what_lies_below_it() {
        let base = Base::read("https://Docs.Example.org/en").expect("a base");
        assert_eq!(base.below("docs.example.org/en/a.html"), Some("a.html"));
        assert_eq!(base.below("docs.example.org/en"), Some(""));
        assert_eq!(base.below("docs.example.org/english"), None);
        assert_eq!(base.below("example.org/en/a.html"), None);
        assert_eq!(base.below_path("/en/b/"), Some("b/"));
        assert_eq!(base.address("a b.html"), "https://Docs.Example.org/en/a%20b.html");
        assert_eq!(Base::read("ftp://a/b"), None);
    }

    #[test]
    fn a_base_is_inferred_where_an_address_ends_in_the_path() {
        let infer = |url, path| Base::infer(url, path).map(|base| base.url);
        assert_eq!(infer("https://x.org/d/a/b.html", "a/b.html").as_deref(), Some("https://x.org/d/"));
        assert_eq!(infer("https://x.org/d/a/b", "a/b.html").as_deref(), Some("https://x.org/d/"));
        assert_eq!(infer("https://x.org/d/a/", "a/index.html").as_deref(), Some("https://x.org/d/"));
        assert_eq!(infer("https://x.org/", "index.html").as_deref(), Some("https://x.org/"));
        assert_eq!(infer("https://x.org/c.html", "a/b.html"), None);
        assert_eq!(infer("https://x.org/aa.html", "a.html"), None);
    }
}
