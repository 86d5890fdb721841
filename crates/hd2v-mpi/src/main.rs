//! `mpiexec -n N hd2v-mpi train …`: `hd2v train` on several machines.
//!
//! The library says what ranks tell each other, [`hd2v`] what a user is told; here is how the bytes travel. Messages are
//! gathered, never reduced: MPI may sum in any order.

mod abort;
mod world;

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use mpi::environment::processor_name;
use mpi::topology::Communicator;
use mpi::{Threading, initialize_with_threading};

use world::World;

/// Between the last message of a run and the end of MPI.
///
/// To close a connection over TCP, UCX sends a request that the other rank answers. A rank of MPICH 4.0 that has got all its
/// answers gives none itself any more, and waits until the others have theirs. One that gave its answer while it was still
/// taking the last message, and only then asks, gets none: all wait for ever, in 6 of 16 trainings on three hosts, with the
/// model written. Where all have taken the last message before any asks, a rank's request stands before its answer. No
/// message can tell that they have, as it would be the last one; but none takes long to take it: 20 ms were enough on two
/// cores with much else to do.
const LAST_MESSAGE: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    // One call at a time, from whichever thread of the pool computes.
    let Some((universe, threading)) = initialize_with_threading(Threading::Serialized) else {
        eprintln!("hd2v-mpi: MPI cannot be started");
        return ExitCode::FAILURE;
    };
    let communicator = universe.world();
    let (rank, count) = (communicator.rank() as usize, communicator.size() as usize);
    if threading < Threading::Serialized {
        if rank == 0 {
            eprintln!("hd2v-mpi: this MPI library was built for programs without threads; use another one");
        }
        return ExitCode::FAILURE;
    }
    let host = processor_name().unwrap_or_else(|_| "an unnamed machine".to_owned());
    abort::on_panic(rank, host.clone());
    let code = hd2v::run_on_ranks(&World { rank, count, host }, std::env::args_os().skip(1));
    if count > 1 {
        sleep(LAST_MESSAGE);
    }
    drop(universe);
    ExitCode::from(code)
}
