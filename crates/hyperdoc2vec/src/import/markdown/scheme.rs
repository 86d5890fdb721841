//! Addresses of our own, for links that name a page in another way than by its path from here.

/// A page by its path, from here or from the top of the site, or by its mere name.
pub(super) const PAGE: &str = "hd2v-page:";
/// A page by its file's name alone.
pub(super) const POST: &str = "hd2v-post:";
/// A term of a glossary.
pub(super) const TERM: &str = "hd2v-term:";
/// A label that stands before a heading somewhere.
pub(super) const LABEL: &str = "hd2v-label:";

/// An object of a programming language that some page describes.
pub(super) const OBJECT: &str = "hd2v-object:";

/// An address as it may stand in a Markdown link; `#` stays.
pub(super) fn encode(target: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/:@#".contains(&b);
    let mut out = String::with_capacity(target.len());
    for b in target.bytes() {
        if plain(b) { out.push(b as char) } else { out.push_str(&format!("%{b:02X}")) }
    }
    out
}
