//! Shards of `import`, `embed` and `add`, and `merge`.

use crate::helper::{Place, records};

fn read(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path(name)).expect("written")
}

/// Enough lines for several batches.
fn many_records() -> String {
    let record = |n: usize| {
        let text = format!("w{} w{} [[d{}]] ", n % 97, n % 89, (n * 7) % 6000) + &"words and more of them ".repeat(40);
        format!("{{\"id\": \"d{n}\", \"text\": \"{text}\"}}\n")
    };
    (0..6000).map(record).collect()
}

#[test]
fn shards_are_merged_into_the_same_corpus() {
    let place = Place::with(&[("in.jsonl", &many_records())]);
    place.ok("import jsonl in.jsonl -o whole --report whole.json");
    for i in 1..=3 {
        let err = place.ok(&format!("import jsonl in.jsonl --shard {i}/3 -o {i}.part")).err;
        assert!(err.contains(&format!("{i}.part: shard {i}/3, ")), "{err}");
    }
    let err = place.ok("merge 3.part 1.part 2.part -o merged --report merged.json").err;
    assert!(err.contains("merged: 6,000 documents"), "{err}");
    assert!(place.files("whole") == place.files("merged"));
    assert_eq!(read(&place, "whole.json"), read(&place, "merged.json"));
    // Nothing is replaced unless that is asked for.
    assert!(place.refused("merge 1.part 2.part 3.part -o merged").contains("already exists"));
    place.ok("merge 1.part 2.part 3.part -o merged --force --threads 1");
    assert!(place.files("whole") == place.files("merged"));
    assert!(place.refused("import jsonl in.jsonl --shard 1/3 -o 1.part").contains("already exists"));
    assert!(place.refused("import jsonl in.jsonl --shard 1/3 -o in.jsonl --force").contains("is the input"));
}

#[test]
fn embedded_shards_are_merged_into_the_same_vectors() {
    let place = Place::with(&[("in.jsonl", &records(300)), ("texts.jsonl", &many_records())]);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 12 --epochs 2 --content-epochs 3");
    place.ok("embed m texts.jsonl -o whole.npy");
    place.ok("embed m texts.jsonl -o whole.jsonl");
    for i in 1..=2 {
        place.ok(&format!("embed m texts.jsonl --shard {i}/2 -o {i}.part"));
    }
    place.ok("merge 2.part 1.part -o merged.npy");
    place.ok("merge 2.part 1.part -o merged.jsonl");
    for name in ["npy", "npy.ids", "jsonl"] {
        assert!(read(&place, &format!("whole.{name}")) == read(&place, &format!("merged.{name}")), "{name}");
    }
    assert!(place.ok("merge 1.part 2.part -o -").out.as_bytes() == read(&place, "whole.jsonl"));
    // Files that are texts are shared out, too.
    (0..5).for_each(|n| place.write(&format!("t{n}.txt"), format!("w{n} w{} words", n + 7)));
    place.ok("embed m t0.txt t1.txt t2.txt t3.txt t4.txt -o files.npy");
    (1..=3).for_each(|i| {
        place.ok(&format!("embed m t0.txt t1.txt t2.txt t3.txt t4.txt --shard {i}/3 -o f{i}.part"));
    });
    place.ok("merge f1.part f2.part f3.part -o merged-files.npy");
    assert!(read(&place, "files.npy") == read(&place, "merged-files.npy"));
    assert!(place.refused("merge 1.part f2.part -o other.npy").contains("f2.part: "));
    assert!(place.refused("merge 1.part -o other.npy").contains("shard 2/2 is missing"));
    let other = place.run("merge 1.part 2.part -o other.npy --corpus c");
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("--corpus is for parts of"), "{}", other.err);
}

#[test]
fn added_shards_are_merged_into_the_same_model() {
    let place = Place::with(&[("in.jsonl", &records(300))]);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 12 --epochs 2 --content-epochs 3");
    let new =
        |n: usize| format!("{{\"id\": \"n{n}\", \"text\": \"w{} w{} [[d{}]] new word\"}}\n", n % 50, n % 31, n % 300);
    place.write("new.jsonl", (0..1400).map(new).collect::<String>());
    place.ok("import jsonl new.jsonl --min-count 2 -o week");
    place.ok("add m week -o whole");
    for i in 1..=2 {
        let err = place.ok(&format!("add m week --shard {i}/2 -o {i}.part")).err;
        assert!(err.contains(&format!("shard {i}/2, ")), "{err}");
    }
    place.ok("merge 1.part 2.part --model m --corpus week -o merged");
    assert!(read(&place, "whole") == read(&place, "merged"));
    assert!(place.refused("merge 1.part 2.part --model m --corpus c -o other").contains("another corpus"));
    assert!(place.refused("merge 1.part 2.part --model whole --corpus week -o other").contains("another model"));
    assert!(place.refused("merge 2.part --model m --corpus week -o other").contains("shard 1/2 is missing"));
    let missing = place.run("merge 1.part 2.part -o other");
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("--model and --corpus"), "{}", missing.err);
}

#[test]
fn bad_shards_are_refused() {
    let place = Place::with(&[("in.jsonl", &records(10))]);
    for shard in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
        let outcome = place.run(&format!("import jsonl in.jsonl --shard={shard} -o part"));
        assert_eq!(outcome.code, Some(2), "{shard}: {}", outcome.err);
    }
    assert!(place.refused("import jsonl - --shard 1/2 -o part").contains("write this input to a file first"));
    assert_eq!(place.run("import jsonl in.jsonl --shard 1/2 --jsonl out.jsonl").code, Some(2));
    assert_eq!(place.run("import jsonl in.jsonl --shard 1/2 -o part --report r.json").code, Some(2));
    assert!(place.refused("merge in.jsonl -o corpus").contains("not a part"));
    assert_eq!(place.entries(), ["in.jsonl"]);
}
