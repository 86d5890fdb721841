//! Internals for the benchmarks, experiments and fuzz targets of this repository. No promise is made:
//! names here come and go.

#![allow(missing_docs)]

pub mod corpus {
    pub mod cited_by {
        pub use crate::corpus::cited_by::*;
    }
    pub mod sentence_words {
        pub use crate::corpus::sentence_words::*;
    }
    pub mod view {
        pub use crate::corpus::view::*;
    }
    pub mod window {
        pub use crate::corpus::window::*;
    }
}
pub mod document {
    pub mod markup {
        pub use crate::document::markup::*;
    }
    pub mod tokenize {
        pub use crate::document::tokenize::*;
    }
}
pub mod id {
    pub use crate::id::*;
}
pub mod import {
    pub use crate::corpus::prepare::DocumentBatch;
    pub use crate::import::parsed::Parsed;
    pub use crate::import::tree::Pages;
    pub use crate::storage::part::FramePlace;

    pub mod bzip {
        /// The bytes that `packed` holds, which is given to the reader piece by piece.
        pub fn streams(packed: Vec<u8>, piece: usize) -> impl std::io::Read {
            let packed = std::io::Cursor::new(packed);
            crate::import::bzip::Streams::new(std::io::BufReader::with_capacity(piece, packed))
        }
    }
    pub mod html {
        pub use crate::import::html::*;
    }
    pub mod jats {
        pub use crate::import::jats::*;
    }
    pub mod jsonl {
        pub use crate::import::jsonl::*;
    }
    pub mod latex {
        pub use crate::import::latex::*;
    }
    pub mod library {
        pub use crate::import::library::*;
    }
    pub mod lines {
        pub use crate::import::lines::*;
    }
    pub mod markdown {
        pub use crate::import::markdown::*;
    }
    pub mod mediawiki {
        pub use crate::import::mediawiki::*;
    }
    pub mod openalex {
        pub use crate::import::openalex::*;
    }
    pub mod papers {
        pub use crate::import::papers::*;
    }
    pub mod pdf {
        /// The text of a page of characters: where each begins and ends, how high it stands, its size.
        pub fn page_text<'a>(characters: impl IntoIterator<Item = ([f64; 4], &'a str)>) -> String {
            crate::import::pdf::built_in::page_text(characters)
        }

        /// The text that an answer of GROBID brings.
        pub fn grobid_body(answer: &[u8]) -> Result<String, String> {
            crate::import::pdf::grobid::body(answer)
        }
    }
    pub mod reference {
        pub use crate::import::reference::entry::BibliographyEntry;
        pub use crate::import::reference::linker::{Match, NearMatch};
        pub use crate::import::reference::*;
    }
    pub mod s2orc {
        pub use crate::import::s2orc::*;
    }
    pub mod source {
        pub use crate::import::source::*;
    }
    pub mod tei {
        pub use crate::import::tei::*;
    }
    pub mod unarxive {
        pub use crate::import::unarxive::*;
    }
}
pub mod kernel {
    pub use crate::kernel::*;
}
pub mod model {
    pub mod index {
        pub use crate::model::index::links::Context;

        pub mod postings {
            use crate::model::Model;
            pub use crate::model::index::postings::*;
            pub use crate::model::index::terms::Field;

            /// The inverted index of a field, where the model has one.
            pub fn postings(model: &Model, field: Field) -> Option<Postings<'_>> {
                model.postings(field)
            }
        }
        pub mod terms {
            pub use crate::model::index::terms::*;
        }
    }
    pub mod tables {
        pub use crate::model::tables::*;
    }
    pub mod weighting {
        pub use crate::model::weighting::*;
    }
}
pub mod rng {
    pub use crate::rng::*;
}
pub mod storage {
    pub mod container {
        pub use crate::storage::container::*;
    }
    pub mod strings {
        pub use crate::storage::strings::*;
    }
}
pub mod search {
    pub use crate::search::Ranking;
    pub use crate::search::query::Query;
    pub use crate::search::rank::Hit;
    pub use crate::search::searcher::Searcher;

    pub mod approximate {
        pub use crate::search::approximate::*;
    }
    pub mod bm25 {
        pub use crate::search::bm25::*;
    }
    pub mod explain {
        pub use crate::search::explain::*;
    }
    pub mod query {
        pub use crate::search::query::*;
    }
    pub mod rank {
        pub use crate::search::rank::*;
    }
    pub mod ranker {
        pub use crate::search::ranker::forest::{BoostParams, Forest, Samples};
        pub use crate::search::ranker::*;
    }
}
pub mod train {
    pub use crate::train::Phase;

    pub mod citation {
        pub use crate::train::citation::*;
    }
    pub mod ranker {
        pub use crate::train::ranker::samples;
    }
    pub mod content {
        pub use crate::train::content::*;
    }
    pub mod rivals {
        pub mod direct {
            pub use crate::train::rivals::direct::*;
        }
        pub mod reference {
            pub use crate::train::rivals::reference::*;
        }
        pub mod text {
            pub use crate::train::rivals::text::*;
        }
    }
}
