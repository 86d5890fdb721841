//! The open connections: a bounded number from one address, and idle ones that make room for others.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::rate_limit::client;

/// Whether a connection is in use.
#[derive(Default)]
pub struct Activity {
    /// A request is being answered.
    pub answering: AtomicBool,
    /// A response waits for the client to read it.
    pub sending: AtomicBool,
    /// Requests that have begun.
    pub requests: AtomicUsize,
}

impl Activity {
    pub fn is_idle(&self) -> bool {
        !self.answering.load(Ordering::Relaxed) && !self.sending.load(Ordering::Relaxed)
    }
}

/// Connections by client and in the order in which they came. One is closed by dropping its sender.
type ByAddress = HashMap<IpAddr, BTreeMap<u64, (Arc<Activity>, oneshot::Sender<()>)>>;

/// The open connections.
#[derive(Default)]
pub struct OpenConnections {
    by_address: Mutex<ByAddress>,
    number: AtomicU64,
}

/// A connection among the open ones, for as long as it lives.
pub struct Guest {
    address: IpAddr,
    number: u64,
    /// Whether it is in use.
    pub activity: Arc<Activity>,
    close: oneshot::Receiver<()>,
    open: Arc<OpenConnections>,
}

impl OpenConnections {
    /// Takes a connection in. Where its address has `most` already, the idle one that came first makes room; `None`
    /// if none is idle.
    pub fn admit(self: &Arc<OpenConnections>, address: IpAddr, most: usize) -> Option<Guest> {
        let address = client(address);
        let count = self.lock().get(&address).map_or(0, BTreeMap::len);
        if count >= most && !self.close_idle(Some(address)) {
            return None;
        }
        let (activity, number) = (Arc::new(Activity::default()), self.number.fetch_add(1, Ordering::Relaxed));
        let (closer, close) = oneshot::channel();
        self.lock().entry(address).or_default().insert(number, (activity.clone(), closer));
        Some(Guest { address, number, activity, close, open: self.clone() })
    }

    /// Closes the idle connection that came first, of this address, or of that with the most connections; `false` if
    /// none is idle there.
    pub fn close_idle(&self, address: Option<IpAddr>) -> bool {
        let mut open = self.lock();
        let fullest = || open.iter().max_by_key(|(_, connections)| connections.len()).map(|(&address, _)| address);
        let Some(connections) = address.or_else(fullest).and_then(|address| open.get_mut(&address)) else {
            return false;
        };
        let Some(&first) = connections.iter().find(|(_, (activity, _))| activity.is_idle()).map(|(number, _)| number)
        else {
            return false;
        };
        // The sender goes with it, which the connection sees.
        connections.remove(&first).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, ByAddress> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Ends when the connection has to make room for another.
    pub async fn closed(&mut self) {
        let _ = (&mut self.close).await;
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        if let Some(connections) = open.get_mut(&self.address) {
            connections.remove(&self.number);
            if connections.is_empty() {
                open.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_are_one_client() {
        let one = |text: &str| client(text.parse().expect("an address"));
        assert_eq!(one("2001:db8:1:2:3:4:5:6"), one("2001:db8:1:2:ffff::1"));
        assert_ne!(one("2001:db8:1:2::1"), one("2001:db8:1:3::1"));
        assert_eq!(one("::ffff:10.0.0.1"), one("10.0.0.1"));
        assert_ne!(one("10.0.0.1"), one("10.0.0.2"));
        let open = Arc::new(OpenConnections::default());
        let guests =
            ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(|text| open.admit(text.parse().expect("one"), 2));
        assert!(guests.iter().all(Option::is_some), "an idle one makes room");
        assert_eq!(open.lock().values().map(BTreeMap::len).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn an_idle_connection_makes_room_for_another_of_its_address() {
        let open = Arc::new(OpenConnections::default());
        let mut first = open.admit(address(1), 2).expect("room");
        let mut second = open.admit(address(1), 2).expect("room");
        let other = open.admit(address(2), 2).expect("room");
        first.activity.answering.store(true, Ordering::Relaxed);
        let third = open.admit(address(1), 2).expect("the idle one goes");
        assert!(first.close.try_recv().is_err_and(|e| e == oneshot::error::TryRecvError::Empty), "it is in use");
        assert!(second.close.try_recv().is_err_and(|e| e == oneshot::error::TryRecvError::Closed), "it was idle");
        third.activity.sending.store(true, Ordering::Relaxed);
        assert!(open.admit(address(1), 2).is_none(), "all are in use");
        assert!(open.admit(address(2), 2).is_some(), "other addresses have their own");
        drop((first, second, third, other));
        assert!(open.lock().is_empty());
    }

    #[test]
    fn when_all_are_taken_the_address_with_the_most_gives_one_up() {
        let open = Arc::new(OpenConnections::default());
        let few = open.admit(address(1), 9).expect("room");
        let many: Vec<Guest> = (0..3).map(|_| open.admit(address(2), 9).expect("room")).collect();
        assert!(open.close_idle(None) && open.close_idle(None));
        let left = |last: u8| open.lock()[&address(last)].len();
        assert_eq!([left(1), left(2)], [1, 1]);
        drop((few, many));
        assert!(!open.close_idle(None), "nobody is left");
    }
}
