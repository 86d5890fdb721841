//! Where the top of the site lies, if it is not the folder that was given: `/docs/a` may be `en/docs/a.md` in a folder
//! above the site's, or `a.md` in one below it.
//!
//! Of every link from the top that finds no page, the longest end is taken that some page's path has. What then stands
//! before that end, in the link and in the path, is one way to read such links; the way that most lost links share is
//! tried first. A way counts if it finds two pages and a tenth of what is lost.

use std::collections::{BTreeMap, BTreeSet};

/// Ways of reading links from the top that are kept.
const MOST: usize = 8;
/// Pages with the same end of their paths; of more, none is meant.
const NAMESAKES: usize = 64;
/// Parts of a link that may stand before the end that counts.
const DEEPEST: usize = 6;

/// One way: `/from/rest` is `to/rest`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mount {
    /// Without slashes around it; empty for the top.
    pub(super) from: String,
    /// A folder below a root, without slashes around it; empty for the root.
    pub(super) to: String,
}

impl Mount {
    /// The path below the root that a path from the top has.
    pub(super) fn place(&self, path: &str) -> Option<String> {
        let path = path.trim_start_matches('/');
        let rest = match path.strip_prefix(&*self.from)? {
            rest if self.from.is_empty() || rest.is_empty() => rest,
            rest => rest.strip_prefix('/')?,
        };
        Some(if self.to.is_empty() { rest.to_owned() } else { format!("{}/{rest}", self.to) })
    }

    /// For people: `/docs/ → en/docs/`.
    pub(super) fn shown(&self) -> String {
        let folder = |path: &str| if path.is_empty() { String::new() } else { format!("{path}/") };
        let to = if self.to.is_empty() { "./".to_owned() } else { folder(&self.to) };
        format!("/{} → {to}", folder(&self.from))
    }
}

/// The ways that explain most of `lost`, the best first. `ending` lists the paths of pages that end in its argument.
pub(super) fn find<'a>(lost: &BTreeSet<String>, ending: impl Fn(&str) -> Vec<&'a str>) -> Vec<Mount> {
    let mut votes: BTreeMap<Mount, Vec<usize>> = BTreeMap::new();
    for (number, path) in lost.iter().enumerate() {
        let mut starts = [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at + 1)).take(DEEPEST);
        let pages =
            starts.find_map(|start| Some((start, ending(&path[start..]))).filter(|(_, found)| !found.is_empty()));
        let Some((start, pages)) = pages.filter(|(_, pages)| pages.len() <= NAMESAKES) else { continue };
        let from = path[..start].trim_end_matches('/').to_owned();
        for page in pages {
            let to = page[..page.len() - (path.len() - start)].trim_end_matches('/').to_owned();
            if to != from {
                let voters = votes.entry(Mount { from: from.clone(), to }).or_default();
                if voters.last() != Some(&number) {
                    voters.push(number);
                }
            }
        }
    }
    let enough = (lost.len() / 10).max(2);
    let mut explained = vec![false; lost.len()];
    let mut mounts = Vec::new();
    while mounts.len() < MOST {
        let new = |voters: &Vec<usize>| voters.iter().filter(|&&number| !explained[number]).count();
        let best = votes.iter().map(|(mount, voters)| (new(voters), mount)).max_by(|(a, one), (b, other)| {
            a.cmp(b).then(other.cmp(one)) // of equals the first
        });
        let Some(mount) = best.filter(|(count, _)| *count >= enough).map(|(_, mount)| mount.clone()) else { break };
        votes[&mount].iter().for_each(|&number| explained[number] = true);
        mounts.push(mount);
    }
    mounts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts(lost: &[&str], pages: &[&'static str]) -> Vec<String> {
        let lost = lost.iter().map(|path| (*path).to_owned()).collect();
        let ending = |end: &str| {
            let has = |page: &&str| *page == end || page.ends_with(&format!("/{end}"));
            pages.iter().copied().filter(has).collect::<Vec<_>>()
        };
        find(&lost, ending).iter().map(Mount::shown).collect()
    }

    #[test]
    fn the_way_that_most_lost_links_share_is_found() {
        assert_eq!(mounts(&["docs/a", "docs/b/c", "x"], &["en/docs/a", "en/docs/b/c", "en/x/y"]), ["/ → en/"]);
        assert_eq!(mounts(&["docs/a", "docs/b/c"], &["a", "b/c"]), ["/docs/ → ./"]);
        assert_eq!(mounts(&["v1/a", "v1/b"], &["src/a", "src/b"]), ["/v1/ → src/"]);
        assert_eq!(
            mounts(&["docs/a", "docs/b", "blog/c", "blog/d"], &["a", "b", "posts/c", "posts/d"]),
            ["/blog/ → posts/", "/docs/ → ./"]
        );
    }

    #[test]
    fn one_link_alone_shows_no_way() {
        assert_eq!(mounts(&["docs/a", "q/r"], &["a", "s/t"]), [] as [&str; 0]);
    }

    #[test]
    fn a_path_is_placed_whole_parts_at_a_time() {
        let mount = Mount { from: "docs".into(), to: "src".into() };
        assert_eq!(mount.place("/docs/a/b").as_deref(), Some("src/a/b"));
        assert_eq!(mount.place("/docs").as_deref(), Some("src/"));
        assert_eq!(mount.place("/docsy/a"), None);
    }
}
