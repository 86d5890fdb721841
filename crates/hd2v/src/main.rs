//! The program `hd2v`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let program = std::env::current_exe().map_or(name, Into::into);
    ExitCode::from(hd2v::run(vec![program], arguments))
}
