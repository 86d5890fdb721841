//! The models that the paper compares with, learnt example by example.

pub mod deepwalk;
pub mod direct;
pub mod npm;
pub mod reference;
pub mod sequential;
pub mod text;
