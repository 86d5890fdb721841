//! The page in the browser of whoever started the server.

use std::process::{Command, Stdio};

use crate::output::status;

/// Opens an address with the system's own command; says so if there is none.
pub fn open(address: &str) {
    let (program, first) = match std::env::consts::OS {
        "macos" => ("open", None),
        "windows" => ("rundll32", Some("url.dll,FileProtocolHandler")),
        _ => ("xdg-open", None),
    };
    let mut command = Command::new(program);
    command.args(first).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // It is waited for, so that it does not stay as a zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(_) => status(format_args!("no browser was found; open {address} in one")),
    }
}
