//! Long arrays of numbers whose rows are read in no order: in huge pages where the system has them. The link
//! phase took a tenth longer with small ones. Ours, as no allocator of a crate gives huge pages to single arrays.

use std::path::Path;

use bytemuck::{Pod, Zeroable};
use memmap2::MmapMut;

use crate::error::{Error, Result};

/// A long array of numbers, beginning at a multiple of 32 bytes at least.
#[derive(Debug)]
pub struct HugeArray {
    length: usize,
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    Mapped(MmapMut),
    /// Where nothing can be mapped.
    Allocated(Vec<Lane>),
}

const LANE: usize = 8;

/// Eight numbers that begin at a multiple of 32 bytes.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(32))]
struct Lane([f32; LANE]);

/// Arrays shorter than this many numbers fit into the caches: 1 MiB.
const SHORT: usize = 1 << 18;

impl HugeArray {
    /// So many zeros.
    pub fn zeros(length: usize) -> HugeArray {
        let mapped = (length >= SHORT).then(|| MmapMut::map_anon(length * size_of::<f32>()).ok()).flatten();
        let memory = match mapped {
            Some(mapped) => {
                // A wish that may be refused.
                #[cfg(target_os = "linux")]
                let _ = mapped.advise(memmap2::Advice::HugePage);
                Memory::Mapped(mapped)
            }
            None => Memory::Allocated(vec![Lane::default(); length.div_ceil(LANE)]),
        };
        HugeArray { length, memory }
    }

    /// So many zeros in a file without a name in `folder`: the system may move them out of memory.
    #[cfg(target_os = "linux")]
    pub fn in_file(length: usize, folder: &Path) -> Result<HugeArray> {
        let bytes = (length * size_of::<f32>()).max(size_of::<f32>()) as u64;
        let made = tempfile::tempfile_in(folder).and_then(|file| {
            // Space is taken now: where it lacked later, the system would end the program.
            rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes)?;
            // SAFETY: the file has no name, so nothing else changes it or cuts it short.
            #[allow(unsafe_code)]
            let mapped = unsafe { MmapMut::map_mut(&file) }?;
            Ok(mapped)
        });
        let mapped = made.map_err(Error::io("create a file in", folder))?;
        Ok(HugeArray { length, memory: Memory::Mapped(mapped) })
    }

    /// So many zeros.
    #[cfg(not(target_os = "linux"))]
    pub fn in_file(length: usize, _folder: &Path) -> Result<HugeArray> {
        Ok(HugeArray::zeros(length))
    }

    /// All of them.
    pub fn all(&self) -> &[f32] {
        let numbers: &[f32] = match &self.memory {
            Memory::Mapped(bytes) => bytemuck::cast_slice(bytes),
            Memory::Allocated(lanes) => bytemuck::cast_slice(lanes),
        };
        &numbers[..self.length]
    }

    /// All of them, to change.
    pub fn all_mut(&mut self) -> &mut [f32] {
        let numbers: &mut [f32] = match &mut self.memory {
            Memory::Mapped(bytes) => bytemuck::cast_slice_mut(bytes),
            Memory::Allocated(lanes) => bytemuck::cast_slice_mut(lanes),
        };
        &mut numbers[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_arrays_begin_with_zeros_on_a_boundary() {
        for length in [0, 1, 9, SHORT - 1, SHORT, SHORT + 3] {
            let mut numbers = HugeArray::zeros(length);
            assert_eq!(numbers.all(), vec![0.0; length]);
            assert_eq!(numbers.all().as_ptr().addr() % 32, 0);
            if let Some(last) = numbers.all_mut().last_mut() {
                *last = 1.0;
            }
            assert_eq!(numbers.all().iter().sum::<f32>(), if length == 0 { 0.0 } else { 1.0 });
        }
    }
}
