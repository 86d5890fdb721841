//! The folder of a report: atomic writes, a lock for one run at a time, settings that must stay the same.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use std::io::Write;

use anyhow::{Context, Result, bail};
use hyperdoc2vec::Error;
use hyperdoc2vec::document::visible_json;
use hyperdoc2vec::storage::write_atomically;
use serde_json::Value;

/// Locked by the run that writes to the folder.
const LOCK: &str = ".lock";

/// Writes JSON.
pub fn write_json(path: &Path, value: &Value) -> Result<()> {
    write(path, &visible_json(&format!("{value:#}\n")))
}

pub fn write(path: &Path, text: &str) -> Result<()> {
    Ok(write_atomically(path, |out| out.write_all(text.as_bytes()).map_err(Error::io("write", path)))?)
}

pub fn read_json(path: &Path) -> Result<Option<Value>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let value = serde_json::from_str(&text);
    Ok(Some(value.with_context(|| format!("{}: not valid JSON; remove it to compute it again", path.display()))?))
}

/// Refuses a folder that contains something else than a report.
pub fn refuse_other(folder: &Path) -> Result<()> {
    let holds = |entries: std::fs::ReadDir| entries.flatten().any(|entry| entry.file_name() != LOCK);
    if !folder.join("settings.json").exists() && std::fs::read_dir(folder).is_ok_and(holds) {
        bail!("{}: already exists and contains no report to continue; choose another folder", folder.display());
    }
    Ok(())
}

/// Creates the folder if necessary and locks it for as long as the returned file lives.
pub fn lock(folder: &Path) -> Result<File> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("{}: another run is using this folder; wait for it, or choose another folder", folder.display());
    }
    Ok(file)
}

/// An empty folder for models; files of a killed run are removed.
pub fn scratch(folder: &Path) -> Result<PathBuf> {
    let path = folder.join(".models");
    if path.exists() {
        std::fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    std::fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(path)
}

/// Stores `settings` in the folder; fails if it was begun with others.
pub fn keep_settings(folder: &Path, settings: &Value) -> Result<()> {
    let path = folder.join("settings.json");
    let Some(before) = read_json(&path)? else { return write_json(&path, settings) };
    let differs = differences("", &before, settings);
    if !differs.is_empty() || before != *settings {
        bail!(
            "{}: was started with different settings ({}); use the same settings, or choose another folder",
            folder.display(),
            differs.iter().take(5).cloned().collect::<Vec<_>>().join("; ")
        );
    }
    Ok(())
}

/// The settings that differ, by name; those that the user gives come first.
fn differences(name: &str, before: &Value, now: &Value) -> Vec<String> {
    match (before, now) {
        (before, now) if before == now => Vec::new(),
        (Value::Object(old), Value::Object(new)) => {
            let mut names: Vec<&String> =
                new.keys().chain(old.keys().filter(|name| !new.contains_key(*name))).collect();
            names.sort_by_key(|name| !matches!(name.as_str(), "until" | "holdout" | "seed"));
            let inside = |inner: &String| if name.is_empty() { inner.clone() } else { format!("{name}.{inner}") };
            names.into_iter().flat_map(|inner| differences(&inside(inner), &before[inner], &now[inner])).collect()
        }
        (before, now) => vec![format!("{name} was {}, is now {}", short(before), short(now))],
    }
}

/// JSON, shortened for a message.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 120 { text.chars().take(119).collect::<String>() + "…" } else { text }
}
