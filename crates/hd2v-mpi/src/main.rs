//! `mpiexec -n N hd2v-mpi train …`: `hd2v train` on several machines.
//!
//! The library says what ranks tell each other, [`hd2v`] what a user is told; here is how the bytes travel. Messages are
//! gathered, never reduced: MPI may sum in any order.

mod abort;
mod world;

use std::process::ExitCode;

use mpi::environment::processor_name;
use mpi::topology::Communicator;
use mpi::{Threading, initialize_with_threading};

use world::World;

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
    drop(universe);
    ExitCode::from(code)
}
