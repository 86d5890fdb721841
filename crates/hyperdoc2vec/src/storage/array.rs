//! Flat arrays in files: written aside with checksums, opened by memory map or read into memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use memmap2::{Mmap, MmapMut};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};
use crate::storage::strings::{StringTable, string_index};

#[cfg(not(all(target_endian = "little", target_pointer_width = "64")))]
compile_error!("the files are mapped as they are: little-endian 64-bit machines only");

/// Size and checksum (XXH3, 64 bits) of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileInfo {
    /// Length in bytes.
    pub bytes: u64,
    /// Checksum in hexadecimal.
    pub xxh3: String,
}

/// The files of a directory, by name.
pub type Files = BTreeMap<String, FileInfo>;

/// How many bytes [`ArrayWriter::rewrite`] reads at once.
const REWRITE: usize = 1 << 20;

/// One array being written, element by element.
pub struct ArrayWriter {
    name: String,
    path: PathBuf,
    file: BufWriter<File>,
    hash: Xxh3,
    bytes: u64,
}

impl ArrayWriter {
    /// Starts the file `name` in `dir`.
    pub fn create(dir: &Path, name: &str) -> Result<ArrayWriter> {
        let path = dir.join(name);
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(ArrayWriter { name: name.to_owned(), path, file, hash: Xxh3::new(), bytes: 0 })
    }

    /// Appends elements.
    pub fn push<T: Pod>(&mut self, elements: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io("write", &self.path))
    }

    /// How many bytes stand in the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads all elements again and writes what `change` makes of them in their places.
    pub fn rewrite<T: Pod + Send + Sync>(&mut self, change: impl Fn(&mut [T]) + Sync) -> Result<()> {
        self.file.rewind().map_err(Error::io("write", &self.path))?;
        let mut input = File::open(&self.path).map_err(Error::io("open", &self.path))?;
        let path = self.path.clone();
        let mut left = std::mem::take(&mut self.bytes) as usize;
        self.hash = Xxh3::new();
        let mut read = || {
            let mut part = vec![T::zeroed(); left.min(REWRITE) / size_of::<T>()];
            left -= size_of_val(part.as_slice());
            input.read_exact(bytemuck::cast_slice_mut(&mut part)).map_err(Error::io("read", &path))?;
            change(&mut part);
            Ok::<_, Error>(part)
        };
        let mut part = read()?;
        while !part.is_empty() {
            let (written, next) = rayon::join(|| self.push(&part), &mut read);
            written?;
            part = next?;
        }
        Ok(())
    }

    /// Writes what is left, waits until the disk has it, and notes the file in `files`.
    pub fn finish(&mut self, files: &mut Files) -> Result<()> {
        self.file.flush().map_err(Error::io("write", &self.path))?;
        self.file.get_ref().sync_all().map_err(Error::io("write", &self.path))?;
        let xxh3 = format!("{:016x}", self.hash.digest());
        files.insert(self.name.clone(), FileInfo { bytes: self.bytes, xxh3 });
        Ok(())
    }
}

/// Writes a whole array.
pub fn write_array<T: Pod>(dir: &Path, name: &str, elements: &[T], files: &mut Files) -> Result<()> {
    let mut writer = ArrayWriter::create(dir, name)?;
    writer.push(elements)?;
    writer.finish(files)
}

/// Strings being written as `NAME.bytes` and `NAME.ends`, one by one.
pub struct StringsWriter {
    bytes: ArrayWriter,
    ends: ArrayWriter,
}

impl StringsWriter {
    /// Starts the files in `dir`.
    pub fn create(dir: &Path, name: &str) -> Result<StringsWriter> {
        let array = |part| ArrayWriter::create(dir, &format!("{name}.{part}"));
        Ok(StringsWriter { bytes: array("bytes")?, ends: array("ends")? })
    }

    /// Appends a string.
    pub fn push(&mut self, string: &str) -> Result<()> {
        self.bytes.push(string.as_bytes())?;
        self.ends.push(&[self.bytes.bytes()])
    }

    /// Completes the files and notes them in `files`.
    pub fn finish(&mut self, files: &mut Files) -> Result<()> {
        self.bytes.finish(files)?;
        self.ends.finish(files)
    }
}

/// Writes strings as `NAME.bytes` and `NAME.ends`.
pub fn write_strings<'a>(
    dir: &Path,
    name: &str,
    mut strings: impl Iterator<Item = &'a str>,
    files: &mut Files,
) -> Result<()> {
    let mut writer = StringsWriter::create(dir, name)?;
    strings.try_for_each(|string| writer.push(string))?;
    writer.finish(files)
}

/// Writes a table `NAME.index` by which [`Strings::find`] finds a string.
pub fn write_index<'a>(
    dir: &Path,
    name: &str,
    count: usize,
    strings: impl Iterator<Item = &'a str>,
    files: &mut Files,
) -> Result<()> {
    let slots = string_index(count, strings);
    write_array(dir, &format!("{name}.index"), &slots, files)
}

/// Where the bytes of opened files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residence {
    /// In the files: whoever alters or cuts one in place changes what is read, or ends the process.
    Mapped,
    /// In memory, read once.
    Memory,
}

/// An array of a file, mapped or in memory.
#[derive(Debug)]
pub struct Array<T> {
    map: Option<Mmap>,
    path: PathBuf,
    element: PhantomData<T>,
}

impl<T: Pod> Array<T> {
    /// Opens `name`, checking its size against what `files` says.
    pub fn open(dir: &Path, name: &str, files: &Files, residence: Residence) -> Result<Array<T>> {
        let damaged = |what: String| Error::Damaged { path: dir.to_owned(), what };
        let info = files.get(name).ok_or_else(|| damaged(format!("its list of files does not name {name}")))?;
        let path = dir.join(name);
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        let bytes = file.metadata().map_err(Error::io("read", &path))?.len();
        if bytes != info.bytes || bytes % size_of::<T>() as u64 != 0 {
            return Err(damaged(format!(
                "{name} is {bytes} bytes long, but should be {}; import it again",
                info.bytes
            )));
        }
        let map = match residence {
            _ if bytes == 0 => None,
            Residence::Mapped => Some(map(&file, &path)?),
            Residence::Memory => Some(read(&file, bytes as usize, &path)?),
        };
        Ok(Array { map, path, element: PhantomData })
    }

    /// Reads the whole file and compares its checksum.
    pub fn verify(&self, dir: &Path, files: &Files) -> Result<()> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let found = format!("{:016x}", xxh3_64(self.map.as_deref().unwrap_or_default()));
        match files.get(&*name) {
            Some(info) if info.xxh3 == found => Ok(()),
            _ => Err(Error::Damaged {
                path: dir.to_owned(),
                what: format!("{name} was altered since it was written (its checksum differs); import it again"),
            }),
        }
    }
}

/// Maps a file that is only read.
#[allow(unsafe_code)]
pub(crate) fn map(file: &File, path: &Path) -> Result<Mmap> {
    // SAFETY: the map is read-only, and our own programs write such files aside and rename them, never in place.
    // Another program that alters a file while it is mapped could change what we read; every use of the bytes
    // is bounds-checked, so that gives a wrong answer or an error; one that cuts the file short ends the process.
    unsafe { Mmap::map(file) }.map_err(Error::io("map", path))
}

/// Reads so many bytes into memory that is aligned as a map is.
fn read(mut file: &File, bytes: usize, path: &Path) -> Result<Mmap> {
    let mut memory = MmapMut::map_anon(bytes).map_err(Error::io("read", path))?;
    file.read_exact(&mut memory).map_err(Error::io("read", path))?;
    memory.make_read_only().map_err(Error::io("read", path))
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // Maps begin at a page, so every element type is aligned; the length was checked when it was opened.
        self.map.as_deref().map_or(&[], bytemuck::cast_slice)
    }
}

/// Strings of a file, found by number, and by text where there is an index.
#[derive(Debug)]
pub struct Strings {
    bytes: Array<u8>,
    ends: Array<u64>,
    index: Option<Array<u32>>,
}

impl Strings {
    /// Opens `NAME.bytes`, `NAME.ends` and, if there is one, `NAME.index`.
    pub fn open(dir: &Path, name: &str, files: &Files, residence: Residence) -> Result<Strings> {
        let index = format!("{name}.index");
        Ok(Strings {
            bytes: Array::open(dir, &format!("{name}.bytes"), files, residence)?,
            ends: Array::open(dir, &format!("{name}.ends"), files, residence)?,
            index: files.contains_key(&index).then(|| Array::open(dir, &index, files, residence)).transpose()?,
        })
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The strings where they lie.
    pub fn table(&self) -> StringTable<'_> {
        StringTable { bytes: &self.bytes, ends: &self.ends, index: self.index.as_deref().unwrap_or_default() }
    }

    /// String `number`; empty where there is none.
    pub fn get(&self, number: usize) -> &str {
        self.table().get(number)
    }

    /// The number of `text`.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.table().find(text)
    }

    /// Compares all checksums.
    pub fn verify(&self, dir: &Path, files: &Files) -> Result<()> {
        self.bytes.verify(dir, files)?;
        self.ends.verify(dir, files)?;
        self.index.iter().try_for_each(|index| index.verify(dir, files))
    }
}
