//! The sections of the page on citation functions: Table 8, Figures 4 and 5.

use std::cmp::Reverse;

use hyperdoc2vec::evaluate::{SCHEME, scheme_class};
use maud::{Markup, html};
use serde_json::Value;

use super::super::paper::{BY_FUNCTION, INTENT_CONTEXTS, LARGEST};
use super::super::plot::{Bar, bars, swatch};
use super::links::{recall_by, recall_of};
use super::{array, heads, interval, name, pair, percent, table, text};

/// The methods in the plot by citation function.
const DRAWN: [&str; 7] = ["bm25-cited", "d2v-cac", "w2v", "h-d2v-random", "h-d2v-paper", "h-d2v", "hybrid"];

/// The settings of the first method of a file of contexts: all methods have the same classes.
fn first_setting(file: &Value) -> &Value {
    &file["value"]["methods"][0]["settings"][0]
}

fn file_name(file: &Value) -> &str {
    text(&file["file"]).rsplit(['/', '\\']).next().unwrap_or_default()
}

pub fn scheme(report: &Value) -> Markup {
    let files = array(&report["intents"]);
    let members = |file: &Value, class: &str| {
        let same = |other: &&Value| scheme_class(text(&other["name"])).is_some_and(|other| other.name == class);
        let found = array(&first_setting(file)["classes"]).iter().find(same);
        found.map_or("–".to_owned(), |class| class["members"].to_string())
    };
    html! {
        h2 { "Table 8: the scheme of citation functions" }
        p.note {
            "The twelve classes of Teufel, Siddharthan and Tidhar (2006) in their four groups, with the contexts that the files \
             of this report have of each. The paper's own " (crate::output::thousands(INTENT_CONTEXTS))
            " contexts are not public; a file with these labels is recognised, other schemes stand in."
        }
        (table(&html! {
            tr { th { "class" } th.words { "group" } th.words { "the citing work …" } @for file in files { th { (file_name(file)) } } }
            @for class in &SCHEME {
                tr {
                    td { (class.name) }
                    td.words { (class.group) }
                    td.words { (class.what) }
                    @for file in files { td { (members(file, class.name)) } }
                }
            }
        }))
    }
}

pub fn intents(report: &Value) -> Markup {
    let files = array(&report["intents"]);
    html! {
        h2 { "Figure 4: citation functions from word vectors" }
        @if files.is_empty() {
            p { "Left out: no labelled contexts were given (" code { "--intents" } ")." }
        } @else {
            p.note {
                "A context is the mean IN vector of its words; an SVM with an RBF kernel, 10 folds. C is the given one and the \
                 one of 1, 10 and 100 with the best macro F1 on the same contexts (5 folds). In the paper the hand-made \
                 features of Teufel et al. are best, h-d2v comes close, and w2v is above PV-DM on context as content, which \
                 is good at the largest class only."
            }
            @for file in files { (intent_file(file)) }
        }
    }
}

/// Classes in the order of the scheme where they are of it, else as they come.
fn ordered(classes: &[Value]) -> Vec<usize> {
    let place = |&number: &usize| {
        let name = text(&classes[number]["name"]);
        SCHEME.iter().position(|class| scheme_class(name) == Some(class)).unwrap_or(SCHEME.len())
    };
    let mut numbers: Vec<usize> = (0..classes.len()).collect();
    numbers.sort_by_key(place);
    numbers
}

/// The columns of a table: C and γ, and whether C was chosen.
fn setting_name(setting: &Value) -> String {
    let chosen = if setting["chosen"] == true { "best C" } else { "C" };
    format!("{chosen} {}, γ {}", setting["c"].as_f64().unwrap_or(1.0), text(&setting["gamma"]))
}

fn intent_file(file: &Value) -> Markup {
    let methods = array(&file["value"]["methods"]);
    let first = first_setting(file);
    let order = ordered(array(&first["classes"]));
    let settings = methods.first().map_or(0, |method| array(&method["settings"]).len());
    // With the first γ, the paper's: the given C and the best.
    let plot = |setting: usize| {
        let bar = |share: &dyn Fn(&Value) -> f64, ends: &dyn Fn(&Value) -> Option<(f64, f64)>| -> Vec<Bar> {
            let one = |(colour, method): (usize, &Value)| {
                let found = &method["settings"][setting];
                Bar { name: name(method).to_owned(), share: share(found), ends: ends(found), colour }
            };
            methods.iter().enumerate().map(one).collect()
        };
        let mut groups = vec![(
            "macro F1".to_owned(),
            bar(&|found| found["macro_f1"].as_f64().unwrap_or(0.0), &|found| pair(&found["interval"]["macro_f1"])),
        )];
        for &class in &order {
            let head = &first["classes"][class];
            let head = format!("{}, {} contexts", text(&head["name"]), head["members"]);
            groups.push((head, bar(&|found| found["classes"][class]["f1"].as_f64().unwrap_or(0.0), &|_| None)));
        }
        bars("F1 by citation function", &groups)
    };
    html! {
        h3 { (file_name(file)) }
        p.note { (first["contexts"]) " contexts." (small(first)) }
        @for setting in 0..settings.min(2) {
            figure style="margin:0" {
                figcaption {
                    "F1 with " (setting_caption(methods, setting)) ": "
                    @for (number, method) in methods.iter().enumerate() { (swatch(number, name(method))) }
                }
                (plot(setting))
            }
        }
        (intent_table(methods, 0, &order))
        @for setting in (2..settings).step_by(2) {
            details {
                summary { "γ " (text(&methods[0]["settings"][setting]["gamma"])) }
                (intent_table(methods, setting, &order))
            }
        }
    }
}

/// C and γ of a setting; a best C may differ from method to method.
fn setting_caption(methods: &[Value], setting: usize) -> String {
    let found = |method: &Value| setting_name(&method["settings"][setting]);
    let mut names: Vec<String> = methods.iter().map(found).collect();
    names.dedup();
    match names.as_slice() {
        [one] => one.clone(),
        _ => {
            let each = methods
                .iter()
                .map(|method| format!("{} {}", name(method), method["settings"][setting]["c"].as_f64().unwrap_or(1.0)));
            let gamma = text(&methods[0]["settings"][setting]["gamma"]);
            format!("the best C ({}), γ {gamma}", each.collect::<Vec<String>>().join(", "))
        }
    }
}

/// One γ: a column for each method with the given C, then with the best.
fn intent_table(methods: &[Value], first_of_two: usize, order: &[usize]) -> Markup {
    let settings = || {
        [first_of_two, first_of_two + 1]
            .into_iter()
            .flat_map(|setting| methods.iter().map(move |method| (name(method), &method["settings"][setting])))
    };
    let Some((_, first)) = settings().next() else { return html! {} };
    let sums = [("macro F1", "macro_f1"), ("micro F1", "micro_f1")];
    let cost = |found: &Value| found["c"].as_f64().unwrap_or(1.0);
    table(&html! {
        tr {
            (heads(["function", "contexts"]))
            @for (method, found) in settings() {
                th { (method) br; small { @if found["chosen"] == true { "best " } "C " (cost(found)) } }
            }
        }
        @for &class in order {
            tr {
                td { (text(&first["classes"][class]["name"])) }
                td { (first["classes"][class]["members"]) }
                @for (_, found) in settings() { td { (percent(&found["classes"][class]["f1"])) } }
            }
        }
        @for (head, key) in sums {
            tr {
                td { b { (head) } }
                td {}
                @for (_, found) in settings() {
                    td { (percent(&found[key])) br; small { (interval(&found["interval"][key])) } }
                }
            }
        }
        @for group in 0..array(&first["groups"]["classes"]).len() {
            tr {
                td { "group: " (text(&first["groups"]["classes"][group]["name"])) }
                td { (first["groups"]["classes"][group]["members"]) }
                @for (_, found) in settings() { td { (percent(&found["groups"]["classes"][group]["f1"])) } }
            }
        }
        @if first["groups"].is_object() {
            tr {
                td { b { "macro F1 of groups" } }
                td {}
                @for (_, found) in settings() { td { (percent(&found["groups"]["macro_f1"])) } }
            }
        }
    })
}

/// Classes left out because they have too few contexts.
fn small(found: &Value) -> String {
    let class = |class: &Value| format!("{} ({})", text(&class[0]), class[1]);
    let all: Vec<String> = array(&found["small_classes"]).iter().map(class).collect();
    if all.is_empty() { String::new() } else { format!(" Left out as too small: {}.", all.join(", ")) }
}

pub fn links(report: &Value) -> Markup {
    let methods = array(&report["links"][0]["methods"]);
    let names = methods.first().map(|method| array(&method["by_function"])).unwrap_or_default();
    let drawn: Vec<&Value> = methods.iter().filter(|method| DRAWN.contains(&name(method))).collect();
    let group = |(number, function): (usize, &Value)| {
        let bar = |(colour, method): (usize, &&Value)| {
            let part = &method["by_function"][number];
            Bar { name: name(method).to_owned(), share: recall_of(part), ends: pair(&part["interval"]), colour }
        };
        let head = format!("{}, {} positions", text(&function["name"]), function["positions"]);
        (head, drawn.iter().enumerate().map(bar).collect::<Vec<Bar>>())
    };
    let asked = |(_, function): &(usize, &Value)| function["positions"].as_u64().is_some_and(|positions| positions > 0);
    let groups: Vec<(String, Vec<Bar>)> = names.iter().enumerate().filter(asked).map(group).collect();
    html! {
        h2 { "Figure 5: links by citation function" }
        @if groups.is_empty() {
            p { "Left out: no labelled contexts were given (" code { "--intents" } ")." }
        } @else {
            figure style="margin:0" {
                figcaption {
                    "An SVM fitted to the labelled contexts predicts the function of each test link (C "
                    (report["functions"]["c"].as_f64().unwrap_or(1.0)) "). Recall@10 by function, with 95 % intervals: "
                    @for (number, method) in drawn.iter().enumerate() { (swatch(number, name(method))) }
                }
                (bars("recall@10 by function", &groups))
            }
            (recall_by(methods, "by_function"))
            (paper_by_function(methods))
        }
    }
}

/// The paper's statement on recall by function, and the result here.
fn paper_by_function(methods: &[Value]) -> Markup {
    let of = |wanted: &str| methods.iter().find(|method| name(method) == wanted).map(|one| array(&one["by_function"]));
    let [Some(own), Some(w2v), Some(d2v)] = BY_FUNCTION.map(of) else { return html! {} };
    let positions = |number: &usize| own[*number]["positions"].as_u64().unwrap_or(0);
    let mut largest: Vec<usize> = (0..own.len()).filter(|number| positions(number) > 0).collect();
    largest.sort_by_key(|number| Reverse(positions(number)));
    largest.truncate(LARGEST);
    let share = |parts: &[Value], number: usize| parts.get(number).map_or(0.0, recall_of);
    let above = |&&number: &&usize| share(own, number) > share(w2v, number).max(share(d2v, number));
    let [method, first, second] = BY_FUNCTION;
    html! {
        p {
            "In the paper " (method) " is above " (first) " and " (second) " on the " (LARGEST)
            " largest functions; here on " (largest.iter().filter(above).count()) " of the " (largest.len())
            " largest (not tested)."
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_statement_on_functions_is_counted_on_the_largest() {
        let method = |name: &str, shares: [f64; 4]| {
            let part = |(positions, share): (u64, f64)| json!({"positions": positions, "recall@10": share});
            let parts: Vec<Value> = [9, 0, 5, 7].into_iter().zip(shares).map(part).collect();
            json!({"method": name, "by_function": parts})
        };
        let mut methods = vec![
            method("h-d2v-paper", [0.5, 0.9, 0.2, 0.4]),
            method("w2v", [0.4, 0.0, 0.1, 0.4]),
            method("d2v-cac", [0.3, 0.0, 0.3, 0.1]),
        ];
        // The second has no positions; d2v-cac is above on the third, and w2v ties on the last.
        let sentence = paper_by_function(&methods).into_string();
        assert!(sentence.contains("here on 1 of the 3 largest"), "{sentence}");
        methods.pop();
        assert_eq!(paper_by_function(&methods).into_string(), "");
    }

    #[test]
    fn classes_of_the_scheme_come_in_its_order() {
        let classes = ["PUse", "Neut", "CoCoGM", "Weak"].map(|name| json!({"name": name}));
        assert_eq!(ordered(&classes), [3, 2, 0, 1]);
        let classes = ["background", "result"].map(|name| json!({"name": name}));
        assert_eq!(ordered(&classes), [0, 1]);
    }
}
