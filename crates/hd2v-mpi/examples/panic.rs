//! A rank that panics while others wait for it, for `tests/mpi/run`: all must end.

#[path = "../src/abort.rs"]
mod abort;

use mpi::collective::CommunicatorCollectives;
use mpi::topology::{Communicator, SimpleCommunicator};

fn main() {
    let universe = mpi::initialize();
    let world = SimpleCommunicator::world();
    abort::on_panic(world.rank() as usize, "this machine".to_owned());
    assert!(world.rank() != 1, "rank 1 is to panic");
    world.barrier();
    drop(universe);
}
