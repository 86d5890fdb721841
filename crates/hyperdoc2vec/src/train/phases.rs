//! The phases of each method, in their order.

use crate::corpus::view::View;
use crate::model::params::{Method, TrainParams};
use crate::train::Phase;
use crate::train::citation::Citation;
use crate::train::content::Dbow;
use crate::train::joint::Joint;
use crate::train::rivals::deepwalk::DeepWalk;
use crate::train::rivals::direct::{Direct, Form};
use crate::train::rivals::npm::Npm;
use crate::train::rivals::reference::ReferenceCitation;
use crate::train::rivals::text::Text;

/// The text in the form that the phases of a method read.
pub(crate) fn text<'a>(view: &'a View<'a>, params: &TrainParams) -> Option<Text<'a>> {
    match params.method {
        Method::HyperDoc | Method::Joint | Method::HyperDocRandom | Method::PvDbow | Method::DeepWalk => None,
        Method::HyperDocPaper | Method::PvDm | Method::D2vNc | Method::Npm => Some(Text::words(view)),
        Method::W2v => Some(Text::with_links(view)),
        Method::D2vCac => Some(Text::with_contexts(view, params.window)),
    }
}

/// The phases of a method; `text` is that of [`text`].
pub(crate) fn phases<'a>(
    view: &'a View<'a>,
    text: Option<&'a Text<'a>>,
    params: &'a TrainParams,
) -> Vec<Box<dyn Phase + 'a>> {
    let seed = params.seed;
    let direct = |form| {
        let phase = text.map(|text| Direct::new(text, form, &params.direct, seed));
        phase.map(|phase| Box::new(phase) as Box<dyn Phase + 'a>).into_iter()
    };
    let content = || Dbow::new(view, &params.content, seed);
    let citation = || Citation::new(view, &params.citation, params.window, seed);
    let reference = || Box::new(ReferenceCitation::new(view, &params.reference, seed));
    let mut phases: Vec<Box<dyn Phase + 'a>> = Vec::new();
    match params.method {
        Method::HyperDoc => {
            phases.push(Box::new(content()));
            let citation = citation();
            phases.push(Box::new(if params.starts_from_content() { citation.from_content() } else { citation }));
        }
        Method::Joint => phases.push(Box::new(Joint::new(content(), citation()))),
        Method::HyperDocPaper => {
            phases.extend(direct(Form::Dm));
            phases.push(reference());
        }
        Method::HyperDocRandom => phases.push(reference()),
        Method::W2v => phases.extend(direct(if params.direct.skip_gram { Form::SkipGram } else { Form::Cbow })),
        Method::PvDm => phases.extend(direct(Form::Dm)),
        Method::PvDbow => phases.push(Box::new(content())),
        Method::D2vNc | Method::D2vCac => phases.extend(direct(Form::Dbow)),
        Method::Npm => {
            phases.extend(direct(Form::Cbow));
            phases.push(Box::new(Npm::new(view, &params.npm, seed)));
        }
        Method::DeepWalk => phases.push(Box::new(DeepWalk::new(view, &params.deepwalk, seed))),
    }
    phases
}
