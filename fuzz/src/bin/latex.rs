//! Any bytes as a main file of LaTeX, and as its bibliography: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::import::ImportOptions;
use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::latex::Latex;
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

/// The text under test is put into one paper as text, into another as its `.bib`, into a third as its `.bbl`.
static FOLDERS: LazyLock<[Folder; 3]> = LazyLock::new(|| {
    let paper = "\\documentclass{a}\\title{The growth of trees in forests}\\begin{document}\\cite{a,b}\\bibliography{r}\\input{t}";
    let folder = |page: &str| Folder::new(page, &[("p/main.tex", paper), ("q.tex", paper)]);
    [folder("p/t.tex"), folder("p/r.bib"), folder("p/main.bbl")]
});

fuzz_target!(|bytes: &[u8]| {
    for folder in &*FOLDERS {
        folder.write(bytes);
        let latex = Latex::open(&folder.roots(), &ImportOptions::default()).expect("files");
        check_all(&latex.parse(0..latex.len()));
    }
});
