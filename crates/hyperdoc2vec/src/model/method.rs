//! The methods: each a model that can be trained. A method is one row of the table in [`Method::phases`] and its
//! neighbours; all else that differs between methods follows from that.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::error::unknown_name;
use crate::model::Vectors;

/// A model to train.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = String, parse_err_fn = unknown_method)]
#[non_exhaustive]
pub enum Method {
    /// hyperdoc2vec as we do it best: PV-DBOW on the content, then sampled softmax on the links.
    #[serde(rename = "h-d2v")]
    #[strum(serialize = "h-d2v")]
    HyperDoc,
    /// hyperdoc2vec as the paper has it: PV-DM on the content, then negative sampling link by link.
    #[serde(rename = "h-d2v-paper")]
    #[strum(serialize = "h-d2v-paper")]
    HyperDocPaper,
    /// hyperdoc2vec as the paper has it, from random vectors.
    #[serde(rename = "h-d2v-random")]
    #[strum(serialize = "h-d2v-random")]
    HyperDocRandom,
    /// The content and citation phases of [`Method::HyperDoc`] at once, batches of each taking turns.
    Joint,
    /// The paper's two objectives at once: words of PV-DM and links of the paper's own step, batches taking turns.
    JointPaper,
    /// Citation as word: CBOW over words and links.
    #[strum(serialize = "w2v")]
    W2v,
    /// Citation as word by skip-gram.
    SkipGram,
    /// Document and words around a word predict it; links are not used.
    PvDm,
    /// A document predicts its words; links are not used.
    PvDbow,
    /// PV-DBOW on the text without links, word by word as gensim does it.
    #[strum(serialize = "d2v-nc")]
    D2vNc,
    /// PV-DBOW, word by word, on each document's text and every context that points at it.
    #[strum(serialize = "d2v-cac")]
    D2vCac,
    /// PV-DM on each document's text and every context that points at it: d2v-cac with word vectors.
    #[strum(serialize = "d2v-cac-dm")]
    D2vCacDm,
    /// The neural probabilistic model of Huang et al.
    Npm,
    /// Walks over the links; text is not used.
    #[serde(rename = "deepwalk")]
    #[strum(serialize = "deepwalk")]
    DeepWalk,
}

/// A phase of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseKind {
    /// PV-DBOW in batches.
    Content,
    /// Links in batches.
    Citation,
    /// Batches of text and of links in turns.
    Joint,
    /// PV-DM, word by word.
    Dm,
    /// PV-DBOW, word by word.
    Dbow,
    /// CBOW, word by word.
    Cbow,
    /// Skip-gram, word by word.
    SkipGram,
    /// The paper's citation phase, link by link.
    Reference,
    /// PV-DM and the paper's citation phase in turns.
    JointReference,
    /// Document vectors fitted to the words around links.
    Npm,
    /// Walks over the links.
    Walks,
}

/// The text of a document to a phase that learns word by word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// Its words.
    Words,
    /// Its words and links, in order.
    WithLinks,
    /// Its words, then the words around each link to it.
    WithContexts,
}

fn unknown_method(name: &str) -> String {
    unknown_name::<Method>("a method", name)
}

impl Method {
    /// The name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The phases of its training, in their order. The last gives the method its name.
    pub(crate) fn phases(self) -> &'static [PhaseKind] {
        match self {
            Method::HyperDoc => &[PhaseKind::Content, PhaseKind::Citation],
            Method::HyperDocPaper => &[PhaseKind::Dm, PhaseKind::Reference],
            Method::HyperDocRandom => &[PhaseKind::Reference],
            Method::Joint => &[PhaseKind::Joint],
            Method::JointPaper => &[PhaseKind::JointReference],
            Method::W2v => &[PhaseKind::Cbow],
            Method::SkipGram => &[PhaseKind::SkipGram],
            Method::PvDm | Method::D2vCacDm => &[PhaseKind::Dm],
            Method::PvDbow => &[PhaseKind::Content],
            Method::D2vNc | Method::D2vCac => &[PhaseKind::Dbow],
            Method::Npm => &[PhaseKind::Cbow, PhaseKind::Npm],
            Method::DeepWalk => &[PhaseKind::Walks],
        }
    }

    /// The text that its phases read word by word.
    pub(crate) fn text(self) -> TextForm {
        match self {
            Method::W2v | Method::SkipGram => TextForm::WithLinks,
            Method::D2vCac | Method::D2vCacDm => TextForm::WithContexts,
            _ => TextForm::Words,
        }
    }

    /// Whether links are words of the text, so that documents are known as targets only.
    pub(crate) fn reads_links_as_words(self) -> bool {
        self.text() == TextForm::WithLinks
    }

    fn has(self, kinds: &[PhaseKind]) -> bool {
        self.phases().iter().any(|phase| kinds.contains(phase))
    }

    /// The phase that gives it its name.
    pub(crate) fn last_phase(self) -> PhaseKind {
        self.phases()[self.phases().len() - 1]
    }

    /// The method that is its first phase alone, where others begin with the same: PV-DM, or w2v. (NPM needs word vectors
    /// from elsewhere; in evaluations they are those of w2v.)
    pub(crate) fn base(self) -> Option<Method> {
        match (self.phases()[0], self.text()) {
            (PhaseKind::Dm, TextForm::Words) => Some(Method::PvDm),
            (PhaseKind::Cbow, _) => Some(Method::W2v),
            _ => None,
        }
    }

    /// Whether it learns word by word or link by link, on one thread.
    pub fn is_serial(self) -> bool {
        self.phases().iter().any(|phase| !phase.is_batched())
    }

    /// Whether it cannot learn without links. Those that read links as text can.
    pub fn needs_links(self) -> bool {
        use PhaseKind::{Citation, Joint, JointReference, Npm, Reference, Walks};
        self.has(&[Citation, Joint, Reference, JointReference, Npm, Walks])
    }

    /// Whether words around a link weigh by distance and rarity, and words of the source join them. Such a method can
    /// learn to weigh rankings, and newcomers have OUT vectors from their content.
    pub fn weighs_words(self) -> bool {
        self.has(&[PhaseKind::Citation, PhaseKind::Joint])
    }

    /// Whether it learns these vectors: the paper's Table 2. Those that it does not learn are random or 0 in its models.
    pub fn learns(self, which: Vectors) -> bool {
        self.reads_links_as_words() || self.phases().iter().any(|phase| phase.learns().contains(&which))
    }

    /// The numbers in a vector where nothing else is asked for: DeepWalk has as many as in its authors' program.
    pub fn default_dim(self) -> usize {
        if self.knows_words() { 100 } else { 64 }
    }

    /// The words on each side of a link that count where nothing else is asked for. The paper read 50; where words weigh
    /// less the further away they are, more of them tell more.
    pub fn default_window(self) -> usize {
        if self.weighs_words() { 100 } else { 50 }
    }

    /// Whether it knows words at all.
    pub fn knows_words(self) -> bool {
        self != Method::DeepWalk
    }
}

impl PhaseKind {
    /// The vectors that it learns. Where links are words of the text, it learns those of documents, too.
    pub(crate) fn learns(self) -> &'static [Vectors] {
        use Vectors::{DocIn, DocOut, WordIn, WordOut};
        match self {
            PhaseKind::Content | PhaseKind::Dbow => &[WordOut, DocIn],
            PhaseKind::Dm => &[WordIn, WordOut, DocIn],
            PhaseKind::Cbow | PhaseKind::SkipGram => &[WordIn, WordOut],
            PhaseKind::Citation | PhaseKind::Reference => &[WordIn, DocIn, DocOut],
            PhaseKind::Joint | PhaseKind::JointReference => &[WordIn, WordOut, DocIn, DocOut],
            PhaseKind::Npm => &[DocOut],
            PhaseKind::Walks => &[DocIn],
        }
    }

    /// Whether it learns in batches, on all threads.
    pub fn is_batched(self) -> bool {
        matches!(self, PhaseKind::Content | PhaseKind::Citation | PhaseKind::Joint)
    }

    /// Whether it reads text word by word.
    pub fn is_direct(self) -> bool {
        use PhaseKind::{Cbow, Dbow, Dm, JointReference, SkipGram};
        matches!(self, Dm | Dbow | Cbow | SkipGram | JointReference)
    }

    /// Whether document and words around a word predict it.
    pub(crate) fn is_dm(self) -> bool {
        matches!(self, PhaseKind::Dm | PhaseKind::JointReference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name() {
        for &method in Method::VARIANTS {
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(serde_json::to_value(method).expect("JSON"), method.name());
        }
        let error = "d2v".parse::<Method>().expect_err("no such method");
        assert!(error.contains("h-d2v-paper, ") && error.ends_with("found \"d2v\""), "{error}");
    }

    #[test]
    fn what_methods_learn_follows_from_their_phases() {
        let those = |is: fn(Method) -> bool| {
            Method::VARIANTS
                .iter()
                .filter(|method| is(**method))
                .map(|method| method.name())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(those(|m| !m.is_serial()), "h-d2v joint pv-dbow");
        assert_eq!(those(Method::needs_links), "h-d2v h-d2v-paper h-d2v-random joint joint-paper npm deepwalk");
        assert_eq!(those(Method::weighs_words), "h-d2v joint");
    }

    #[test]
    fn each_method_learns_the_matrices_that_table_2_of_the_paper_gives_it() {
        // D^I, D^O, W^I, W^O. The paper's table has w2v, both forms of d2v, and h-d2v.
        let table = [
            (Method::W2v, "✓✓✓✓"),
            (Method::SkipGram, "✓✓✓✓"),
            (Method::PvDm, "✓×✓✓"),
            (Method::D2vCacDm, "✓×✓✓"),
            (Method::PvDbow, "✓××✓"),
            (Method::D2vNc, "✓××✓"),
            (Method::D2vCac, "✓××✓"),
            (Method::HyperDoc, "✓✓✓✓"),
            (Method::HyperDocPaper, "✓✓✓✓"),
            (Method::Joint, "✓✓✓✓"),
            (Method::JointPaper, "✓✓✓✓"),
            // Without a pass over the text, no word is ever predicted.
            (Method::HyperDocRandom, "✓✓✓×"),
            // Word vectors of CBOW, and documents fitted to them.
            (Method::Npm, "×✓✓✓"),
            (Method::DeepWalk, "✓×××"),
        ];
        assert_eq!(table.len(), Method::VARIANTS.len());
        for (method, expected) in table {
            let learnt = [Vectors::DocIn, Vectors::DocOut, Vectors::WordIn, Vectors::WordOut]
                .map(|which| if method.learns(which) { '✓' } else { '×' });
            assert_eq!(String::from_iter(learnt), expected, "{method}");
        }
    }
}
