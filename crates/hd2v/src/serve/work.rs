//! A bounded number of threads that answer, and a bounded number of requests that wait for them.
//!
//! At most one request a thread is worked on; others wait in the order in which they came, and are not begun when
//! nobody waits for them any more. Questions by embedding that wait are answered together, which takes a fraction of
//! the time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::Limits;
use super::failure::Failure;

/// Questions that are answered together, at the most.
const TOGETHER: usize = 96;

/// The threads.
pub struct Workers {
    pool: rayon::ThreadPool,
    /// Threads that are free.
    turns: Arc<Semaphore>,
    /// Places for requests.
    places: Arc<Semaphore>,
    limit: Duration,
}

impl Workers {
    /// `threads` of them; 0 for one a core.
    pub fn new(threads: usize, limits: &Limits) -> anyhow::Result<Workers> {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("answer-{n}")).build()?;
        let turns = Arc::new(Semaphore::new(pool.current_num_threads()));
        let places = Arc::new(Semaphore::new(limits.concurrent.max(pool.current_num_threads())));
        Ok(Workers { pool, turns, places, limit: limits.answer })
    }

    /// A place among those who are answered or wait.
    fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        self.places.clone().try_acquire_owned().map_err(|_| Failure::busy())
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Failure> {
        self.turns.clone().acquire_owned().await.map_err(|_| Failure::busy())
    }

    /// Does the work on one of the threads, when its turn comes.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let place = self.place()?;
        let done = async {
            let turn = self.turn().await?;
            let (send, receive) = oneshot::channel();
            self.pool.spawn(move || {
                let done = catch_unwind(AssertUnwindSafe(work));
                drop((turn, place));
                let _ = send.send(done.ok());
            });
            receive.await.ok().flatten().ok_or_else(Failure::internal)
        };
        tokio::time::timeout(self.limit, done).await.unwrap_or_else(|_| Err(Failure::late()))
    }

    /// Answers a question together with those that wait with it in `queue`.
    pub async fn run_together<Q, A>(
        &self,
        queue: &Arc<Queue<Q, A>>,
        question: Q,
        work: impl Fn(Vec<Q>) -> Vec<A> + Send + Clone + 'static,
    ) -> Result<A, Failure>
    where
        Q: Send + 'static,
        A: Send + 'static,
    {
        let _place = self.place()?;
        let (send, mut receive) = oneshot::channel();
        queue.lock().push((question, send));
        let done = async {
            // Others whose turn comes first may take the question along; ours may take others and leave it.
            loop {
                let turn = tokio::select! {
                    biased;
                    answer = &mut receive => return answer.map_err(|_| Failure::internal()),
                    turn = self.turn() => turn?,
                };
                let (ending, ended) = oneshot::channel::<()>();
                let (queue, work) = (queue.clone(), work.clone());
                self.pool.spawn(move || {
                    let (questions, senders): (Vec<Q>, Vec<_>) = queue.take().into_iter().unzip();
                    // Where it fails, the senders are dropped, and whoever waits is told.
                    let answers = catch_unwind(AssertUnwindSafe(|| work(questions))).unwrap_or_default();
                    drop(turn);
                    for (send, answer) in senders.into_iter().zip(answers) {
                        let _ = send.send(answer);
                    }
                    drop(ending);
                });
                tokio::select! {
                    biased;
                    answer = &mut receive => return answer.map_err(|_| Failure::internal()),
                    _ = ended => {}
                }
            }
        };
        tokio::time::timeout(self.limit, done).await.unwrap_or_else(|_| Err(Failure::late()))
    }
}

/// Questions that wait, and where their answers go.
pub struct Queue<Q, A>(Mutex<Vec<(Q, oneshot::Sender<A>)>>);

impl<Q, A> Default for Queue<Q, A> {
    fn default() -> Queue<Q, A> {
        Queue(Mutex::new(Vec::new()))
    }
}

impl<Q, A> Queue<Q, A> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Q, oneshot::Sender<A>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first that wait, without those that nobody waits for any more.
    fn take(&self) -> Vec<(Q, oneshot::Sender<A>)> {
        let mut waiting = self.lock();
        waiting.retain(|(_, send)| !send.is_closed());
        let count = waiting.len().min(TOGETHER);
        waiting.drain(..count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(concurrent: usize) -> Limits {
        let time = Duration::from_secs(20);
        Limits { concurrent, connections: 1, body: 1, batch: 1, text: 1, rate: 0.0, answer: time, client: time }
    }

    #[test]
    fn each_of_many_that_wait_gets_its_own_answer() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let workers = Arc::new(Workers::new(1, &limits(1000)).expect("threads"));
        let queue = Arc::new(Queue::default());
        runtime.expect("a runtime").block_on(async {
            let asked: Vec<_> = (0..3 * TOGETHER + 5)
                .map(|number| {
                    let (workers, queue) = (workers.clone(), queue.clone());
                    tokio::spawn(async move {
                        let twice = |numbers: Vec<usize>| {
                            assert!(numbers.len() <= TOGETHER);
                            std::thread::sleep(Duration::from_millis(1));
                            numbers.iter().map(|number| 2 * number).collect::<Vec<usize>>()
                        };
                        workers.run_together(&queue, number, twice).await
                    })
                })
                .collect();
            for (number, asked) in asked.into_iter().enumerate() {
                assert_eq!(asked.await.expect("an end").expect("an answer"), 2 * number);
            }
        });
    }

    #[test]
    fn work_that_fails_is_told_and_the_next_is_done() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let workers = Workers::new(1, &limits(1)).expect("threads");
        runtime.block_on(async {
            let failed: Result<(), Failure> = workers.run(|| panic!("a fault for a test")).await;
            assert!(failed.is_err());
            assert_eq!(workers.run(|| 7).await.expect("an answer"), 7);
            let queue = Arc::new(Queue::default());
            let fails = |_: Vec<u8>| -> Vec<u8> { panic!("a fault for a test") };
            assert!(workers.run_together(&queue, 1, fails).await.is_err());
            assert_eq!(workers.run_together(&queue, 2, |questions| questions).await.expect("an answer"), 2);
        });
    }
}
