//! Recognises formats by the ending of a file's name and by the fields of a line.

use super::Format;

/// Endings of HTML pages.
pub(super) const HTML_ENDINGS: [&str; 3] = ["html", "htm", "xhtml"];
/// Endings of Markdown files.
pub(super) const MARKDOWN_ENDINGS: [&str; 3] = ["md", "markdown", "mdx"];

/// Endings of reStructuredText.
pub(super) const REST_ENDINGS: [&str; 2] = ["rst", "rest"];

/// The part of a file's name after its last dot, if that is a plausible ending.
pub(super) fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    let plausible = !stem.is_empty()
        && (1..=8).contains(&ending.len())
        && ending.bytes().all(|b| b.is_ascii_alphanumeric())
        && ending.bytes().any(|b| b.is_ascii_alphabetic());
    plausible.then_some(ending)
}

/// The path without the ending of its name.
pub(super) fn without_ending(path: &str) -> &str {
    ending(path).map_or(path, |ending| &path[..path.len() - ending.len() - 1])
}

/// Whether a path has one of these endings, in any case.
pub(super) fn has_ending(path: &str, endings: &[&str]) -> bool {
    ending(path).is_some_and(|found| endings.iter().any(|wanted| found.eq_ignore_ascii_case(wanted)))
}

/// Whether the ending is that of something else than a page.
pub(super) fn is_asset(path: &str) -> bool {
    const SOURCES: &str = " css scss sass less js mjs cjs ts tsx jsx map wasm \
        json jsonl ndjson geojson yml yaml toml xml xsd xsl xslt dtd rss atom rdf csv tsv sql db sqlite ini cfg \
        conf lock log txt rst tex bib diff patch ipynb \
        rs py pyi c h cc hh cpp hpp cxx go java kt rb sh bash bat ps1 cs swift lua proto ics ";
    is_attachment(path) || ending(path).is_some_and(|found| SOURCES.contains(&listed(found)))
}

/// Whether the ending is that of pictures, sound, archives and the like, after which no page is called (as one may be
/// after `Node.js`).
pub(super) fn is_attachment(path: &str) -> bool {
    const ATTACHMENTS: &str = " png jpg jpeg jpe gif svg svgz webp avif apng bmp ico cur tif tiff psd eps heic heif \
        pdf ps djvu epub mobi doc docx odt rtf xls xlsx ods ppt pptx odp \
        zip gz tgz bz2 tbz xz txz zst lz lzma lz4 br 7z rar tar jar war whl egg deb rpm apk dmg iso img msi exe bin dll \
        so dylib crate gem asc sig sha1 sha256 sha512 md5 torrent \
        mp3 mp4 m4a m4v webm ogg oga ogv opus wav flac aac mov mkv avi mpg mpeg 3gp mid swf vtt srt \
        woff woff2 ttf otf eot canvas ";
    ending(path).is_some_and(|found| ATTACHMENTS.contains(&listed(found)))
}

/// An ending as it stands in a list of them.
fn listed(ending: &str) -> String {
    format!(" {} ", ending.to_ascii_lowercase())
}

/// Whether the ending is that of something else than a page, or of a page of some format.
pub(super) fn is_other(path: &str) -> bool {
    is_asset(path) || has_ending(path, &HTML_ENDINGS) || has_ending(path, &MARKDOWN_ENDINGS)
}

/// Which format of papers as JSON lines has fields that this line has.
pub(super) fn paper_lines(json: &str) -> Option<Format> {
    const UNARXIVE: [&str; 2] = ["\"authors_parsed\"", "\"bib_entry_raw\""];
    const S2ORC: [&str; 5] =
        ["\"corpusid\"", "\"mag_field_of_study\"", "\"grobid_parse\"", "\"has_pdf_parse\"", "\"BIBREF0\""];
    let has =
        |fields: &[&str]| fields.iter().any(|field| memchr::memmem::find(json.as_bytes(), field.as_bytes()).is_some());
    if has(&UNARXIVE) { Some(Format::Unarxive) } else { has(&S2ORC).then_some(Format::S2orc) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_short_and_has_a_letter() {
        assert_eq!(ending("a/b.html"), Some("html"));
        assert_eq!(ending("a.d/b"), None);
        assert_eq!(ending("release/1.95.0"), None);
        assert_eq!(ending(".htaccess"), None);
        assert_eq!(ending("struct.Vec.html"), Some("html"));
    }
}
