//! Atomic writes: what is being written stands beside its destination, as `.NAME.part-…`, until it is whole; then it
//! is synced and renamed.
//!
//! Its writer holds a lock on it, which ends with the writer, however that ends. So the next writer to the same
//! destination can tell what a killed one left behind, and removes it.
//!
//! Ours, not tempfile's `persist`: that renames single files alone, and neither locks nor syncs them.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tempfile::{TempDir, TempPath};

use crate::error::{Error, Result};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 20;
/// The suffix of a corpus or a file set aside while another takes its place.
const OLD: &str = ".old";

/// The directory that `destination` stands in.
pub fn parent(destination: &Path) -> &Path {
    destination.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the names of unfinished outputs begin; letters and digits follow.
pub fn prefix(destination: &Path) -> String {
    format!(".{}.part-", destination.file_name().unwrap_or_default().to_string_lossy())
}

/// Where what stood at the destination waits while the finished `part` takes its place.
fn old(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(OLD);
    PathBuf::from(name)
}

/// Takes away what killed writers left beside `destination`. A directory that they had moved aside goes back if nothing
/// has taken its place; a file does not, as the one that it belonged to may have been replaced. What cannot be removed
/// stands in nobody's way.
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
    let locked = |path: &Path| open_at_once(path).ok().filter(|file| file.try_lock().is_ok());
    for (_, old) in olds {
        let part = PathBuf::from(old.to_string_lossy().trim_end_matches(OLD));
        if part.exists() && locked(&part).is_none() {
            continue;
        }
        let _ = match old.is_dir() {
            false => fs::remove_file(&old),
            true if destination.exists() => fs::remove_dir_all(&old),
            true => fs::rename(&old, destination),
        };
    }
    for (_, part) in parts {
        if let Some(_lock) = locked(&part) {
            let _ = if part.is_dir() { fs::remove_dir_all(&part) } else { fs::remove_file(&part) };
        }
    }
}

/// An error if something is at `destination` that may not be replaced.
pub(crate) fn refuse_existing(destination: &Path, replace: bool) -> Result<()> {
    match replace || destination.symlink_metadata().is_err() {
        true => Ok(()),
        false => Err(Error::Exists { path: destination.to_owned() }),
    }
}

/// Writes a file: `write` fills one beside `path`, which takes its place when it is whole. Where anything fails, nothing
/// is left behind, and what stood at `path` stays.
pub fn write_atomically<T, E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let mut file = AtomicFile::create(path)?;
    let written = write(&mut file.out)?;
    file.finish()?.publish()?;
    Ok(written)
}

/// Writes two files that belong together: whoever looks, even after a kill, never finds `first` beside a `second` that
/// does not fit. Both are whole before either takes its place. Nothing renames two files at once, so what stood at
/// `second` is set aside first, and for a moment `first` stands alone; a kill in that moment leaves it so. Where anything
/// fails, what stood there comes back; only where the system cannot exchange two files may `first` then be new and alone.
pub fn write_pair_atomically<E: From<Error>>(
    [first, second]: [&Path; 2],
    write: impl FnOnce([&mut BufWriter<File>; 2]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let _lock = OutputLock::take(first)?;
    let (mut one, mut other) = (AtomicFile::create(first)?, AtomicFile::create(second)?);
    write([&mut one.out, &mut other.out])?;
    Ok(publish_pair(&one.finish()?, &other.finish()?)?)
}

/// Lets two finished files take their places, or neither.
fn publish_pair(one: &FinishedFile<'_>, other: &FinishedFile<'_>) -> Result<()> {
    let (first, second) = (one.destination, other.destination);
    if let Some(folder) = [first, second].into_iter().find(|path| path.is_dir()) {
        return Err(Error::io("replace", folder)(io::ErrorKind::IsADirectory.into()));
    }
    let aside = old(&other.part);
    let had_second = match fs::rename(second, &aside) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(Error::io("replace", second)(error)),
    };
    let put_back = || {
        if had_second {
            let _ = fs::rename(&aside, second);
        }
    };
    let had_first = first.symlink_metadata().is_ok();
    let mut exchanged = false;
    let replaced = sync(parent(second)).and_then(|()| {
        // What stood at `first` is then the temporary file, until it goes with it.
        exchanged = had_first && exchange(&one.part, first);
        if exchanged { Ok(()) } else { fs::rename(&one.part, first).map_err(Error::io("write", first)) }
    });
    if let Err(error) = replaced {
        put_back();
        return Err(error);
    }
    if let Err(error) = fs::rename(&other.part, second) {
        let undone = if had_first { exchanged && exchange(&one.part, first) } else { fs::remove_file(first).is_ok() };
        // Beside a new `first`, the old `second` would not fit.
        if undone {
            put_back();
        } else if had_second {
            let _ = fs::remove_file(&aside);
        }
        return Err(Error::io("write", second)(error));
    }
    if had_second {
        let _ = fs::remove_file(&aside);
    }
    sync(parent(first))?;
    sync(parent(second))
}

/// A file being written beside its destination.
struct AtomicFile<'a> {
    destination: &'a Path,
    out: BufWriter<File>,
    part: TempPath,
}

/// A file that is whole and on the disk, but not at its destination yet. Its lock ends with it.
struct FinishedFile<'a> {
    destination: &'a Path,
    part: TempPath,
    _lock: File,
}

impl AtomicFile<'_> {
    fn create(destination: &Path) -> Result<AtomicFile<'_>> {
        clear(destination);
        let prefix = prefix(destination);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        // For whoever may read the directory; temporary files are for their owner only.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        loop {
            let part = builder.tempfile_in(parent(destination)).map_err(Error::io("create", destination))?;
            // Another writer may take a file that is not locked yet for a leftover.
            if lock(part.as_file(), part.path()) {
                let (file, part) = part.into_parts();
                return Ok(AtomicFile { destination, out: BufWriter::with_capacity(BUFFER, file), part });
            }
        }
    }
}

impl<'a> AtomicFile<'a> {
    fn finish(self) -> Result<FinishedFile<'a>> {
        let AtomicFile { destination, out, part } = self;
        let file = out.into_inner().map_err(|error| Error::io("write", destination)(error.into_error()))?;
        file.sync_all().map_err(Error::io("write", destination))?;
        Ok(FinishedFile { destination, part, _lock: file })
    }
}

impl FinishedFile<'_> {
    fn publish(self) -> Result<()> {
        self.part.persist(self.destination).map_err(|error| Error::io("write", self.destination)(error.error))?;
        sync(parent(self.destination))
    }
}

/// Keeps two long runs from writing to one destination: held from the start of a run to its end, on an empty file
/// `.NAME.lock` beside the destination. It ends with its holder, however that ends.
pub(crate) struct OutputLock {
    path: PathBuf,
    file: File,
}

impl OutputLock {
    /// Takes the lock, or fails with [`Error::Busy`]. Where the file system knows no locks, everyone gets one.
    pub(crate) fn take(destination: &Path) -> Result<OutputLock> {
        let name = destination.file_name().unwrap_or_default().to_string_lossy();
        let path = parent(destination).join(format!(".{name}.lock"));
        loop {
            let file = match File::options().create_new(true).write(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
                        let what = "not a regular file, but the lock of a run to this output has that name; rename it";
                        return Err(Error::input(path.display().to_string(), what));
                    }
                    match open_at_once(&path) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        file => file,
                    }
                }
                file => file,
            };
            let file = file.map_err(Error::io("lock", destination))?;
            if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
                return Err(Error::Busy { path: destination.to_owned() });
            }
            // Its last holder removes the file: a lock on one that is gone keeps nobody out.
            if is_at(&file, &path) {
                return Ok(OutputLock { path, file });
            }
        }
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // A file with something in it is not ours. Before the lock ends, so that whoever gets it next sees that the
        // file is gone.
        if self.file.metadata().is_ok_and(|there| there.len() == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file to lock it; does not wait for the other end of a pipe, nor follow a link.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    }
    options.open(path)
}

/// Whether the open file is the one that stands at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |there: fs::Metadata| (there.dev(), there.ino());
        file.metadata().ok().map(identity) == path.metadata().ok().map(identity)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// A new directory beside `destination`, and the lock that says that it is being written.
pub(crate) fn unfinished_directory(destination: &Path) -> Result<(TempDir, File)> {
    let folder = parent(destination);
    let prefix = prefix(destination);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    // For whoever may read the directory it stands in; temporary directories are for their owner only.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    loop {
        let dir = builder.tempdir_in(folder).map_err(Error::io("create a directory in", folder))?;
        let file = match File::open(dir.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(Error::io("lock", dir.path()))?,
        };
        if lock(&file, dir.path()) {
            return Ok((dir, file));
        }
    }
}

/// Renames a finished directory into place and makes that last. A directory that stands there changes places with it in
/// one step where the system can do that; elsewhere it is moved aside first.
pub(crate) fn publish_directory(dir: TempDir, destination: &Path) -> Result<()> {
    // The names of the files must last before the name of the directory does.
    sync(dir.path())?;
    if exchange(dir.path(), destination) {
        sync(parent(destination))?;
        // What stood there is now the temporary directory.
        return dir.close().map_err(Error::io("remove", destination));
    }
    let old = destination.exists().then(|| old(dir.path()));
    if let Some(old) = &old {
        fs::rename(destination, old).map_err(Error::io("replace", destination))?;
    }
    if let Err(error) = fs::rename(dir.path(), destination) {
        if let Some(old) = &old {
            let _ = fs::rename(old, destination);
        }
        return Err(Error::io("rename the finished directory to", destination)(error));
    }
    // It is no longer a temporary directory.
    let _ = dir.keep();
    sync(parent(destination))?;
    if let Some(old) = &old {
        fs::remove_dir_all(old).map_err(Error::io("remove", old))?;
    }
    Ok(())
}

/// Lets two directories change places; `false` where one is missing or the system cannot do that.
fn exchange(one: &Path, other: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (one, other);
        false
    }
}

/// Makes the names in a directory last.
fn sync(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io("write", dir))
}

/// Locks what has just been made at `path`; `false` if another writer took it for a leftover and has it, or removes it.
/// Where the file system knows no locks, there is none, and nothing is ever cleared.
fn lock(file: &File, path: &Path) -> bool {
    !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) && path.exists()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

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
        let path = dir.path().join(".c.part-alive1");
        let [alive, other] = [0, 1].map(|_| File::open(&path).expect("a directory"));
        assert!(lock(&alive, &path));
        assert!(!lock(&other, &path), "one lock, one holder");
        drop(other);
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), [".c.part-a b", ".c.part-alive1", ".c.partial", ".cc.part-dead01"]);
        drop(alive);
        clear(&dir.path().join("c"));
        assert_eq!(names(dir.path()), [".c.part-a b", ".c.partial", ".cc.part-dead01"]);
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        fs::write(&path, "old").expect("a file");
        let failed: Result<()> = write_atomically(&path, |out| {
            out.write_all(b"half").map_err(Error::io("write", &path))?;
            Err(Error::Interrupted)
        });
        assert!(matches!(failed, Err(Error::Interrupted)));
        assert_eq!(
            (fs::read_to_string(&path).expect("a file"), names(dir.path())),
            ("old".to_owned(), vec!["f".to_owned()])
        );
        let kept = write_atomically(&path, |out| {
            out.write_all(b"new").map_err(Error::io("write", &path))?;
            assert_eq!(names(dir.path()).len(), 2, "it stands beside");
            clear(&path);
            assert_eq!(names(dir.path()).len(), 2, "its writer lives");
            Ok::<_, Error>(7)
        });
        assert_eq!(kept.expect("written"), 7);
        assert_eq!(
            (fs::read_to_string(&path).expect("a file"), names(dir.path())),
            ("new".to_owned(), vec!["f".to_owned()])
        );
    }

    #[test]
    fn two_files_take_their_places_together_or_not_at_all() {
        let dir = tempfile::tempdir().expect("a directory");
        let [vectors, rows] = ["v", "r"].map(|name| dir.path().join(name));
        let write = |texts: [&'static str; 2], fails: bool| {
            write_pair_atomically([&vectors, &rows], |outs| {
                for (out, text) in outs.into_iter().zip(texts) {
                    out.write_all(text.as_bytes()).map_err(Error::io("write", &vectors))?;
                }
                if fails { Err(Error::Interrupted) } else { Ok(()) }
            })
        };
        let read = || [&vectors, &rows].map(|path| fs::read_to_string(path).unwrap_or_default());
        write(["1", "one"], false).expect("written");
        assert!(write(["2", "two"], true).is_err());
        assert_eq!(read(), ["1", "one"]);
        write(["2", "two"], false).expect("written");
        assert_eq!(
            (read(), names(dir.path())),
            (["2", "two"].map(str::to_owned), vec!["r".to_owned(), "v".to_owned()])
        );
    }

    /// Finished files at these destinations, one of which is then lost, so that it cannot be renamed.
    fn pair_without_part(number: usize, [vectors, rows]: [&Path; 2]) -> Result<()> {
        let [one, other] = [vectors, rows].map(|path| AtomicFile::create(path).expect("a file"));
        let parts = [one.part.to_path_buf(), other.part.to_path_buf()];
        let (one, other) = (one.finish().expect("finished"), other.finish().expect("finished"));
        fs::remove_file(&parts[number]).expect("removed");
        publish_pair(&one, &other)
    }

    #[test]
    fn two_files_come_back_when_one_of_them_cannot_be_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let [vectors, rows] = ["v", "r"].map(|name| dir.path().join(name));
        for lost in [0, 1] {
            assert!(pair_without_part(lost, [&vectors, &rows]).is_err());
            assert_eq!(names(dir.path()), [""; 0], "{lost}: neither was there");
        }
        fs::write(&vectors, "1").expect("a file");
        fs::write(&rows, "one").expect("a file");
        // Elsewhere the first file cannot come back.
        for lost in if cfg!(target_os = "linux") { 0..2 } else { 0..1 } {
            assert!(pair_without_part(lost, [&vectors, &rows]).is_err());
            let read = [&vectors, &rows].map(|path| fs::read_to_string(path).unwrap_or_default());
            assert_eq!((read, names(dir.path()).len()), (["1", "one"].map(str::to_owned), 2), "{lost}");
        }
    }

    #[test]
    fn names_that_a_killed_writer_set_aside_do_not_come_back() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["v", ".r.part-abc123", ".r.part-abc123.old"] {
            fs::write(dir.path().join(name), name).expect("a file");
        }
        clear(&dir.path().join("r"));
        assert_eq!(names(dir.path()), ["v"]);
    }

    #[test]
    fn a_file_that_has_the_name_of_a_lock_by_chance_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, lock) = (dir.path().join("m"), dir.path().join(".m.lock"));
        fs::write(&lock, "a note").expect("a file");
        let first = OutputLock::take(&path).expect("free");
        assert!(matches!(OutputLock::take(&path), Err(Error::Busy { .. })));
        drop(first);
        assert_eq!(fs::read_to_string(&lock).expect("a file"), "a note");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_or_a_link_in_the_place_of_a_lock_is_refused_at_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let made = std::process::Command::new("mkfifo").arg(dir.path().join(".pipe.lock")).status();
        assert!(made.expect("mkfifo").success());
        std::os::unix::fs::symlink("elsewhere", dir.path().join(".link.lock")).expect("a link");
        for name in ["pipe", "link"] {
            let error = OutputLock::take(&dir.path().join(name)).err().expect("refused").to_string();
            assert!(error.contains(".lock") && error.contains("not a regular file"), "{error}");
        }
        assert_eq!(names(dir.path()), [".link.lock", ".pipe.lock"]);
    }

    #[test]
    fn a_destination_has_one_run_at_a_time() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("m");
        let first = OutputLock::take(&path).expect("free");
        assert!(matches!(OutputLock::take(&path), Err(Error::Busy { .. })));
        drop(OutputLock::take(&dir.path().join("other")).expect("another destination"));
        drop(first);
        drop(OutputLock::take(&path).expect("free again"));
        // A killed run leaves the file, but not the lock.
        fs::write(dir.path().join(".m.lock"), "").expect("a file");
        drop(OutputLock::take(&path).expect("free"));
        assert_eq!(names(dir.path()), [""; 0]);
    }

    #[test]
    fn a_directory_is_replaced_by_a_finished_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("c");
        for content in ["old", "new"] {
            let (part, _lock) = unfinished_directory(&path).expect("a directory");
            fs::write(part.path().join("tokens"), content).expect("a file");
            publish_directory(part, &path).expect("published");
            assert_eq!(fs::read_to_string(path.join("tokens")).expect("a file"), content);
            assert_eq!(names(dir.path()), ["c"]);
        }
    }

    /// Process ids do not tell writers apart: containers that share a volume have the same.
    #[test]
    fn two_writers_of_one_process_write_to_files_of_their_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        let [mut one, mut other] = [0, 1].map(|_| AtomicFile::create(&path).expect("a file"));
        assert_eq!(names(dir.path()).len(), 2);
        one.out.write_all(b"one").expect("written");
        other.out.write_all(b"other").expect("written");
        one.finish().and_then(FinishedFile::publish).expect("published");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "one");
        other.finish().and_then(FinishedFile::publish).expect("published");
        assert_eq!((fs::read_to_string(&path).expect("a file").as_str(), names(dir.path()).len()), ("other", 1));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn there_is_no_moment_without_a_directory_while_it_is_replaced() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("c");
        let replace = || {
            let (part, _lock) = unfinished_directory(&path).expect("a directory");
            fs::write(part.path().join("tokens"), "x").expect("a file");
            publish_directory(part, &path).expect("published");
        };
        replace();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut looks = 0u64;
                while !done.load(Ordering::Relaxed) {
                    assert!(path.exists(), "after {looks} looks");
                    looks += 1;
                }
            });
            (0..300).for_each(|_| replace());
            done.store(true, Ordering::Relaxed);
            watching.join().expect("it was always there");
        });
    }

    #[test]
    fn what_was_moved_aside_goes_back_unless_its_place_is_taken() {
        let dir = tempfile::tempdir().expect("a directory");
        let make = |name: &str| fs::create_dir_all(dir.path().join(name).join("inside")).expect("a directory");
        make(".c.part-abc123");
        make(".c.part-abc123.old");
        let path = dir.path().join(".c.part-abc123");
        let alive = File::open(&path).expect("a directory");
        assert!(lock(&alive, &path));
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
