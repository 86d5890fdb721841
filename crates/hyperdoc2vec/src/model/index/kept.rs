//! What was worked out for a word when it was first asked for.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::id::WordRow;

/// One thing a word, made when it is first asked for.
#[derive(Debug)]
pub struct Kept<T> {
    made: RwLock<HashMap<WordRow, Arc<T>>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept { made: RwLock::default() }
    }
}

impl<T> Kept<T> {
    /// That of a word. Threads that ask at once may make it more than once; all get the first that was done.
    pub fn get(&self, word: WordRow, make: impl FnOnce() -> T) -> Arc<T> {
        if let Some(kept) = self.made.read().unwrap_or_else(PoisonError::into_inner).get(&word) {
            return kept.clone();
        }
        let made = Arc::new(make());
        self.made.write().unwrap_or_else(PoisonError::into_inner).entry(word).or_insert(made).clone()
    }

    /// Of how many words there is something.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.made.read().expect("whole").len()
    }
}
