//! One file per command: its arguments, and the library calls it makes.

pub mod add;
pub mod cat;
pub mod common;
pub mod demo;
pub mod destination;
pub mod doctor;
mod drafts;
pub mod embed;
pub mod evaluate;
pub mod export;
pub mod generate;
pub mod import;
pub mod info;
pub mod lsp;
pub mod mcp;
pub mod merge;
pub mod pdf_text;
pub mod recommend;
pub mod reproduce;
pub mod serve;
pub mod shell;
pub mod similar;
pub mod snowball;
pub mod suggest;
pub mod train;
