//! Fenced code in Markdown, found line by line.

/// Whether the lines read so far end inside fenced code.
#[derive(Debug, Default)]
pub(super) struct Fences {
    /// The character and the length of the fence that is open.
    open: Option<(u8, usize)>,
}

impl Fences {
    /// Takes the next line.
    pub(super) fn take(&mut self, line: &str) {
        let Some((mark, length, rest)) = fence(line).filter(|&(mark, ..)| mark != b':') else { return };
        match self.open {
            None if mark == b'`' && rest.contains('`') => {}
            None => self.open = Some((mark, length)),
            Some((open, least)) if mark == open && length >= least && rest.trim().is_empty() => self.open = None,
            Some(_) => {}
        }
    }

    pub(super) fn in_code(&self) -> bool {
        self.open.is_some()
    }
}

/// A line that is a fence: its character, how often that stands there, and what follows.
pub(super) fn fence(line: &str) -> Option<(u8, usize, &str)> {
    let line = line.trim_start();
    let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~' | b':'))?;
    let length = line.bytes().take_while(|&b| b == mark).count();
    (length >= 3).then(|| (mark, length, &line[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_ends_with_one_as_long() {
        let inside = |text: &str| {
            let mut fences = Fences::default();
            text.lines()
                .map(|line| {
                    fences.take(line);
                    fences.in_code()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(inside("a\n````x\n```\n`````\nb"), [false, true, true, false, false]);
        assert_eq!(inside("~~~\n```\n~~~"), [true, true, false]);
        assert_eq!(inside("``` a `b` ```\n:::note"), [false, false]);
    }
}
