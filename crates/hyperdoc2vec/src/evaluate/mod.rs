//! How well vectors and rankings do: the experiments of the paper, on any corpus.
//!
//! `metrics` are pure functions with cases worked by hand, `stats` tests which differences mean anything, `trec` writes
//! files that others can check, `svm` and `folds` classify.
//!
//! Links: `methods` names what can be compared, `rankers` ask one model, `links` trains and asks them all, `report` makes
//! figures of that. Vectors: `classes` of documents, `intents` of links, both by `classify`; `criteria` probes what methods
//! reflect; `places` takes links out of pages and asks where they stood; `map` draws. `scheme` names the citation functions of the paper's set.

pub(crate) mod classes;
pub(crate) mod classify;
pub(crate) mod criteria;
pub(crate) mod folds;
pub(crate) mod intents;
pub(crate) mod links;
pub(crate) mod map;
pub(crate) mod methods;
pub(crate) mod metrics;
mod passage;
mod places;
pub(crate) mod rankers;
mod ranking_recall;
pub(crate) mod report;
pub(crate) mod scheme;
pub(crate) mod stats;
pub(crate) mod svm;
pub(crate) mod trec;

pub use classes::{
    ClassesParams, Classifying, DEFAULTS as CLASS_METHODS, LabelledDocuments, check as check_classes, class_seconds,
    run as evaluate_classes,
};
pub use criteria::{CRITERIA, CriteriaParams, PROBED, run as evaluate_criteria};
pub use intents::{
    CHOICE_FOLDS, COSTS, ContextWords, FunctionParams, Functions, INTENT_METHODS, IntentContexts, LabelledContext,
    intent_contexts, read as read_intents,
};
pub use links::{EvaluationStep, HeldOutLinks, LinkEvaluation, LinksParams, MethodPlaces, train_params};
pub use map::map as map_of_documents;
pub use methods::{
    Ask, LinkMethod, TargetVectors, Trains, Workload, all as all_link_methods, costs as link_method_costs,
    defaults as default_link_methods,
};
pub use metrics::Profile;
pub use places::evaluate_places;
pub use ranking_recall::{RankingRecall, ranking_recall};
pub use report::{Findings, comparisons_json, data_json, methods_json, recall_json, split_json};
pub use scheme::{SCHEME, SchemeClass, scheme_class};
pub use stats::holm;
pub use svm::{Gamma, SvmParams};
