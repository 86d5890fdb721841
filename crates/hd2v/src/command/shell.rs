//! `hd2v completions` and `hd2v man`: what shells and `man` want to know of the commands.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

use super::destination::{self, Destination, OutputKind};
use crate::output::{print_exactly, status};

/// Print a script that completes commands and options in a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  hd2v completions bash > ~/.local/share/bash-completion/completions/hd2v
  hd2v completions zsh > ~/.zfunc/_hd2v
  hd2v completions fish > ~/.config/fish/completions/hd2v.fish
  hd2v completions powershell >> $PROFILE")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Write manual pages, one for each command
#[derive(Args)]
#[command(after_help = "\
Examples:
  hd2v man | man -l -
  hd2v man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The folder to write hd2v.1, hd2v-import.1 and so on to; pages of an earlier version there are replaced
    /// [default: hd2v.1 to stdout]
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// Prints the script for `command`.
pub fn completions(arguments: &CompletionsArgs, mut command: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "hd2v", &mut script);
    print_exactly(&String::from_utf8_lossy(&script))
}

/// Writes the pages of `command`.
pub fn man(arguments: &ManArgs, command: Command) -> Result<()> {
    let Some(folder) = &arguments.output else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return print_exactly(&String::from_utf8_lossy(&page));
    };
    let pages = pages(&command.disable_help_subcommand(true), "hd2v")?;
    let pages: Vec<(PathBuf, Vec<u8>)> = pages.into_iter().map(|(name, page)| (folder.join(name), page)).collect();
    let destination = |path| Destination { path, kind: OutputKind::ManualPage, force: true };
    let outputs: Vec<Destination<'_>> = pages.iter().map(|(path, _)| destination(path)).collect();
    // Pages of an earlier version are replaced; anything else of that name is not, and then nothing is written.
    destination::check(&outputs, &[])?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (output, (_, page)) in outputs.iter().zip(&pages) {
        output.write_file(&mut |out| Ok(out.write_all(page)?))?;
    }
    status(format_args!("{}: {} manual pages", folder.display(), pages.len()));
    Ok(())
}

/// File name and text of the page of `command`, and of each command below it that help shows.
fn pages(command: &Command, name: &str) -> Result<Vec<(String, Vec<u8>)>> {
    // The name of a page: clap wants one that lives as long as the program.
    let page_name: &'static str = name.to_owned().leak();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(page_name)).render(&mut page)?;
    let mut all = vec![(format!("{name}.1"), page)];
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        all.extend(pages(below, &format!("{name}-{}", below.get_name()))?);
    }
    Ok(all)
}
