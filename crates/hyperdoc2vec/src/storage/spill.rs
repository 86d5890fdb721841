//! Arrays spilled to a file until they are needed again, so that memory is free for others.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use safetensors::tensor::Dtype;
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::storage::container::{BUFFER, Data, Take, Tensor};

/// Arrays put into a file without a name until they are needed again, so that memory is free for others.
pub struct SpillFile {
    file: File,
    folder: PathBuf,
    arrays: Vec<SpilledArray>,
    end: u64,
}

/// An array in a file.
struct SpilledArray {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    range: Range<u64>,
    sum: u64,
}

impl SpillFile {
    /// An empty file in `folder`; it goes when this does, or when the program ends in whatever way.
    pub fn new(folder: &Path) -> Result<SpillFile> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io("create a file in", folder))?;
        Ok(SpillFile { file, folder: folder.to_owned(), arrays: Vec::new(), end: 0 })
    }

    /// Puts an array there.
    pub fn put(&mut self, tensor: &Tensor<'_>) -> Result<()> {
        self.append(tensor.name, tensor.dtype, Some(tensor.shape.clone()), |take| tensor.each(take))
    }

    /// Puts bytes there that `give` has piece by piece, and returns what it returns.
    pub fn put_bytes<T>(&mut self, name: &str, give: impl FnOnce(Take<'_>) -> io::Result<T>) -> Result<T> {
        self.append(name, Dtype::U8, None, give)
    }

    /// Spills numbers of 32 bits, given as bytes, the lowest first.
    pub fn put_u32s<T>(&mut self, name: &str, give: impl FnOnce(Take<'_>) -> io::Result<T>) -> Result<T> {
        self.append(name, Dtype::U32, None, give)
    }

    fn append<T>(
        &mut self,
        name: &str,
        dtype: Dtype,
        shape: Option<Vec<usize>>,
        give: impl FnOnce(Take<'_>) -> io::Result<T>,
    ) -> Result<T> {
        let (mut hash, mut length) = (Xxh3::new(), 0);
        let write = || {
            let mut file = BufWriter::with_capacity(BUFFER, &self.file);
            file.seek(SeekFrom::Start(self.end))?;
            let given = give(&mut |piece| {
                hash.update(piece);
                length += piece.len();
                file.write_all(piece)
            })?;
            file.flush()?;
            Ok(given)
        };
        let given = write().map_err(Error::io("write a file in", &self.folder))?;
        let range = self.end..self.end + length as u64;
        self.end = range.end;
        let shape = shape.unwrap_or_else(|| vec![length * 8 / dtype.bitsize()]);
        self.arrays.push(SpilledArray { name: name.to_owned(), dtype, shape, range, sum: hash.digest() });
        Ok(given)
    }

    /// The arrays, to be written elsewhere.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        self.arrays.iter().map(|SpilledArray { name, dtype, shape, range, sum }| Tensor {
            name,
            dtype: *dtype,
            shape: shape.clone(),
            data: Data::File { file: &self.file, range: range.clone(), sum: *sum },
        })
    }

    /// Fills `into` with an array as long.
    pub fn get<T: Pod>(&self, name: &str, into: &mut [T]) -> Result<()> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(into);
        let found = self.arrays.iter().find(|arrays| arrays.name == name);
        let found = found.filter(|arrays| arrays.range.end - arrays.range.start == bytes.len() as u64);
        let read = |arrays: &SpilledArray| {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(arrays.range.start))?;
            file.read_exact(bytes)
        };
        found.map_or(Err(io::ErrorKind::NotFound.into()), read).map_err(Error::io("read a file in", &self.folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spilled_comes_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut spill = SpillFile::new(dir.path()).expect("a file");
        spill.put(&Tensor::u32s("first", &[1, 2, 3])).expect("written");
        spill.put(&Tensor::floats("second", &[0.5, f32::NAN])).expect("written");
        assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 0, "the file has no name");
        let (mut first, mut second) = ([0u32; 3], [0.0f32; 2]);
        spill.get("second", &mut second).expect("read");
        spill.get("first", &mut first).expect("read");
        assert_eq!((first, second[0], second[1].to_bits()), ([1, 2, 3], 0.5, f32::NAN.to_bits()));
        assert!(spill.get("first", &mut [0u32; 2]).is_err(), "of another length");
        assert!(spill.get("third", &mut first).is_err());
    }
}
