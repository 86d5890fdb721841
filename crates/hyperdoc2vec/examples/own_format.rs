//! Bring your own format: anything that gives documents can be imported.
//!
//! `cargo run --release --example own_format`
//!
//! The format here is a mailbox of messages with `In-Reply-To` headers; a reply is a link to the message it answers.
#![allow(clippy::print_stdout)]

use hyperdoc2vec::{Document, Error, Import, Link, Recommender, Side, Training};

/// Three threads of mail. A reader of real files would be an iterator over them.
const MAILBOX: &str = "\
Message: 1
Subject: Segfault in the allocator

The allocator crashes when an arena is empty.

Message: 2
Subject: Re: Segfault in the allocator
In-Reply-To: 1

The arena is freed twice; the patch below mends the allocator.

Message: 3
Subject: Release notes

The release mends the allocator and speeds up the parser.

Message: 4
Subject: Re: Release notes
In-Reply-To: 3

Please mention the parser flags in the release notes.
";

fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join("hyperdoc2vec-own-format");
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");

    // `Import::documents` takes any iterator: it is read batch by batch, so it need not fit into memory.
    let import = Import::documents(messages(MAILBOX)).min_count(1).replace();
    let (corpus, report) = import.build_with_report(folder.join("mail.corpus"))?;
    println!("{} messages, {} replies", report.documents, report.links);
    // Links to messages that are not there are counted, never dropped in silence.
    for (loss, tally) in corpus.manifest().losses.iter() {
        println!("{} {}", tally.count, loss.describe_count(tally.count));
    }

    let model = Training::new(&corpus).dim(8).replace().run(folder.join("mail.model"))?;
    for hit in Recommender::new(&model).similar("1", Side::In, 2)? {
        println!("near message 1: {} {:?} {:.2}", hit.id, hit.title.unwrap_or_default(), hit.score);
    }
    Ok(())
}

/// The messages of a mailbox, lazily.
fn messages(mailbox: &str) -> impl Iterator<Item = Document> + '_ {
    mailbox.split("Message: ").filter(|message| !message.trim().is_empty()).map(|message| {
        let (head, body) = message.split_once("\n\n").unwrap_or((message, ""));
        let mut lines = head.lines();
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let mut document = Document::new(lines.next().unwrap_or_default(), "");
        document.title = header("Subject:").map(str::to_owned);
        // A link stands at a byte of the text; here before the first, where the quoted message would be.
        let reply = |id: &str| Link { at: 0, anchor: 0, targets: vec![id.to_owned()] };
        document.links = header("In-Reply-To:").map(reply).into_iter().collect();
        document.text = body.trim().to_owned();
        document
    })
}
