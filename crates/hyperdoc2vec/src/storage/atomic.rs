//! What is being written stands beside its destination, as `.NAME.part-…`, until it is whole.
//!
//! Its writer holds a lock on it, which ends with the writer, however that ends. So the next writer to the same
//! destination can tell what a killed one left behind, and takes it away.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What follows the name of a corpus set aside while another takes its place.
const OLD: &str = ".old";

/// The directory that `destination` stands in.
pub fn parent(destination: &Path) -> &Path {
    destination.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the names of unfinished outputs begin; letters and digits follow.
pub fn prefix(destination: &Path) -> String {
    format!(".{}.part-", destination.file_name().unwrap_or_default().to_string_lossy())
}

/// Where what stood at the destination waits while the finished directory `part` takes its place.
pub(crate) fn old(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(OLD);
    PathBuf::from(name)
}

/// Takes away what killed writers left beside `destination`. What they had moved aside goes back if nothing has taken
/// its place. What cannot be removed stands in nobody's way.
pub fn clear(destination: &Path) {
    let prefix = prefix(destination);
    let Ok(entries) = fs::read_dir(parent(destination)) else { return };
    let parts = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let rest = name.strip_prefix(&prefix)?;
        let ours = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric());
        ours(rest.strip_suffix(OLD).unwrap_or(rest)).then(|| (rest.ends_with(OLD), entry.path()))
    });
    let (olds, parts): (Vec<_>, Vec<_>) = parts.partition(|(old, _)| *old);
    // As long as its writer lives, a part is locked; it is removed under the lock, so that none can begin with it.
    let locked = |path: &Path| File::open(path).ok().filter(|file| file.try_lock().is_ok());
    for (_, old) in olds {
        let part = PathBuf::from(old.to_string_lossy().trim_end_matches(OLD));
        if part.exists() && locked(&part).is_none() {
            continue;
        }
        let _ = if destination.exists() { fs::remove_dir_all(&old) } else { fs::rename(&old, destination) };
    }
    for (_, part) in parts {
        if let Some(_lock) = locked(&part) {
            let _ = if part.is_dir() { fs::remove_dir_all(&part) } else { fs::remove_file(&part) };
        }
    }
}

/// A lock on what has just been made at `path`; `None` if another writer took it for a leftover and has it, or removes
/// it. Where the file system knows no locks, there is none, and nothing is ever cleared.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let taken = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
    Ok(Some(file).filter(|_| !taken && path.exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn leftovers_of_dead_writers_go_and_those_of_living_ones_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let make = |name: &str| {
            fs::create_dir(dir.path().join(name)).expect("a directory");
            fs::write(dir.path().join(name).join("tokens"), name).expect("a file");
        };
        for name in [".c.part-dead01", ".c.part-alive1", ".c.part-a b", ".cc.part-dead01", ".c.partial"] {
            make(name);
        }
        fs::write(dir.path().join(".c.part-77"), "half").expect("a file");
        let alive = lock(&dir.path().join(".c.part-alive1")).expect("a lock");
        assert!(alive.is_some());
        assert!(lock(&dir.path().join(".c.part-alive1")).expect("no lock").is_none(), "one lock, one holder");
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), [".c.part-a b", ".c.part-alive1", ".c.partial", ".cc.part-dead01"]);
        drop(alive);
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), [".c.part-a b", ".c.partial", ".cc.part-dead01"]);
    }

    #[test]
    fn what_was_moved_aside_goes_back_unless_its_place_is_taken() {
        let dir = tempfile::tempdir().expect("a directory");
        let make = |name: &str| fs::create_dir_all(dir.path().join(name).join("inside")).expect("a directory");
        make(".c.part-abc123");
        make(".c.part-abc123.old");
        let alive = lock(&dir.path().join(".c.part-abc123")).expect("a lock");
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), [".c.part-abc123", ".c.part-abc123.old"], "it is being replaced just now");
        drop(alive);
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), ["c"]);
        make(".c.part-abc123.old");
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), ["c"]);
    }
}
