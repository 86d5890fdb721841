//! The annotation scheme of citation functions by Teufel, Siddharthan and Tidhar (2006), which is the paper's Table 8: its
//! twelve classes and their groups, by name.

/// A class of the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemeClass {
    /// As in the annotated files.
    pub name: &'static str,
    /// Its group.
    pub group: &'static str,
    /// In a few words.
    pub what: &'static str,
}

const fn class(name: &'static str, group: &'static str, what: &'static str) -> SchemeClass {
    SchemeClass { name, group, what }
}

/// The classes, group by group.
pub const SCHEME: [SchemeClass; 12] = [
    class("Weak", "weakness", "names a weakness of the cited work"),
    class("CoCoGM", "contrast", "compares goals or methods, without judging"),
    class("CoCo-", "contrast", "own work is better"),
    class("CoCoR0", "contrast", "compares results, without judging"),
    class("CoCoXY", "contrast", "compares two cited works"),
    class("PBas", "positive", "builds on the cited work"),
    class("PUse", "positive", "uses its tools, algorithms, data or definitions"),
    class("PModi", "positive", "uses them in modified form"),
    class("PMot", "positive", "is motivated by it"),
    class("PSim", "positive", "is similar to it"),
    class("PSup", "positive", "agrees with it, or is supported by it"),
    class("Neut", "neutral", "describes it, or none of the above"),
];

/// The class with this name, in any case.
pub fn scheme_class(name: &str) -> Option<&'static SchemeClass> {
    SCHEME.iter().find(|class| class.name.eq_ignore_ascii_case(name.trim()))
}

/// The groups of classes that are all of the scheme: their names, and the number of the group of each class.
pub(crate) fn grouped(classes: &[String]) -> Option<(Vec<String>, Vec<u32>)> {
    let groups: Vec<&str> = classes.iter().map(|name| Some(scheme_class(name)?.group)).collect::<Option<_>>()?;
    let mut names: Vec<&str> = SCHEME.iter().map(|class| class.group).filter(|group| groups.contains(group)).collect();
    names.dedup();
    let number = |group: &&str| names.iter().position(|name| name == group).unwrap_or(0) as u32;
    let numbers = groups.iter().map(number).collect();
    Some((names.into_iter().map(str::to_owned).collect(), numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_the_scheme_fall_into_its_four_groups() {
        let names = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let all: Vec<String> = SCHEME.iter().map(|class| class.name.to_owned()).collect();
        let (groups, numbers) = grouped(&all).expect("groups");
        assert_eq!(groups, ["weakness", "contrast", "positive", "neutral"]);
        assert_eq!(numbers, [0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3]);
        // As they come in a file: sorted, some missing, in another case.
        assert_eq!(
            grouped(&names(&["NEUT", "cocor0", "puse"])),
            Some((names(&["contrast", "positive", "neutral"]), vec![2, 0, 1]))
        );
        assert_eq!(grouped(&names(&["Neut", "Background"])), None, "another scheme");
    }
}
