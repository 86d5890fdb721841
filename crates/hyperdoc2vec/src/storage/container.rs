//! One file of named arrays and a description of them: the safetensors container, with checksums, mapped.
//!
//! The description is JSON under the key `hyperdoc2vec` of the container's metadata:
//! `{"format", "version", "program", "container", "checksums": {array: XXH3}, …}`.
//!
//! From version 2 of the container, the array `header_checksum` holds the XXH3 of everything before the arrays, so that
//! no byte of the file can change unnoticed. Files without it open as before; their description cannot be checked.
//!
//! The safetensors crate reads the header. Writing is ours, because the crate wants all arrays in memory at once and
//! writes several keys of metadata in a random order.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use half::f16;
use half::slice::HalfFloatSliceExt;
use memmap2::{Mmap, MmapMut};
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};
use crate::storage::array::map;
use crate::storage::atomic::write_atomically;

const KEY: &str = "hyperdoc2vec";
/// The version of the container, whatever the format of what is in it.
const CONTAINER: u64 = 2;
/// The array with the checksum of all bytes before the arrays.
const HEADER_CHECKSUM: &str = "header_checksum";
/// Bytes that are read from or written to a file at once.
pub(crate) const BUFFER: usize = 1 << 20;

/// Bytes of a file that tell its format: the description may be this long.
pub const HEAD: u64 = 1 << 20;

/// Whether a file with these first bytes, up to [`HEAD`], is a container of this format, whole or not.
pub fn has_format(head: &[u8], format: &str) -> bool {
    let head = String::from_utf8_lossy(head.get(8..).unwrap_or_default());
    let format = format!(r#"\"format\":\"{format}\""#);
    head.starts_with(&format!(r#"{{"__metadata__":{{"{KEY}":""#)) && head.contains(&format)
}

/// Whether a file of this format may take the place of what is at `path`: of nothing, of an empty file, or of one of its
/// kind.
pub(crate) fn may_replace(path: &Path, format: &str) -> Result<bool> {
    begins(path, |head| has_format(head, format))
}

/// Whether nothing is at `path`, or a file that is empty or whose first bytes, up to [`HEAD`], are as wanted.
pub(crate) fn begins(path: &Path, wanted: impl FnOnce(&[u8]) -> bool) -> Result<bool> {
    if !path.try_exists().map_err(Error::io("read", path))? {
        return Ok(true);
    }
    // A pipe would be waited for.
    if !path.metadata().map_err(Error::io("read", path))?.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(Error::io("read", path))?;
    Ok(head.is_empty() || wanted(&head))
}

/// An array to be written.
pub struct Tensor<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Data<'a>,
}

/// Where the bytes of an array are.
pub(crate) enum Data<'a> {
    /// In memory.
    Bytes(&'a [u8]),
    /// In memory, the beginnings of rows so many bytes long.
    Rows { bytes: &'a [u8], stride: usize, row: usize },
    /// In memory, the first `columns` of each `stride` numbers, to be rounded to half precision.
    Halves { numbers: &'a [f32], stride: usize, columns: usize },
    /// In a file, with their checksum.
    File { file: &'a File, range: Range<u64>, sum: u64 },
}

impl<'a> Tensor<'a> {
    fn new<T: Pod>(name: &'a str, dtype: Dtype, numbers: &'a [T]) -> Tensor<'a> {
        let data = Data::Bytes(bytemuck::cast_slice(numbers));
        Tensor { name, dtype, shape: vec![numbers.len()], data }
    }

    /// Numbers in rows of `columns`.
    pub fn matrix(name: &'a str, numbers: &'a [f32], columns: usize) -> Tensor<'a> {
        let shape = vec![numbers.len() / columns.max(1), columns];
        Tensor { shape, ..Tensor::floats(name, numbers) }
    }

    /// The first `columns` numbers of rows of `stride`.
    pub fn rows(name: &'a str, numbers: &'a [f32], stride: usize, columns: usize) -> Tensor<'a> {
        let shape = vec![numbers.len() / stride.max(1), columns];
        let [stride, row] = [stride, columns].map(|numbers| numbers * size_of::<f32>());
        let data = Data::Rows { bytes: bytemuck::cast_slice(numbers), stride, row };
        Tensor { name, dtype: Dtype::F32, shape, data }
    }

    /// The first `columns` numbers of rows of `stride`, rounded to half precision.
    pub fn halves(name: &'a str, numbers: &'a [f32], stride: usize, columns: usize) -> Tensor<'a> {
        let shape = vec![numbers.len() / stride.max(1), columns];
        Tensor { name, dtype: Dtype::F16, shape, data: Data::Halves { numbers, stride, columns } }
    }

    /// Numbers in a row.
    pub fn floats(name: &'a str, numbers: &'a [f32]) -> Tensor<'a> {
        Tensor::new(name, Dtype::F32, numbers)
    }

    /// Whole numbers of 64 bits.
    pub fn u64s(name: &'a str, numbers: &'a [u64]) -> Tensor<'a> {
        Tensor::new(name, Dtype::U64, numbers)
    }

    /// Whole numbers of 32 bits.
    pub fn u32s(name: &'a str, numbers: &'a [u32]) -> Tensor<'a> {
        Tensor::new(name, Dtype::U32, numbers)
    }

    /// Whole numbers of 32 bits with a sign.
    pub fn i32s(name: &'a str, numbers: &'a [i32]) -> Tensor<'a> {
        Tensor::new(name, Dtype::I32, numbers)
    }

    /// Bytes.
    pub fn bytes(name: &'a str, bytes: &'a [u8]) -> Tensor<'a> {
        Tensor::new(name, Dtype::U8, bytes)
    }

    /// The name of the array.
    pub fn name(&self) -> &str {
        self.name
    }

    fn len(&self) -> usize {
        match &self.data {
            Data::Bytes(bytes) => bytes.len(),
            Data::Rows { row, .. } => row * self.shape[0],
            Data::Halves { columns, .. } => columns * self.shape[0] * size_of::<f16>(),
            Data::File { range, .. } => (range.end - range.start) as usize,
        }
    }

    /// Gives the bytes to `take`, piece by piece: never more than a little of them is copied.
    pub(crate) fn each(&self, take: Take<'_>) -> io::Result<()> {
        match &self.data {
            Data::Bytes(bytes) => take(bytes),
            Data::Rows { bytes, stride, row } => bytes.chunks_exact(*stride).try_for_each(|whole| take(&whole[..*row])),
            Data::Halves { numbers, stride, columns } => {
                let mut halves = vec![f16::ZERO; *columns];
                numbers.chunks_exact(*stride).try_for_each(|whole| {
                    halves.convert_from_f32_slice(&whole[..*columns]);
                    take(bytemuck::cast_slice(&halves))
                })
            }
            Data::File { file, range, .. } => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(range.start))?;
                let mut left = self.len();
                let mut piece = vec![0; left.min(BUFFER)];
                while left > 0 {
                    let piece = &mut piece[..left.min(BUFFER)];
                    file.read_exact(piece)?;
                    take(piece)?;
                    left -= piece.len();
                }
                Ok(())
            }
        }
    }

    /// The checksum of the bytes.
    fn sum(&self) -> u64 {
        match &self.data {
            Data::Bytes(bytes) => xxh3_64(bytes),
            Data::File { sum, .. } => *sum,
            Data::Rows { .. } | Data::Halves { .. } => {
                let mut hash = Xxh3::new();
                // Nothing that could fail is done with the pieces.
                let _ = self.each(&mut |piece| {
                    hash.update(piece);
                    Ok(())
                });
                hash.digest()
            }
        }
    }
}

/// Takes a piece of an array.
pub type Take<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Writes the arrays and `about` (an object) aside and renames the file into place; equal contents give equal bytes.
pub fn write(path: &Path, format: &str, version: u32, tensors: &[Tensor<'_>], about: Value) -> Result<()> {
    let sums: BTreeMap<&str, String> =
        tensors.iter().map(|tensor| (tensor.name(), format!("{:016x}", tensor.sum()))).collect();
    let mut meta = json!({
        "format": format,
        "version": version,
        "program": env!("CARGO_PKG_VERSION"),
        "container": CONTAINER,
        "checksums": sums,
    });
    if let (Value::Object(meta), Value::Object(about)) = (&mut meta, about) {
        meta.extend(about);
    }
    // One key only: a map of several would be written in a random order.
    let meta = HashMap::from([(KEY.to_owned(), meta.to_string())]);
    write_atomically(path, |file| write_all(file, tensors, meta).map_err(Error::io("write", path)))
}

/// Writes a whole safetensors file: the length of the header, the header, the arrays, those of the widest numbers first.
fn write_all(file: &mut impl Write, tensors: &[Tensor<'_>], meta: HashMap<String, String>) -> io::Result<()> {
    // Its one number is known when the header is.
    let header_checksum = Tensor::u64s(HEADER_CHECKSUM, &[0]);
    let mut order: Vec<&Tensor<'_>> = tensors.iter().chain([&header_checksum]).collect();
    order.sort_by(|one, other| other.dtype.cmp(&one.dtype).then(one.name.cmp(other.name)));
    let mut end = 0;
    let infos = order.iter().map(|tensor| {
        let start = end;
        end += tensor.len();
        let info = TensorInfo { dtype: tensor.dtype, shape: tensor.shape.clone(), data_offsets: (start, end) };
        (tensor.name.to_string(), info)
    });
    let metadata = Metadata::new(Some(meta), infos.collect()).map_err(io::Error::other)?;
    let mut header = vec![0; 8];
    serde_json::to_writer(&mut header, &metadata)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = (header.len() - 8) as u64;
    header[..8].copy_from_slice(&length.to_le_bytes());
    file.write_all(&header)?;
    for tensor in order {
        if tensor.name == HEADER_CHECKSUM {
            file.write_all(&xxh3_64(&header).to_le_bytes())?;
        } else {
            tensor.each(&mut |piece| file.write_all(piece))?;
        }
    }
    Ok(())
}

/// A container, mapped.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    map: Mmap,
    about: Value,
    tensors: BTreeMap<String, (Dtype, Vec<usize>, Range<usize>)>,
    sealed: bool,
}

impl Container {
    /// Maps the file and checks that it is of this format, no newer than `version`, as long as it says, and that its
    /// description was not altered.
    pub fn open(path: &Path, format: &str, version: u32) -> Result<Container> {
        let (file, _) = Container::file(path, format)?;
        Container::parse(path, map(&file, path)?, format, version)
    }

    /// Reads the file into memory, where nothing that happens to the file can reach it; otherwise as [`Container::open`].
    pub fn read(path: &Path, format: &str, version: u32) -> Result<Container> {
        let (mut file, length) = Container::file(path, format)?;
        let mut memory = MmapMut::map_anon(length).map_err(Error::io("make room in memory for", path))?;
        // A wish that may be refused.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        file.read_exact(&mut memory).map_err(Error::io("read", path))?;
        Container::parse(path, memory.make_read_only().map_err(Error::io("read", path))?, format, version)
    }

    /// The file, if it may be a container, and its length.
    fn file(path: &Path, format: &str) -> Result<(File, usize)> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let there = file.metadata().map_err(Error::io("read", path))?;
        if there.is_dir() {
            let what = if path.join("corpus.json").is_file() { "a corpus" } else { "a directory" };
            return Err(Error::Foreign { path: path.to_owned(), what: format!("{what}, not a {format}") });
        }
        if there.len() < 16 {
            let what = format!("not a {format}: the file is too short");
            return Err(Error::Damaged { path: path.to_owned(), what });
        }
        Ok((file, there.len() as usize))
    }

    fn parse(path: &Path, map: Mmap, format: &str, version: u32) -> Result<Container> {
        let damaged = |what: String| Error::Damaged { path: path.to_owned(), what };
        let foreign = |what: String| Error::Foreign { path: path.to_owned(), what };
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(|e| {
            let what = format!("not a whole {format} ({e}); it may be cut short");
            // So the header of a container begins, whatever became of the rest.
            let begun = map[8] == b'{' || map[9..].starts_with(b"\"__metadata__\"");
            if begun { damaged(what) } else { foreign(what) }
        })?;
        let start = 8 + header;
        let header_checksum = xxh3_64(&map[..start]).to_le_bytes();
        let intact = metadata.info(HEADER_CHECKSUM).map(|info| {
            let (from, to) = info.data_offsets;
            map[start + from..start + to] == header_checksum
        });
        // An altered description may name any format and version.
        let other = |what: String| if intact == Some(false) { damaged(what) } else { foreign(what) };
        let about: Value = metadata
            .metadata()
            .as_ref()
            .and_then(|meta| meta.get(KEY))
            .and_then(|json| serde_json::from_str(json).ok())
            .ok_or_else(|| other(format!("a safetensors file, but not a {format}")))?;
        if about["format"] != format {
            return Err(other(format!("expected a {format}, found a {}", about["format"].as_str().unwrap_or("?"))));
        }
        let found = about["version"].as_u64().unwrap_or(u64::MAX);
        if found > u64::from(version) {
            return Err(other(format!(
                "written in version {found} of its format by program {}, but this program ({}) reads up to {version}; \
                 use a newer program",
                about["program"].as_str().unwrap_or("?"),
                env!("CARGO_PKG_VERSION")
            )));
        }
        let mut tensors: BTreeMap<String, (Dtype, Vec<usize>, Range<usize>)> = metadata
            .tensors()
            .into_iter()
            .map(|(name, info)| {
                let (from, to) = info.data_offsets;
                (name, (info.dtype, info.shape.clone(), start + from..start + to))
            })
            .collect();
        tensors.remove(HEADER_CHECKSUM);
        let sealed = intact == Some(true);
        if !sealed && (intact.is_some() || !about["container"].is_null()) {
            let what = "its description was altered since it was written (its checksum differs)";
            return Err(damaged(what.to_owned()));
        }
        Ok(Container { path: path.to_owned(), map, about, tensors, sealed })
    }

    /// The description.
    pub fn about(&self) -> &Value {
        &self.about
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Whether the description has a checksum; files of earlier programs have none.
    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Reads everything and compares the checksums.
    pub fn verify(&self) -> Result<()> {
        for (name, (_, _, range)) in &self.tensors {
            let found = format!("{:016x}", xxh3_64(&self.map[range.clone()]));
            if self.about["checksums"][name] != found.as_str() {
                let what = format!("{name} was altered since it was written (its checksum differs)");
                return Err(Error::Damaged { path: self.path.clone(), what });
            }
        }
        Ok(())
    }

    /// All arrays, to be written again as they are.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        self.tensors.iter().map(|(name, (dtype, shape, range))| Tensor {
            name,
            dtype: *dtype,
            shape: shape.clone(),
            data: Data::Bytes(&self.map[range.clone()]),
        })
    }

    /// The shape of an array; empty where there is none.
    pub fn shape(&self, name: &str) -> &[usize] {
        self.tensors.get(name).map_or(&[], |(_, shape, _)| shape)
    }

    /// The type of the numbers of an array, if there is one.
    pub fn dtype(&self, name: &str) -> Option<Dtype> {
        self.tensors.get(name).map(|(dtype, ..)| *dtype)
    }

    /// Whether there is such an array.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Checks that an array is there, of this type, and, where `length` says so, of that many numbers.
    pub fn check(&self, (name, dtype, length): (&str, Dtype, Option<usize>)) -> Result<()> {
        let damaged = |what: String| Err(Error::Damaged { path: self.path.clone(), what });
        let Some((found, shape, _)) = self.tensors.get(name) else { return damaged(format!("it has no {name}")) };
        if *found != dtype {
            return damaged(format!("{name} holds numbers of type {found:?}, but should hold {dtype:?}"));
        }
        match (shape.iter().product::<usize>(), length) {
            (found, Some(length)) if found != length => {
                damaged(format!("{name} has {found} numbers, but should have {length}"))
            }
            _ => Ok(()),
        }
    }

    /// An array.
    pub fn array<T: Pod>(&self, name: &str) -> Result<&[T]> {
        let damaged = |what: String| Error::Damaged { path: self.path.clone(), what };
        let (_, _, range) = self.tensors.get(name).ok_or_else(|| damaged(format!("it has no {name}")))?;
        if range.is_empty() {
            return Ok(&[]);
        }
        bytemuck::try_cast_slice(&self.map[range.clone()]).map_err(|e| damaged(format!("{name} cannot be read: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_the_same_from_memory_from_longer_rows_and_from_a_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let (numbers, padded) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
        let bytes = [9u8; 11];
        let memory = [Tensor::matrix("numbers", &numbers, 3), Tensor::bytes("bytes", &bytes)];
        let rows = [Tensor::bytes("bytes", &bytes), Tensor::rows("numbers", &padded, 4, 3)];
        let mut aside = crate::storage::spill::SpillFile::new(dir.path()).expect("a file");
        aside.put(&rows[1]).expect("written");
        aside.put_bytes("bytes", |take| (0..11).try_for_each(|_| take(&[9]))).expect("written");
        let file: Vec<Tensor<'_>> = aside.tensors().collect();
        let [one, other, third] = [("a", &memory[..]), ("b", &rows[..]), ("c", &file[..])].map(|(name, tensors)| {
            let path = dir.path().join(name);
            write(&path, "test", 1, tensors, json!({"more": 1})).expect("written");
            Container::open(&path, "test", 1).expect("whole").verify().expect("checksums that hold");
            std::fs::read(&path).expect("read")
        });
        assert!(one == other && one == third);
        let opened = Container::open(&dir.path().join("c"), "test", 1).expect("whole");
        assert_eq!(opened.array::<f32>("numbers").expect("numbers"), numbers);
        assert_eq!(opened.shape("numbers"), [2, 3]);
    }

    #[test]
    fn halves_are_rounded_to_the_nearest() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("halves");
        let padded = [1.0, 0.1, 9.0, -2.0, 2049.0, 9.0];
        let tensors = [Tensor::halves("halves", &padded, 3, 2), Tensor::bytes("bytes", &[7])];
        write(&path, "test", 1, &tensors, json!({})).expect("written");
        let opened = Container::open(&path, "test", 1).expect("whole");
        opened.verify().expect("checksums that hold");
        let bits: Vec<u16> = opened.array::<f16>("halves").expect("halves").iter().map(|half| half.to_bits()).collect();
        assert_eq!(bits, [0x3c00, 0x2e66, 0xc000, 0x6800]);
        assert_eq!(opened.shape("halves"), [2, 2]);
    }

    #[test]
    fn arrays_of_no_bytes_are_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("empty");
        let tensors = [Tensor::rows("rows", &[], 8, 5), Tensor::bytes("bytes", &[])];
        write(&path, "test", 1, &tensors, json!({})).expect("written");
        let opened = Container::open(&path, "test", 1).expect("whole");
        opened.verify().expect("checksums that hold");
        assert_eq!(opened.shape("rows"), [0, 5]);
    }
}
