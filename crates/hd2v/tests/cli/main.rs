//! The program as its users run it: the real binary, in directories of its own, judged by what it prints and leaves.

mod add;
mod bad_input;
mod damage;
mod embed;
mod evaluate;
mod golden;
mod good_paths;
mod helper;
mod interrupt;
mod model;
mod output;
mod serve;
mod train;
