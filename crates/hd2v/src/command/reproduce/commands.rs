//! Commands as they are written down in a report: the one that was given, and one for each part.

use std::ffi::OsString;

use hyperdoc2vec::evaluate::{LinkMethod, LinksParams};

use super::ReproduceArgs;

/// The command that was given.
pub fn given(arguments: impl Iterator<Item = OsString>) -> String {
    let arguments = arguments.skip(1).map(|argument| quoted(&argument.to_string_lossy()));
    ["hd2v".to_owned()].into_iter().chain(arguments).collect::<Vec<String>>().join(" ")
}

/// Commands that compute the parts of the report one by one.
pub fn parts(
    arguments: &ReproduceArgs,
    methods: &[LinkMethod],
    params: &LinksParams,
    (dims, dim_methods): (&[usize], &[LinkMethod]),
) -> Vec<String> {
    let anchors = params.anchors.as_slice();
    let train = &arguments.train;
    let corpus = quoted(&arguments.corpus.display().to_string());
    let mut how = format!(
        " --dim {} --epochs {} --content-epochs {} --reference-epochs {} --reference-noise {} \
         --text-epochs {} --npm-epochs {} --npm-noise {} --seed {}",
        train.dim,
        train.epochs,
        train.content_epochs,
        params.reference_epochs,
        train.reference_noise,
        train.text_epochs,
        train.npm_epochs,
        train.npm_noise,
        train.seed
    );
    let window = train.window.map_or(String::new(), |window| format!(" --window {window}"));
    how += &window;
    how += &train.dm_window.map_or(String::new(), |window| format!(" --dm-window {window}"));
    how += &train.min_count.map_or(String::new(), |count| format!(" --min-count {count}"));
    let split = match arguments.split.until {
        Some(until) => format!("--until {until}"),
        None => format!("--holdout {}", arguments.split.holdout),
    };
    let names: Vec<&str> = methods.iter().map(|method| method.name).collect();
    let anchors = match anchors {
        [true] => "keep",
        [false] => "drop",
        _ => "both",
    };
    let cost = arguments.intent_c.map_or(String::new(), |cost| format!(" --intent-c {cost}"));
    let first =
        arguments.intents.first().map(|file| format!(" --intents {}{cost}", quoted(&file.display().to_string())));
    let mut commands = vec![format!(
        "hd2v evaluate links {corpus} {split} --every {} --anchors {anchors} --methods {}{}{how}",
        arguments.every,
        names.join(","),
        first.unwrap_or_default(),
    )];
    let dims = dims.iter().map(usize::to_string).collect::<Vec<String>>().join(",");
    if !dims.is_empty() {
        commands.push(format!(
            "hd2v evaluate links {corpus} {split} --every {} --anchors {anchors} --methods {} --dims {dims}{how}",
            arguments.every,
            dim_methods.iter().map(|method| method.name).collect::<Vec<&str>>().join(","),
        ));
    }
    let svms: Vec<String> =
        arguments.gammas().iter().map(|gamma| format!(" --c {} --gamma {gamma}", arguments.c)).collect();
    let labels = match &arguments.labels {
        Some(file) => format!(" --labels {}", quoted(&file.display().to_string())),
        None if arguments.label_prefix.is_empty() => String::new(),
        None => format!(" --label-prefix {}", quoted(&arguments.label_prefix)),
    };
    let class_methods = arguments.class_methods.as_ref().map(|names| format!(" --methods {names}"));
    let class_methods = class_methods.unwrap_or_default();
    commands.extend(svms.iter().map(|svm| {
        let (least, sample) = (arguments.min_class, arguments.class_sample);
        format!("hd2v evaluate classes {corpus}{labels} --min-class {least} --sample {sample}{class_methods}{svm}{how}")
    }));
    // `train` knows dates, not shares.
    if let (Some(until), false) = (&arguments.split.until, arguments.intents.is_empty()) {
        let min_count = train.min_count.map_or(String::new(), |count| format!(" --min-count {count}"));
        commands.push(format!(
            "hd2v train {corpus} --until {until} --dim {} --epochs {} --content-epochs {} --seed {}{window}{min_count} \
             --no-hybrid -o until-{until}.model",
            train.dim, train.epochs, train.content_epochs, train.seed
        ));
        let (model, seed) = (format!("until-{until}.model"), train.seed);
        for file in arguments.intents.iter().map(|file| quoted(&file.display().to_string())) {
            commands.extend(svms.iter().map(|svm| {
                format!("hd2v evaluate intents {model} {file} --folds 10 --min-class 10{svm} --seed {seed}")
            }));
        }
    }
    // Asked with the defaults of `train` but for the passes and the seed.
    commands.push(format!("hd2v evaluate places {corpus} {split} --epochs {} --seed {}", train.epochs, train.seed));
    if arguments.criteria_docs > 0 {
        commands.push(format!("hd2v evaluate criteria --docs {} --seed {}", arguments.criteria_docs, train.seed));
    }
    commands
}

/// An argument as a shell reads it.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_where_a_shell_would_read_it_otherwise() {
        let words = ["/somewhere/hd2v", "reproduce", "my corpus", "-o", "it's", "--seed=1"];
        assert_eq!(given(words.into_iter().map(OsString::from)), "hd2v reproduce 'my corpus' -o 'it'\\''s' --seed=1");
    }
}
