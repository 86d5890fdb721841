//! `hd2v`: arguments in, library calls, output. Data goes to stdout, status to stderr.
//!
//! The program is a library so that the Python package can carry it, too; its door is [`run`]. That of `hd2v-mpi` is
//! [`run_on_ranks`]. It carries sample data, [`GLOSSARY`].

mod advice;
mod command;
mod draft_lines;
mod output;
mod progress;
mod recognise;
mod serve;
mod vector_index;
mod wire;
mod wire_draft;
mod wire_from;

use std::ffi::OsString;
use std::sync::OnceLock;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use hyperdoc2vec::train::{Ranks, gather_texts};

/// The notes of the sample glossary: names of Markdown files, and their texts.
pub use hd2v_glossary::NOTES as GLOSSARY;

/// The version, with the commit that the program was built from if that is known.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("HD2V_COMMIT"));

/// Embeddings for documents that link to each other: import them, train a model, find what a text should link to
#[derive(Parser)]
#[command(name = "hd2v", version = VERSION, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(command::demo::DemoArgs),
    Import(command::import::ImportArgs),
    Generate(command::generate::GenerateArgs),
    Merge(command::merge::MergeArgs),
    Train(command::train::TrainArgs),
    Add(command::add::AddArgs),
    Recommend(command::recommend::RecommendArgs),
    Suggest(command::suggest::SuggestArgs),
    Similar(command::similar::SimilarArgs),
    Snowball(command::snowball::SnowballArgs),
    Embed(command::embed::EmbedArgs),
    Serve(command::serve::ServeArgs),
    Lsp(command::lsp::LspArgs),
    Mcp(command::mcp::McpArgs),
    Evaluate(command::evaluate::EvaluateArgs),
    Reproduce(command::reproduce::ReproduceArgs),
    Export(command::export::ExportArgs),
    Info(command::info::InfoArgs),
    Doctor(command::doctor::DoctorArgs),
    Cat(command::cat::CatArgs),
    Completions(command::shell::CompletionsArgs),
    Man(command::shell::ManArgs),
    #[command(name = "pdf-text", hide = true)]
    PdfText(command::pdf_text::PdfTextArgs),
}

/// The command that starts this program, for those that start it again.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Runs the program and returns its exit code. `program` is the command that starts it again: a path, and what comes
/// before the arguments.
pub fn run(program: Vec<OsString>, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    PROGRAM.get_or_init(|| program);
    let command = Cli::parse_from([OsString::from("hd2v")].into_iter().chain(arguments)).command;
    let is_check = matches!(&command, Command::Suggest(arguments) if arguments.is_check());
    let done = match command {
        Command::Demo(arguments) => command::demo::run(&arguments),
        Command::Import(arguments) => command::import::run(&arguments),
        Command::Generate(arguments) => command::generate::run(&arguments),
        Command::Merge(arguments) => command::merge::run(&arguments),
        Command::Train(arguments) => command::train::run(&arguments),
        Command::Add(arguments) => command::add::run(&arguments),
        Command::Recommend(arguments) => command::recommend::run(&arguments),
        Command::Suggest(arguments) => command::suggest::run(&arguments),
        Command::Similar(arguments) => command::similar::run(&arguments),
        Command::Snowball(arguments) => command::snowball::run(&arguments),
        Command::Embed(arguments) => command::embed::run(&arguments),
        Command::Serve(arguments) => command::serve::run(&arguments),
        Command::Lsp(arguments) => command::lsp::run(&arguments),
        Command::Mcp(arguments) => command::mcp::run(&arguments),
        Command::Evaluate(arguments) => command::evaluate::run(&arguments),
        Command::Reproduce(arguments) => command::reproduce::run(&arguments),
        Command::Export(arguments) => command::export::run(&arguments),
        Command::Info(arguments) => command::info::run(&arguments),
        Command::Doctor(arguments) => command::doctor::run(&arguments),
        Command::Cat(arguments) => command::cat::run(&arguments),
        Command::Completions(arguments) => command::shell::completions(&arguments, Cli::command()),
        Command::Man(arguments) => command::shell::man(&arguments, Cli::command()),
        Command::PdfText(arguments) => command::pdf_text::run(&arguments),
    };
    match done {
        Ok(()) => 0,
        // Whoever reads our output has closed it.
        Err(error) if output::is_broken_pipe(&error) => 0,
        Err(error) => {
            fail("hd2v", &message(&error));
            let is_answer = error.is::<command::suggest::MissingLinks>();
            if is_check && !is_answer { 2 } else { exit_code(&error) }
        }
    }
}

/// Why the program fails.
fn message(error: &anyhow::Error) -> String {
    match error.downcast_ref::<hyperdoc2vec::Error>() {
        // The library's errors include their cause.
        Some(error) => advice::with_flags(error),
        None => format!("{error:#}"),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let usage = matches!(error.downcast_ref(), Some(hyperdoc2vec::Error::Usage(_)));
    if usage { 2 } else { 1 }
}

/// Says why `program` fails, on one line, whatever stands in the names of files.
fn fail(program: &str, why: &str) {
    output::status(format_args!("{program}: {}", output::on_one_line(why)));
}

/// Train on several processes, on one machine or many, to the same bytes as `hd2v train`
#[derive(Parser)]
#[command(name = "hd2v-mpi", version = VERSION, max_term_width = 100)]
struct RanksCli {
    #[command(subcommand)]
    command: RanksCommand,
}

#[derive(Subcommand)]
enum RanksCommand {
    Train(RanksTrainArgs),
}

/// Train a model on a corpus, as hd2v train does
#[derive(clap::Args)]
struct RanksTrainArgs {
    #[command(flatten)]
    train: command::train::TrainArgs,
    /// Share out the vectors of documents, so that each rank keeps an equal part of them; by default each keeps all
    #[arg(long)]
    shard_tables: bool,
}

/// Runs `hd2v-mpi`, of which this process is one of `ranks`, and returns the exit code. Rank 0 speaks for all.
pub fn run_on_ranks(ranks: &dyn Ranks, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let parsed = RanksCli::try_parse_from([OsString::from("hd2v-mpi")].into_iter().chain(arguments));
    let errors = gather_texts(ranks, &parsed.as_ref().err().map(ToString::to_string).unwrap_or_default());
    if errors.iter().position(|error| !error.is_empty()) == Some(ranks.rank()) {
        // The same for all, as a rule: the first says it.
        let _ = parsed.as_ref().err().map(clap::Error::print);
    }
    let RanksCommand::Train(arguments) = match parsed {
        Err(error) => return error.exit_code() as u8,
        Ok(_) if errors.iter().any(|error| !error.is_empty()) => return 2,
        Ok(cli) => cli.command,
    };
    if let Err(code) = said(ranks, same_program(ranks)) {
        return code;
    }
    let RanksTrainArgs { train: arguments, shard_tables } = arguments;
    let shared = command::train::Shared { ranks, shard_tables };
    let done = said(ranks, command::train::prepare(&arguments, Some(shared)))
        .and_then(|prepared| said(ranks, command::train::train(&arguments, prepared, Some(shared))));
    done.map_or_else(|code| code, |()| 0)
}

/// Refuses ranks that run another build of the program than the first.
fn same_program(ranks: &dyn Ranks) -> Result<()> {
    let versions = gather_texts(ranks, VERSION);
    let (first, own) = (&versions[0], &versions[ranks.rank()]);
    anyhow::ensure!(own == first, "this is hd2v-mpi {own}, and rank 0 is {first}; install one version on all machines");
    Ok(())
}

/// What a rank has done, if no other failed; otherwise the exit code, after rank 0 has said why they did.
fn said<T>(ranks: &dyn Ranks, done: Result<T>) -> Result<T, u8> {
    let own = match &done {
        Err(error) if matches!(error.downcast_ref(), Some(hyperdoc2vec::Error::OtherRank)) => String::new(),
        done => done.as_ref().err().map(message).unwrap_or_default(),
    };
    let (messages, hosts) = (gather_texts(ranks, &own), gather_texts(ranks, &ranks.host()));
    let code = done.as_ref().err().map_or(1, exit_code);
    if messages.iter().all(String::is_empty) {
        return done.map_err(|_| code);
    }
    if ranks.rank() == 0 {
        if messages.iter().all(|message| message == &messages[0]) {
            fail("hd2v-mpi", &messages[0]);
        } else {
            for (rank, message) in messages.iter().enumerate().filter(|(_, message)| !message.is_empty()) {
                fail("hd2v-mpi", &format!("rank {rank} on {}: {message}", hosts[rank]));
            }
        }
    }
    Err(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands below one, and itself.
    fn with_commands_below(command: clap::Command) -> Vec<clap::Command> {
        let below = command.get_subcommands().cloned().flat_map(with_commands_below).collect::<Vec<_>>();
        std::iter::once(command).chain(below).collect()
    }

    #[test]
    fn prose_of_the_help_is_wrapped_by_the_terminal_alone() {
        for command in with_commands_below(Cli::command()) {
            let Some(help) = command.get_after_help().map(ToString::to_string) else { continue };
            let lines: Vec<&str> = help.lines().collect();
            let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
            let heading = |line: &str| line.ends_with(':');
            for pair in lines.windows(2).filter(|pair| is_prose(pair[0]) && is_prose(pair[1])) {
                assert!(heading(pair[0]) || heading(pair[1]), "{}: {pair:?}", command.get_name());
            }
            let wide = lines.iter().find(|line| line.starts_with(' ') && line.chars().count() > 100);
            assert_eq!(wide, None, "{}", command.get_name());
        }
    }
}
