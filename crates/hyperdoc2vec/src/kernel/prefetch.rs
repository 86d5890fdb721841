//! Prefetching: rows lie all over tables that no cache holds, and where they lie is known beforehand.

/// Bytes of a line of the cache.
const CACHE_LINE: usize = 64;

/// Asks for a row that will be needed soon. Changes nothing but the time.
#[inline(always)]
pub fn prefetch<T>(row: &[T]) {
    for part in row.chunks((CACHE_LINE / size_of::<T>().max(1)).max(1)) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: this is a hint that reads and writes nothing, be the address valid or not; and it is valid.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(part.as_ptr().cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = part;
    }
}
