//! Training as its users run it: models, checkpoints, interruptions, what cannot be trained.

use std::fs;

use hyperdoc2vec::{Corpus, Training};

use crate::helper::{Place, record};

/// A place with a generated corpus `c`.
fn place() -> Place {
    let place = Place::new();
    place.ok("generate --docs 300 --links 2000 -o c");
    place
}

const QUICK: &str = "--dim 16 --epochs 3 --content-epochs 1 --no-hybrid";

#[test]
fn a_model_says_what_it_is_and_is_not_replaced_without_force() {
    let place = place();
    let outcome = place.ok(&format!("train c -o m {QUICK} --log log.jsonl"));
    assert_eq!(outcome.out, "");
    assert!(outcome.err.contains("m: 300 documents"), "{}", outcome.err);
    let info = place.json("info m --json");
    assert_eq!((&info["kind"], &info["documents"]), (&"model".into(), &300.into()));
    assert_eq!(info["parameters"]["method"], "h-d2v");
    let log = fs::read_to_string(place.path("log.jsonl")).expect("a log");
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&lines[0]["phase"], &lines[0]["unit"]), (&"content".into(), &"words".into()));
    let last = lines.last().expect("lines");
    assert_eq!((&last["phase"], &last["epoch"], &last["unit"]), (&"citation".into(), &3.into(), &"links".into()));
    assert!(lines.iter().all(|line| line["loss"].as_f64().is_some_and(|loss| loss > 0.0)));
    assert!(
        lines[0]["loss"].as_f64()
            > lines.iter().rev().find(|l| l["phase"] == "content").and_then(|l| l["loss"].as_f64())
    );
    assert!(place.refused(&format!("train c -o m {QUICK}")).contains("already exists"));
    place.ok(&format!("train c -o m {QUICK} --force"));
}

/// The library has the defaults of the program, those that follow from the corpus included.
#[test]
fn the_library_trains_what_the_program_trains() {
    let place = Place::new();
    place.ok("generate --docs 150 --links 900 -o plain");
    let named =
        |n: usize| record(&format!("d{n}"), &format!("{} [some name][[d{}]]", "word other third ".repeat(4), n / 3));
    place.write("named.jsonl", (0..60).map(named).collect::<String>());
    place.ok("import jsonl named.jsonl --min-count 2 -o hypertext");
    for name in ["plain", "hypertext"] {
        place.ok(&format!("train {name} -o {name}.model"));
        let corpus = Corpus::open(place.path(name)).expect("a corpus");
        assert_eq!(corpus.is_hypertext(), name == "hypertext");
        Training::new(&corpus).run(place.path("other")).expect("a model");
        let bytes = |file: &str| fs::read(place.path(file)).expect("a model");
        assert!(bytes("other") == bytes(&format!("{name}.model")), "{name}");
        fs::remove_file(place.path("other")).expect("removed");
    }
}

#[test]
fn threads_do_not_change_the_file_but_the_options_do() {
    let place = place();
    let model = |name: &str, options: &str| {
        place.ok(&format!("train c -o {name} {QUICK} {options}"));
        fs::read(place.path(name)).expect("a model")
    };
    let without_text = |name: &str, options: &str| {
        place.ok(&format!("train c -o {name} --dim 16 --epochs 3 --no-hybrid {options}"));
        fs::read(place.path(name)).expect("a model")
    };
    let plain = model("m", "--threads 1");
    assert!(plain == model("m2", "--threads 2"));
    let others = [
        "--loss full-softmax",
        "--loss negative-sampling",
        "--patience 1",
        "--decay 0",
        "--no-rarity",
        "--noise 8",
        "--seed 2",
    ];
    for (i, options) in others.into_iter().enumerate() {
        assert!(plain != model(&format!("o{i}"), options), "{options}");
    }
    assert!(plain != without_text("joint", "--method joint"));
    let skip_gram = without_text("skip", "--method skip-gram");
    assert!(
        skip_gram == without_text("flag", "--method w2v --skip-gram")
            && skip_gram != without_text("w2v", "--method w2v")
    );
    let narrow = without_text("narrow", "--method pv-dm --dm-window 2");
    assert!(narrow != without_text("wide", "--method pv-dm") && narrow != without_text("cac", "--method d2v-cac-dm"));
    let joint = "--method joint-paper --noise 20 --content-epochs 1";
    assert!(without_text("jp", joint) == without_text("jp2", &format!("{joint} --threads 1")));
    assert!(without_text("npm", "--method npm --noise 3") != without_text("npm2", "--method npm"));
    let paper = |name: &str, options: &str| without_text(name, &format!("--method h-d2v-random --noise 50 {options}"));
    let saturate = paper("p0", "");
    assert!(saturate == paper("p1", "--compat reference --beyond saturate --no-shift"));
    assert!(saturate != paper("p2", "--compat reference --beyond saturate"));
    place.ok(&format!("train c -o p3 {QUICK} --compat reference --noise 20"));
    assert_eq!(place.json("info p3 --json")["parameters"]["method"], "h-d2v-paper");
}

#[test]
fn a_budget_of_time_gives_passes_that_can_be_asked_for_again() {
    let place = place();
    let outcome = place.ok("train c -o m --dim 16 --no-hybrid --time 10s");
    let told = outcome.err.lines().find_map(|line| line.split("is enough for ").nth(1)).expect("it tells");
    place.ok(&format!("train c -o m2 --dim 16 {told}"));
    assert!(fs::read(place.path("m")).expect("a model") == fs::read(place.path("m2")).expect("a model"));
    let outcome = place.ok("train c -o m3 --dim 16 --time 0.001s");
    assert!(outcome.err.contains("--content-epochs 0 --epochs 1 --no-hybrid"), "{}", outcome.err);
    let outcome = place.ok("train c -o npm --dim 16 --method npm --epochs 40 --time 0.5s");
    let told = outcome.err.lines().find_map(|line| line.split("is enough for ").nth(1)).expect("it tells");
    place.ok(&format!("train c -o npm2 --dim 16 --method npm {told}"));
    assert!(fs::read(place.path("npm")).expect("a model") == fs::read(place.path("npm2")).expect("a model"));
    assert_eq!(place.run("train c -o m4 --time soon").code, Some(2));
    assert_eq!(place.run("train c -o m4 --time 0s").code, Some(2));
}

#[test]
fn what_cannot_be_trained_gets_one_message() {
    let place = place();
    fs::create_dir(place.path("folder")).expect("a directory");
    place.write("unlinked.jsonl", record("a", "x y z") + &record("b", "x y"));
    place.ok("import jsonl unlinked.jsonl -o unlinked --min-count 1");
    for (arguments, expected) in [
        ("train nothing -o m", "no such corpus"),
        ("train unlinked -o m --content-epochs 0", "learns from links"),
        ("train unlinked -o m --method deepwalk", "learns from links"),
        ("train c -o m --min-count 1000000", "lower the minimum count"),
        ("train unlinked -o m --until 2009 --method pv-dbow", "no dates"),
        ("train c -o no/such/m --dim 8 --epochs 1 --content-epochs 0", "no/such"),
        ("train c -o m --log no/such/log", "no/such/log"),
        ("train c -o folder --force", "choose another name"),
        ("train c -o /dev/null --force", "choose another name"),
    ] {
        let message = place.refused(arguments);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    for (arguments, expected) in [
        ("train c -o m --dim 0", "from 1 to 4096"),
        ("train c -o m --dim 100000", "from 1 to 4096"),
        ("train c -o m --epochs 0", "epochs is 0"),
        ("train c -o m --method deepwalk --compat reference", "--compat is for"),
        ("train c -o m --method wonder", "h-d2v"),
        ("train c -o m --decay NaN", "decay is NaN"),
        ("train c -o m --decay=-5", "decay is -5"),
        ("train c -o m --checkpoint-every=-1", "number of minutes"),
        ("train c -o m --method npm --rate 0.1", "--rate has no effect on npm; it is for h-d2v, joint"),
        ("train c -o m --method pv-dbow --patience 1", "--patience has no effect on pv-dbow"),
        ("train c -o m --method joint --content-epochs 1", "--content-epochs has no effect on joint"),
        ("train c -o m --method w2v --dm-window 5", "--dm-window has no effect on w2v"),
        ("train c -o m --method pv-dm --dm-window 0", "window of PV-DM is 0"),
        ("train c -o m --method npm --noise 0", "noise of npm is 0"),
        ("train c -o m --skip-gram", "--skip-gram has no effect on h-d2v; it is for w2v"),
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments}: {}", outcome.err);
    }
    assert!(!place.path("m").exists());
    place.ok("train unlinked -o m --method pv-dbow --dim 8 --min-count 1");
}

#[cfg(unix)]
mod interrupted {
    use std::collections::BTreeSet;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    use super::*;

    const LONG: &str = "--dim 32 --epochs 40 --content-epochs 2 --checkpoint-every 0.002 --no-hybrid";

    /// Waits until `found`, while the program runs.
    fn wait(child: &mut Child, found: impl Fn() -> bool) {
        let start = Instant::now();
        while !found() {
            assert!(child.try_wait().expect("a child").is_none(), "it ended early");
            assert!(start.elapsed() < Duration::from_secs(60), "nothing happens");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_killed_run_goes_on_to_the_same_file() {
        use std::os::unix::process::ExitStatusExt;

        const KILL: i32 = 9;
        let place = place();
        for (name, patient) in [("m", false), ("early", true)] {
            let checkpoint = place.path(format!("{name}.checkpoint"));
            // A kill that comes after the end shows nothing. A machine that is done so soon gets more to do.
            let killed = [40, 200, 1000].into_iter().find_map(|epochs| {
                let patience = if patient { format!("--patience {epochs}") } else { String::new() };
                let flags = format!(
                    "--dim 32 --epochs {epochs} --content-epochs 2 --checkpoint-every 0.002 --no-hybrid {patience}"
                );
                let mut child = place.start(&format!("train c -o {name} {flags}"));
                let start = Instant::now();
                // Some way into it: a second checkpoint has replaced the first.
                let mut written = BTreeSet::new();
                while written.len() < 2 && child.try_wait().expect("a child").is_none() {
                    assert!(start.elapsed() < Duration::from_secs(60), "nothing happens");
                    std::thread::sleep(Duration::from_millis(2));
                    written.extend(fs::metadata(&checkpoint).and_then(|file| file.modified()));
                }
                child.kill().expect("killed");
                let status = child.wait().expect("it ended");
                if status.signal() == Some(KILL) && checkpoint.exists() && !place.path(name).exists() {
                    return Some(flags);
                }
                for left in [&checkpoint, &place.path(name)] {
                    let _ = fs::remove_file(left);
                }
                None
            });
            let flags = killed.expect("no kill came before the end of a run");
            let message = place.run(&format!("train c -o {name} {flags}")).one_message("without --resume");
            assert!(message.contains("--resume"), "{message}");
            place.ok(&format!("train c -o {name} {flags} --resume --threads 1"));
            assert!(!checkpoint.exists());
            let whole = format!("{name}-whole");
            place.ok(&format!("train c -o {whole} {flags}"));
            let read = |name: &str| fs::read(place.path(name)).expect("a model");
            assert!(read(name) == read(&whole), "{name} with {flags}");
        }
    }

    #[test]
    fn a_run_killed_while_it_learns_to_rank_leaves_nothing_that_stays() {
        let place = Place::new();
        place.ok("generate --docs 60 --links 500 -o c");
        let flags = "--dim 8 --epochs 2 --content-epochs 1";
        place.ok(&format!("train c -o whole {flags}"));
        let parts = || place.entries().into_iter().filter(|name| name.contains(".part-")).count();
        let mut child = place.start(&format!("train c -o m {flags}"));
        wait(&mut child, || parts() > 0);
        child.kill().expect("killed");
        child.wait().expect("it ended");
        assert!(parts() > 0 && !place.path("m").exists());
        let again = place.ok(&format!("train c -o m {flags} --resume"));
        assert!(again.err.contains("starts from the beginning"), "{}", again.err);
        assert_eq!(parts(), 0, "{:?}", place.entries());
        assert!(fs::read(place.path("m")).expect("a model") == fs::read(place.path("whole")).expect("a model"));
    }

    #[test]
    fn a_model_may_be_read_by_whom_other_files_may() {
        use std::os::unix::fs::PermissionsExt;

        let place = place();
        place.ok(&format!("train c -o m {QUICK}"));
        place.write("other", "");
        let mode = |name: &str| fs::metadata(place.path(name)).expect("a file").permissions().mode();
        assert_eq!(mode("m"), mode("other"));
    }

    #[test]
    fn ctrl_c_leaves_a_checkpoint_and_no_model() {
        let place = place();
        let mut child = place.start("train c -o m --dim 64 --epochs 5000 --no-hybrid --log log");
        wait(&mut child, || fs::read_to_string(place.path("log")).is_ok_and(|log| log.contains("citation")));
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(status.expect("a shell command").success());
        let output = child.wait_with_output().expect("it ended");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("--resume"), "{err}");
        assert_eq!(place.entries(), ["c", "log", "m.checkpoint"]);
    }

    #[test]
    fn a_disk_that_fills_during_a_checkpoint_is_told() {
        let place = place();
        // A limit on the size of files stands in for a full disk: both fail in the middle of a write.
        let script = format!("trap '' XFSZ; ulimit -f 16; exec {} train c -o m {LONG}", crate::helper::HD2V);
        let output = Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output().expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("m.checkpoint") && err.contains("write"), "{err}");
        assert_eq!(place.entries(), ["c"]);
    }
}

#[test]
fn two_runs_to_one_output_are_kept_apart() {
    let place = Place::new();
    place.ok("generate --docs 400 --links 4000 --seed 3 -o c");
    let mut first = place.start("train c -o m --dim 64 --epochs 400 --threads 1 --log log");
    let started = std::time::Instant::now();
    while fs::metadata(place.path("log")).map_or(0, |log| log.len()) == 0 {
        assert!(started.elapsed().as_secs() < 60, "the run does not begin");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = place.run("train c -o m --dim 8 --epochs 1");
    assert_eq!(second.code, Some(1), "{}", second.err);
    assert!(second.err.contains("m: another run is writing this"), "{}", second.err);
    first.kill().expect("killed");
    first.wait().expect("ended");
    place.ok("train c -o m --dim 8 --epochs 1 --force");
    assert_eq!(place.entries(), ["c", "log", "m"]);
}

#[test]
fn vectors_are_stored_in_half_precision_and_learnt_out_of_core_where_that_is_asked_for() {
    let place = Place::new();
    place.ok("generate --docs 100 --links 500 --words 60 -o c");
    let train = "train c --dim 16 --epochs 1 --content-epochs 1 --no-hybrid -o";
    place.ok(&format!("{train} single"));
    place.ok(&format!("{train} half --storage f16"));
    let storage = |model: &str| place.json(&format!("info {model} --json"))["storage"].clone();
    assert_eq!((storage("single"), storage("half")), ("f32".into(), "f16".into()));
    assert!(place.ok("info half").out.contains("storage     f16\n"));
    place.ok("doctor half");
    assert!(
        fs::metadata(place.path("half")).expect("a file").len()
            < fs::metadata(place.path("single")).expect("a file").len()
    );
    assert_eq!(place.run(&format!("{train} other --storage f8")).code, Some(2));
    if cfg!(target_os = "linux") {
        place.ok(&format!("{train} files --out-of-core"));
        assert!(fs::read(place.path("single")).expect("a model") == fs::read(place.path("files")).expect("a model"));
    }
    assert_eq!(place.run(&format!("{train} other --out-of-core --time 9s")).code, Some(2));
    assert!(!place.entries().iter().any(|name| name.starts_with("other")));
}
