//! One file of named arrays and a description of them: the safetensors container, with checksums, mapped.
//!
//! The description is JSON under the key `hyperdoc2vec` of the container's metadata:
//! `{"format", "version", "program", "checksums": {array: XXH3}, …}`.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use memmap2::Mmap;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize_to_file};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::corpus::map;
use crate::error::{Error, Result};

const KEY: &str = "hyperdoc2vec";

/// An array to be written.
pub struct Tensor<'a> {
    name: &'a str,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> Tensor<'a> {
    /// Numbers in rows of `columns`.
    pub fn matrix(name: &'a str, numbers: &'a [f32], columns: usize) -> Tensor<'a> {
        let shape = vec![numbers.len() / columns.max(1), columns];
        Tensor { name, dtype: Dtype::F32, shape, bytes: bytemuck::cast_slice(numbers) }
    }

    /// Numbers in a row.
    pub fn floats(name: &'a str, numbers: &'a [f32]) -> Tensor<'a> {
        Tensor { name, dtype: Dtype::F32, shape: vec![numbers.len()], bytes: bytemuck::cast_slice(numbers) }
    }

    /// Whole numbers of 64 bits.
    pub fn u64s(name: &'a str, numbers: &'a [u64]) -> Tensor<'a> {
        Tensor { name, dtype: Dtype::U64, shape: vec![numbers.len()], bytes: bytemuck::cast_slice(numbers) }
    }

    /// Whole numbers of 32 bits.
    pub fn u32s(name: &'a str, numbers: &'a [u32]) -> Tensor<'a> {
        Tensor { name, dtype: Dtype::U32, shape: vec![numbers.len()], bytes: bytemuck::cast_slice(numbers) }
    }

    /// Whole numbers of 32 bits with a sign.
    pub fn i32s(name: &'a str, numbers: &'a [i32]) -> Tensor<'a> {
        Tensor { name, dtype: Dtype::I32, shape: vec![numbers.len()], bytes: bytemuck::cast_slice(numbers) }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Bytes.
    pub fn bytes(name: &'a str, bytes: &'a [u8]) -> Tensor<'a> {
        Tensor { name, dtype: Dtype::U8, shape: vec![bytes.len()], bytes }
    }
}

/// Writes the arrays and `about` (an object) aside and renames the file into place; equal contents give equal bytes.
pub fn write(path: &Path, format: &str, version: u32, tensors: &[Tensor<'_>], about: Value) -> Result<()> {
    let sums: BTreeMap<&str, String> =
        tensors.iter().map(|tensor| (tensor.name, format!("{:016x}", xxh3_64(tensor.bytes)))).collect();
    let mut meta = json!({
        "format": format,
        "version": version,
        "program": env!("CARGO_PKG_VERSION"),
        "checksums": sums,
    });
    if let (Value::Object(meta), Value::Object(about)) = (&mut meta, about) {
        meta.extend(about);
    }
    let views = tensors.iter().filter_map(|tensor| {
        let view = TensorView::new(tensor.dtype, tensor.shape.clone(), tensor.bytes).ok()?;
        Some((tensor.name, view))
    });
    // One key only: a map of several would be written in a random order.
    let meta = HashMap::from([(KEY.to_owned(), meta.to_string())]);
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".part-{}", std::process::id()));
    let aside = PathBuf::from(aside);
    // safetensors keeps the file to the user; a model may be read by whom the user lets read files.
    let written = File::create(&aside)
        .and_then(|file| file.metadata())
        .and_then(|found| {
            serialize_to_file(views, Some(meta), &aside).map_err(|e| std::io::Error::other(e.to_string()))?;
            std::fs::set_permissions(&aside, found.permissions())
        })
        .and_then(|()| File::open(&aside)?.sync_all())
        .and_then(|()| std::fs::rename(&aside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    written.map_err(Error::io("write", path))
}

/// A container, mapped.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    map: Mmap,
    about: Value,
    tensors: BTreeMap<String, (Dtype, Vec<usize>, Range<usize>)>,
}

impl Container {
    /// Maps the file and checks that it is of this format, no newer than `version`, and as long as it says.
    pub fn open(path: &Path, format: &str, version: u32) -> Result<Container> {
        let damaged = |what: String| Error::Damaged { path: path.to_owned(), what };
        let file = File::open(path).map_err(Error::io("open", path))?;
        if file.metadata().map_err(Error::io("read", path))?.len() < 16 {
            return Err(damaged(format!("not a {format}: the file is too short")));
        }
        let map = map(&file, path)?;
        let (header, metadata) = SafeTensors::read_metadata(&map)
            .map_err(|e| damaged(format!("not a whole {format} ({e}); it may be cut short")))?;
        let about: Value = metadata
            .metadata()
            .as_ref()
            .and_then(|meta| meta.get(KEY))
            .and_then(|json| serde_json::from_str(json).ok())
            .ok_or_else(|| damaged(format!("a safetensors file, but not a {format}")))?;
        if about["format"] != format {
            return Err(damaged(format!("expected a {format}, found a {}", about["format"].as_str().unwrap_or("?"))));
        }
        let found = about["version"].as_u64().unwrap_or(u64::MAX);
        if found > u64::from(version) {
            return Err(damaged(format!(
                "written in version {found} of its format by program {}, but this program ({}) reads up to {version}; \
                 use a newer program",
                about["program"].as_str().unwrap_or("?"),
                env!("CARGO_PKG_VERSION")
            )));
        }
        let start = 8 + header;
        let tensors = metadata
            .tensors()
            .into_iter()
            .map(|(name, info)| {
                let (from, to) = info.data_offsets;
                (name, (info.dtype, info.shape.clone(), start + from..start + to))
            })
            .collect();
        Ok(Container { path: path.to_owned(), map, about, tensors })
    }

    /// The description.
    pub fn about(&self) -> &Value {
        &self.about
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
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
            bytes: &self.map[range.clone()],
        })
    }

    /// The shape of an array; empty where there is none.
    pub fn shape(&self, name: &str) -> &[usize] {
        self.tensors.get(name).map_or(&[], |(_, shape, _)| shape)
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
