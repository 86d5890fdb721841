//! The phases of each method, in their order, and which of them read certain parameters.

use crate::corpus::view::View;
use crate::model::params::{DirectParams, Method, PhaseKind, ReferenceParams, TextForm, TrainParams};
use crate::train::Phase;
use crate::train::citation::Citation;
use crate::train::content::Content;
use crate::train::joint::Joint;
use crate::train::ranks::Team;
use crate::train::rivals::deepwalk::DeepWalk;
use crate::train::rivals::direct::{Direct, Form};
use crate::train::rivals::joint_reference::JointReference;
use crate::train::rivals::npm::Npm;
use crate::train::rivals::reference::ReferenceCitation;
use crate::train::rivals::text::Text;

/// The text in the form that the phases of a method read, if they read it word by word.
pub(crate) fn text<'a>(view: &'a View<'a>, params: &TrainParams) -> Option<Text<'a>> {
    let read = params.method.phases().iter().any(|phase| phase.is_direct());
    read.then(|| match params.method.text() {
        TextForm::Words => Text::words(view),
        TextForm::WithLinks => Text::with_links(view, params.min_count),
        TextForm::WithContexts => Text::with_contexts(view, params.window),
    })
}

/// The phases of a method; `text` is that of [`text`]. Only phases in batches are shared by a team.
pub(crate) fn phases<'a>(
    view: &'a View<'a>,
    text: Option<&'a Text<'a>>,
    params: &'a TrainParams,
    team: Team<'a>,
) -> Vec<Box<dyn Phase + 'a>> {
    let seed = params.seed;
    let read = |form| text.map(|text| Direct::new(text, form, &params.direct, seed));
    let direct = |form| read(form).map(|phase| Box::new(phase) as Box<dyn Phase + 'a>);
    let reference = || ReferenceCitation::new(view, &params.reference, seed);
    let content = || Content::new(view, &params.content, seed).shared_by(team);
    let citation = || Citation::new(view, &params.citation, params.window, seed).shared_by(team);
    let phase = |&kind: &PhaseKind| -> Option<Box<dyn Phase + 'a>> {
        Some(match kind {
            PhaseKind::Content => Box::new(content()),
            PhaseKind::Citation if params.starts_from_content() => Box::new(citation().from_content()),
            PhaseKind::Citation => Box::new(citation()),
            PhaseKind::Joint => Box::new(Joint::new(content(), citation())),
            PhaseKind::Dm => return direct(Form::Dm),
            PhaseKind::Dbow => return direct(Form::Dbow),
            // NPM's words are those of CBOW.
            PhaseKind::Cbow if params.direct.skip_gram && params.method.last_phase() == kind => {
                return direct(Form::SkipGram);
            }
            PhaseKind::Cbow => return direct(Form::Cbow),
            PhaseKind::SkipGram => return direct(Form::SkipGram),
            PhaseKind::Reference => Box::new(reference()),
            PhaseKind::JointReference => Box::new(JointReference::new(read(Form::Dm)?, reference())),
            PhaseKind::Npm => Box::new(Npm::new(view, &params.npm, seed)),
            PhaseKind::Walks => Box::new(DeepWalk::new(view, &params.deepwalk, seed)),
        })
    };
    params.method.phases().iter().filter_map(phase).collect()
}

impl Method {
    /// Whether a phase of its training is PV-DM, so that [`DirectParams::dm_window`] counts.
    pub fn has_dm(self) -> bool {
        self.phases().iter().any(|phase| phase.is_dm())
    }

    /// Whether a phase of its training takes the paper's step on links, so that [`TrainParams::reference`] counts.
    pub fn has_paper_step(self) -> bool {
        self.phases().iter().any(|phase| matches!(phase, PhaseKind::Reference | PhaseKind::JointReference))
    }
}

impl TrainParams {
    /// Sets all that the authors' program does in its own way, slips included. Passes, noise and the window around links
    /// stay, and so does a window of PV-DM that was chosen.
    pub fn follow_authors_program(&mut self) {
        let ReferenceParams { epochs, noise, .. } = self.reference;
        self.reference = ReferenceParams { epochs, noise, window: self.window, ..ReferenceParams::default() };
        if self.method.has_dm() {
            self.direct.dm_window.get_or_insert(DirectParams::AUTHORS_DM_WINDOW);
        }
    }
}
