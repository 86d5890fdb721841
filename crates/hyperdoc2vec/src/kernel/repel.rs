//! Points that push each other away: the long sums of a map's layout.

/// Points that are pushed together.
pub const POINTS: usize = 16;

/// A place that pushes, with so many points at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pusher {
    /// Its place.
    pub place: [f32; 2],
    /// How many points it stands for.
    pub mass: f32,
}

/// The repulsion of the points of a group: the sums that `repel` adds to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Push {
    /// Σ m q² (x − s), along the first axis.
    pub x: [f32; POINTS],
    /// Σ m q² (y − s), along the second axis.
    pub y: [f32; POINTS],
    /// Σ m q
    pub q: [f32; POINTS],
}

/// See `repel`.
#[inline(always)]
pub(super) fn repel(x: &[f32; POINTS], y: &[f32; POINTS], pushers: &[Pusher], push: &mut Push) {
    let mut sums = *push;
    for &Pusher { place: [px, py], mass } in pushers {
        for i in 0..POINTS {
            let (dx, dy) = (x[i] - px, y[i] - py);
            let q = 1.0 / (1.0 + dx * dx + dy * dy);
            let mq = mass * q;
            let mqq = mq * q;
            sums.q[i] += mq;
            sums.x[i] += mqq * dx;
            sums.y[i] += mqq * dy;
        }
    }
    *push = sums;
}
