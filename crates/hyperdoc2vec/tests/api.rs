//! The library as a stranger uses it: only what the front page shows.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use hyperdoc2vec::evaluate::ranking_recall;
use hyperdoc2vec::export::VectorExport;
use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::{
    Addition, Corpus, Date, Document, DraftFormat, Error, Format, Import, Inferrer, Link, Method, Model, NotFound,
    Question, Ranking, Recommender, Side, Split, SuggestOptions, Suggester, TrainParams, Training,
};

/// Four hundred documents whose links follow their topics.
fn documents() -> Vec<Document> {
    let mut params = GenerateParams::default();
    (params.docs, params.links, params.words) = (400, 2400, 80);
    Generator::new(&params).expect("a plan").documents(0..400)
}

fn corpus(folder: &Path) -> Corpus {
    Import::documents(documents()).build(folder.join("corpus")).expect("a corpus")
}

fn model(folder: &Path) -> Model {
    Training::new(&corpus(folder)).dim(24).epochs(4).run(folder.join("model")).expect("a model")
}

/// A link of a document as a question, and its target.
fn held(document: &Document) -> (String, &str) {
    let link = &document.links[0];
    let text = format!("{} [[?]] {}", &document.text[..link.anchor], &document.text[link.at..]);
    (text, &link.targets[0])
}

#[test]
fn documents_train_a_model_that_finds_their_links_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = model(dir.path());
    let recommender = Recommender::new(&model);
    let documents = documents();
    let asked: Vec<(String, &str)> = documents.iter().filter(|d| !d.links.is_empty()).take(40).map(held).collect();
    let questions: Vec<Question> = asked.iter().map(|(text, _)| Question::new(text)).collect();
    let answers = recommender.ask_all(&questions);
    let found = asked.iter().zip(&answers).filter(|((_, target), answer)| {
        answer.as_ref().is_ok_and(|answer| answer.hits.iter().any(|hit| hit.id == *target))
    });
    assert!(found.count() >= 30);
    for (question, answer) in questions.iter().zip(&answers) {
        assert_eq!(&recommender.ask(question).expect("an answer"), answer.as_ref().expect("an answer"));
    }
}

#[test]
fn answers_heed_filters_sources_and_rankings_and_explain_themselves() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = model(dir.path());
    let recommender = Recommender::new(&model);
    let documents = documents();
    let document = documents.iter().find(|document| !document.links.is_empty()).expect("a link");
    let (text, _) = held(document);
    let ask = |question: Question| recommender.ask(&question).expect("an answer");
    let all = ask(Question::new(&text).rank(Ranking::Bm25Cited).top(5).explain());
    assert_eq!((all.ranking, all.hits.len()), (Ranking::Bm25Cited, 5));
    let why = all.hits[0].why.as_ref().expect("an explanation");
    let shares: f32 = why.bm25.shares.iter().map(|(_, share)| share).sum();
    assert!((shares - why.bm25.score).abs() < 1e-3, "shares add up to the score");
    let first = all.hits[0].id.clone();
    let without = ask(Question::new(&text).rank(Ranking::Bm25Cited).exclude([&first]));
    assert!(!without.hits.is_empty() && without.hits.iter().all(|hit| hit.id != first));
    let only = ask(Question::new(&text).only([first.as_str(), all.hits[1].id.as_str()]));
    assert_eq!(only.hits.len(), 2);
    assert!(only.hits.iter().all(|hit| [&first, &all.hits[1].id].contains(&&hit.id)));
    let date: Date = "2005".parse().expect("a date");
    let before = ask(Question::new(&text).before(date)).hits;
    assert!(!before.is_empty() && before.iter().all(|hit| hit.date.is_some_and(|there| there < date)));
    let sourced = ask(Question::new(&text).source(&document.id)).hits;
    assert!(!sourced.is_empty() && sourced.iter().all(|hit| hit.id != document.id));
    assert!(!ask(Question::new(&text).source_text(&document.text)).hits.is_empty());
    let twice = Question::new(&text).source(&document.id).source_text(&document.text);
    assert!(matches!(recommender.ask(&twice), Err(Error::Usage(_))));
    let nothing = ask(Question::new("zxcv qwer"));
    assert!(nothing.hits.is_empty() && nothing.reason.is_some_and(|reason| reason.contains("known")));
}

#[test]
fn drafts_get_links_where_the_corpus_has_them() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut pages = vec![Document::new("tools/lathe", "a machine that turns wood").title("Lathe")];
    pages.extend((0..240).map(|n| {
        let text = match n % 2 {
            0 => "Bowls are turned on a [lathe][[tools/lathe]] with a gouge, and the lathe has to be fast.",
            _ => "Nothing on this page is linked, though it is about bowls and wood.",
        };
        Document::new(format!("page-{n}"), text)
    }));
    let corpus = Import::documents(pages).build(dir.path().join("corpus")).expect("a corpus");
    let model = Training::new(&corpus).dim(8).run(dir.path().join("model")).expect("a model");
    let suggester = Suggester::new(&model).expect("a model that has learnt where links belong");
    let text = "Turned on a lathe, they are thin. We cite \\cite{?} here.\n";
    let options = SuggestOptions::new(DraftFormat::Latex).min_probability(0.3);
    let found = suggester.suggest(text, &options).expect("suggestions");
    let links: Vec<(&str, &str, bool)> =
        found.links.iter().map(|link| (&*link.words, &*link.id, link.wanted)).collect();
    assert_eq!(links[0], ("lathe", "tools/lathe", false));
    let answered = links.iter().filter(|link| link.2).count();
    assert_eq!(answered + found.unanswered, 1, "the mark has an answer that is likely enough, or none: {links:?}");
    assert!(found.apply(text).starts_with("Turned on a lathe~\\cite{tools/lathe}, they are thin."));
    let strict = SuggestOptions::new(DraftFormat::Latex).min_probability(1.0);
    assert_eq!(suggester.suggest(text, &strict).expect("suggestions").apply(text), text);
}

#[test]
fn errors_are_told_apart_by_kind() {
    let dir = tempfile::tempdir().expect("a directory");
    let model = model(dir.path());
    let recommender = Recommender::new(&model);
    let unknown = recommender.similar("d0000000", Side::In, 3).expect_err("no such document");
    assert!(matches!(unknown, Error::NotFound { kind: NotFound::Document, .. }), "{unknown}");
    assert!(unknown.to_string().contains("did you mean"), "{unknown}");
    assert!(matches!(recommender.ask(&Question::new(" ")), Err(Error::NoWords)));
    assert!(matches!(Model::open(dir.path().join("gone")), Err(Error::Io { .. })));
    std::fs::write(dir.path().join("other"), "something else, longer than a header").expect("a file");
    for other in ["other", "corpus", "."] {
        assert!(matches!(Model::open(dir.path().join(other)), Err(Error::Foreign { .. })), "{other}");
    }
    let half = std::fs::read(model.path()).map(|bytes| bytes[..bytes.len() / 2].to_vec()).expect("a model");
    std::fs::write(dir.path().join("half"), half).expect("a file");
    assert!(matches!(Model::open(dir.path().join("half")), Err(Error::Damaged { .. })));
    let gone = Corpus::open(dir.path().join("gone")).expect_err("no such corpus");
    assert!(matches!(&gone, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound), "{gone}");
    assert!(gone.to_string().ends_with("no such corpus; import the documents first"), "{gone}");
    assert!(matches!(Corpus::open(dir.path()), Err(Error::Foreign { .. })));
    let twice = Import::documents(documents()).build(dir.path().join("corpus"));
    assert!(matches!(twice, Err(Error::Exists { .. })));
    let walks = Training::new(&Corpus::open(dir.path().join("corpus")).expect("a corpus"))
        .method(Method::DeepWalk)
        .epochs(1)
        .run(dir.path().join("walks"))
        .expect("a model");
    let question = Question::new("some words").rank(Ranking::Embedding);
    assert!(matches!(Recommender::new(&walks).ask(&question), Err(Error::Unsupported { .. } | Error::NoWords)));
    let nameless = Import::documents([Document::new(" ", "text")]).build(dir.path().join("c2"));
    assert!(nameless.expect_err("no id").to_string().contains("document 1: the id is empty"));
}

#[test]
fn training_tells_its_progress_stops_when_asked_and_resumes_to_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    let corpus = corpus(dir.path());
    let training = || Training::new(&corpus).dim(8).epochs(3).seed(5);
    let whole = training().threads(1).run(dir.path().join("whole")).expect("a model");
    let checkpoint = dir.path().join("checkpoint");
    let mut batches = 0;
    let stopped = training().checkpoint(&checkpoint, Duration::from_secs(3600)).watch(|progress| {
        batches += 1;
        assert!((0.0..=1.0).contains(&progress.done));
        if batches == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped.run(dir.path().join("pieces")), Err(Error::Stopped { .. })));
    let resumed = training().checkpoint(&checkpoint, Duration::from_secs(3600)).resume(true).threads(2);
    let resumed = resumed.run(dir.path().join("pieces")).expect("a model");
    let bytes = |model: &Model| std::fs::read(model.path()).expect("a file");
    assert!(bytes(&whole) == bytes(&resumed));
    assert_eq!(whole.params(), &{
        let mut params = TrainParams::for_corpus(&corpus);
        (params.dim, params.seed) = (8, 5);
        params.set_epochs(3);
        params
    });
}

#[test]
fn vectors_are_embedded_added_exported_and_evaluated() {
    let dir = tempfile::tempdir().expect("a directory");
    let documents = documents();
    let (old, new) = documents.split_at(360);
    let corpus = Import::documents(old.to_vec()).build(dir.path().join("old")).expect("a corpus");
    let model = Training::new(&corpus).dim(24).epochs(4).run(dir.path().join("m")).expect("a model");
    let texts: Vec<&str> = new.iter().map(|document| document.text.as_str()).collect();
    let inferred = Inferrer::new(&model).expect("a method that infers").texts(&texts).expect("vectors");
    assert!(inferred.iter().all(|text| text.vector.len() == 24 && text.known > 0));
    let more = Import::documents(new.to_vec()).build(dir.path().join("new")).expect("a corpus");
    let mut seen = Vec::new();
    let added = Addition::new(&model, &more)
        .watch(|done, of| {
            seen.push((done, of));
            ControlFlow::Continue(())
        })
        .write(dir.path().join("grown"))
        .expect("a model");
    assert_eq!((added.documents, seen), (40, vec![(0, 40), (40, 40)]));
    let again = Addition::new(&model, &more).write(dir.path().join("grown"));
    assert!(matches!(again, Err(Error::Exists { .. })), "{again:?}");
    let near = Recommender::new(&model).similar_to(&inferred[0].vector, Side::In, 3).expect("documents");
    assert!(near.len() == 3 && near[0].score > 0.3 && near[0].score >= near[1].score, "{near:?}");
    assert!(Recommender::new(&model).similar_to(&[1.0], Side::In, 3).is_err());
    let stopped = Addition::new(&model, &more).watch(|_, _| ControlFlow::Break(())).write(dir.path().join("stopped"));
    assert!(matches!(stopped, Err(Error::Interrupted)) && !dir.path().join("stopped").exists());
    let grown = Model::open(dir.path().join("grown")).expect("a model");
    assert_eq!(grown.documents(), 400);
    let mut out = Vec::new();
    VectorExport::new(&grown, Vectors::DocOut).expect("learnt").npy(&mut out).expect("written");
    assert!(out.len() > 400 * 24 * 4);
    let whole = Import::documents(documents.clone()).build(dir.path().join("whole")).expect("a corpus");
    let split = Split::by_share(&whole, 0.2, 1).expect("a split");
    let part = Training::new(&whole).dim(24).split(&split).run(dir.path().join("part")).expect("a model");
    let (questions, recalls) = ranking_recall(&whole, &split, &part, 100, 10).expect("figures");
    assert!(questions > 50 && recalls.len() >= 3);
    assert!(recalls.iter().any(|recall| recall.with_anchor > 0.5), "{recalls:?}");
}

#[test]
fn files_are_imported_with_a_report_and_written_as_jsonl() {
    let dir = tempfile::tempdir().expect("a directory");
    let notes = dir.path().join("notes");
    std::fs::create_dir(&notes).expect("a directory");
    std::fs::write(notes.join("a.md"), "# A\nsee [[b]] and [[gone]]\n").expect("a note");
    std::fs::write(notes.join("b.md"), "# B\nnothing\n").expect("a note");
    let import = || Import::files(Format::Markdown, [&notes]).min_count(1);
    let (corpus, report) = import().build_with_report(dir.path().join("c")).expect("a corpus");
    assert_eq!((corpus.len(), report.documents, report.links), (2, 2, 1));
    assert!(corpus.manifest().losses.iter().next().is_some(), "the link to nothing is counted");
    let mut lines = Vec::new();
    import().write_jsonl(&mut lines).expect("lines");
    assert_eq!(String::from_utf8(lines).expect("UTF-8").lines().count(), 2);
}

#[test]
fn links_that_do_not_fit_their_text_are_bad_records() {
    let dir = tempfile::tempdir().expect("a directory");
    let link = |anchor, at| Link { at, anchor, targets: vec!["b".to_owned()] };
    let text = "caf\u{e9} and more".to_owned();
    for links in [vec![link(999, 999)], vec![link(4, 4)], vec![link(3, 2)], vec![link(8, 8), link(2, 2)]] {
        let document = Document { id: "a".to_owned(), text: text.clone(), links, ..Document::default() };
        let built = Import::documents([document]).min_count(1).build(dir.path().join("c"));
        assert!(matches!(built, Err(Error::BadRecord { .. })), "{built:?}");
    }
    let fits = Document { id: "a".to_owned(), text, links: vec![link(0, 5), link(6, 9)], ..Document::default() };
    Import::documents([fits]).min_count(1).build(dir.path().join("c")).expect("a corpus");
}
