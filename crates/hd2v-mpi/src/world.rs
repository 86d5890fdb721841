//! Messages between the ranks of `MPI_COMM_WORLD`.

use std::thread::sleep;
use std::time::Duration;

use hyperdoc2vec::train::{Parts, PartsMut, Ranks};
use mpi::Count;
use mpi::collective::CommunicatorCollectives;
use mpi::datatype::PartitionMut;
use mpi::point_to_point::{Destination, Source, send_receive_into};
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::Root;

/// All ranks of the job. The communicator is not kept: with some MPI libraries it may not be shared by threads.
pub struct World {
    pub rank: usize,
    pub count: usize,
    pub host: String,
}

/// Bytes of a message at the most: MPI counts in 32 bits.
const PIECE: usize = 1 << 30;
/// Between two looks at whether all ranks are there.
const NAP: Duration = Duration::from_millis(5);

impl Ranks for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn host(&self) -> String {
        self.host.clone()
    }

    fn gather(&self, all: &mut [u8], lengths: &[usize]) {
        let world = SimpleCommunicator::world();
        if all.len() > PIECE {
            let mut rest = all;
            for (rank, &length) in lengths.iter().enumerate() {
                let (part, tail) = rest.split_at_mut(length);
                part.chunks_mut(PIECE).for_each(|piece| world.process_at_rank(rank as i32).broadcast_into(piece));
                rest = tail;
            }
            return;
        }
        if let Some(rank) = only(lengths) {
            world.process_at_rank(rank as i32).broadcast_into(all);
            return;
        }
        let starts = starts(lengths);
        let own = all[starts[self.rank]..][..lengths[self.rank]].to_vec();
        let counts = |numbers: &[usize]| numbers.iter().map(|&number| number as Count).collect::<Vec<Count>>();
        world.all_gather_varcount_into(&own[..], &mut PartitionMut::new(all, counts(lengths), counts(&starts)));
    }

    fn exchange(&self, from: Parts<'_>, into: PartsMut<'_>) {
        let world = SimpleCommunicator::world();
        let (sent, received) = (starts(from.lengths), starts(into.lengths));
        // In each round, every rank sends to one and receives from one: the first round is for itself.
        for round in 0..self.count {
            let to = (self.rank + round) % self.count;
            let source = (self.rank + self.count - round) % self.count;
            let message = &from.bytes[sent[to]..][..from.lengths[to]];
            let room = &mut into.bytes[received[source]..][..into.lengths[source]];
            if round == 0 {
                room.copy_from_slice(message);
                continue;
            }
            let (to, source) = (world.process_at_rank(to as i32), world.process_at_rank(source as i32));
            let (mut sent, mut received) = (message.chunks(PIECE), room.chunks_mut(PIECE));
            loop {
                match (sent.next(), received.next()) {
                    (Some(message), Some(room)) => {
                        send_receive_into(message, &to, room, &source);
                    }
                    (Some(message), None) => to.send(message),
                    (None, Some(room)) => {
                        source.receive_into(room);
                    }
                    (None, None) => break,
                }
            }
        }
    }

    fn wait(&self) {
        let mut all_here = SimpleCommunicator::world().immediate_barrier();
        while let Err(request) = all_here.test() {
            all_here = request;
            sleep(NAP);
        }
    }
}

/// Where each part begins.
fn starts(lengths: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    ends.zip(lengths).map(|(end, length)| end - length).collect()
}

/// The only rank that has anything to send, if there is one.
fn only(lengths: &[usize]) -> Option<usize> {
    let mut senders = (0..lengths.len()).filter(|&rank| lengths[rank] > 0);
    let first = senders.next()?;
    senders.next().is_none().then_some(first)
}
