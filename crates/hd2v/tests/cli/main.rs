//! The program as its users run it: the real binary, in directories of its own, judged by what it prints and leaves.

mod add;
mod articles;
mod bad_input;
mod damage;
mod destination;
mod embed;
mod evaluate;
mod golden;
mod good_paths;
mod helper;
mod interrupt;
mod library;
mod lsp;
mod mcp;
mod model;
mod output;
mod papers;
mod points;
mod serve;
mod shards;
mod suggest;
mod train;
