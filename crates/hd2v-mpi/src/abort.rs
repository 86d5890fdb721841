//! The end of all ranks when one panics. Otherwise it would wait for the others at its end, and they for it, for ever.

use std::panic;
use std::thread::sleep;
use std::time::Duration;

use mpi::topology::{Communicator, SimpleCommunicator};

/// The exit code after a panic.
const PANICKED: i32 = 3;
/// How long mpiexec has to pass on what was said: it drops what comes late.
const PASS_ON: Duration = Duration::from_millis(500);

/// Ends all ranks when this one panics, after it has said so.
pub fn on_panic(rank: usize, host: String) {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |what| {
        tell(what);
        eprintln!(
            "hd2v-mpi: rank {rank} on {host} panicked, so all ranks end; --resume goes on from the last checkpoint"
        );
        sleep(PASS_ON);
        SimpleCommunicator::world().abort(PANICKED);
    }));
}
