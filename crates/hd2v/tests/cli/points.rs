//! Documents as points of search engines and databases.

use serde_json::Value;

use crate::helper::Place;

fn place() -> Place {
    let line = |n: usize| {
        let title = if n == 3 { "Tab\\t, quote \\\" and \\\\ back".to_owned() } else { format!("Title {n}") };
        format!(
            "{{\"id\": \"d{n}\", \"title\": \"{title}\", \"date\": \"2009-06\", \"labels\": [\"a b\", \"x,{n}\"], \"text\": \"w{} w{} [[d{}]] and words\"}}\n",
            n % 20,
            n % 13,
            (n * 3) % 40
        )
    };
    let mut lines: String = (0..600).map(line).collect();
    lines.push_str("{\"id\": \"bare\", \"text\": \"w1 w2 words\"}\n");
    let place = Place::with(&[("in.jsonl", &lines)]);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 12 --epochs 2 --content-epochs 3");
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn every_engine_gets_the_same_points() {
    let place = place();
    let points = lines(&place.ok("export m --for jsonl -o -").out);
    assert_eq!(points.len(), 601);
    let vectors = |which: &str| {
        place.ok(&format!("export m --what {which} -o {which}.txt"));
        let text = std::fs::read_to_string(place.path(format!("{which}.txt"))).expect("written");
        let numbers = |line: &str| line.split(' ').skip(1).map(|x| x.parse().expect("a number")).collect::<Vec<f32>>();
        text.lines().skip(1).map(numbers).collect::<Vec<_>>()
    };
    let (of_in, of_out) = (vectors("doc-in"), vectors("doc-out"));
    let numbers = |value: &Value| serde_json::from_value::<Vec<f32>>(value.clone()).expect("numbers");
    for (row, point) in points.iter().enumerate() {
        assert_eq!((numbers(&point["in"]), numbers(&point["out"])), (of_in[row].clone(), of_out[row].clone()));
    }
    assert_eq!((&points[7]["id"], &points[7]["date"]), (&"d7".into(), &"2009-06".into()));
    assert_eq!(points[7]["labels"], serde_json::json!(["a b", "x,7"]));
    assert!(points[3]["popularity"].as_u64() > Some(0) && points[600]["popularity"] == 0);
    assert!(points[600]["title"].is_null() && points[600]["date"].is_null());

    let bulk = lines(&place.ok("export m --for elasticsearch -o -").out);
    assert_eq!(bulk.len(), 2 * points.len());
    for (pair, point) in bulk.chunks(2).zip(&points) {
        assert_eq!((&pair[0]["index"]["_id"], &pair[1]), (&point["id"], point));
    }
    assert_eq!(bulk, lines(&place.ok("export m --for opensearch -o -").out));

    let bodies = lines(&place.ok("export m --for qdrant -o -").out);
    let sizes: Vec<usize> = bodies.iter().map(|body| body["points"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(sizes, [500, 101]);
    let first = &bodies[0]["points"][7];
    assert_eq!((&first["id"], &first["payload"]["id"]), (&7.into(), &"d7".into()));
    assert_eq!((&first["vector"]["out"], &first["payload"]["out"]), (&points[7]["out"], &Value::Null));

    let sql = place.ok("export m --for pgvector -o -").out;
    assert!(sql.contains("vector_in vector(12) NOT NULL, vector_out vector(12) NOT NULL"), "{sql:.900}");
    let row = sql.lines().find(|line| line.starts_with("d3\t")).expect("a row");
    assert!(row.starts_with("d3\tTab\\t, quote \" and \\\\ back\t2009-06\t{\"a b\",\"x,3\"}\t\\N\t"), "{row}");
    let bare = sql.lines().find(|line| line.starts_with("bare\t")).expect("a row");
    assert!(bare.starts_with("bare\t\\N\t\\N\t{}\t\\N\t0\t["), "{bare}");
    assert!(sql.ends_with("\\.\nCOMMIT;\n"));
}

#[test]
fn points_replace_points_alone() {
    let place = place();
    place.ok("export m --for pgvector -o points.sql");
    assert!(place.refused("export m --for pgvector -o points.sql").contains("already exists"));
    place.ok("export m --for pgvector -o points.sql --force");
    assert!(place.refused("export m --for jsonl -o points.sql --force").contains("SQL with points"));
    assert_eq!(place.run("export m --for jsonl --what doc-in -o x.jsonl").code, Some(2));
    assert_eq!(place.run("export m -o x.npy").code, Some(2));
    if !cfg!(feature = "parquet") {
        assert!(place.refused("export m --for parquet -o x.parquet").contains("built without parquet"));
    }
}
