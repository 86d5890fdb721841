//! The models that the paper compares with, learnt example by example.

pub(crate) mod deepwalk;
pub(crate) mod direct;
pub(crate) mod joint_reference;
pub(crate) mod npm;
pub(crate) mod reference;
pub(crate) mod sequential;
pub(crate) mod text;
