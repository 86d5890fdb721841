//! A bounded number of threads that answer, and a bounded queue of requests before them.
//!
//! Each thread works on one request at a time. The others wait in order of arrival; a request whose client has gone or
//! whose time is up is not begun. Questions by embedding that wait at the same time are answered together as one matrix
//! product, which takes a fraction of the time.
//!
//! Ours, not tokio's blocking threads: these neither batch questions nor drop those whose client has gone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::error::ApiError;
use super::options::Limits;

/// Questions that are answered together, at most.
const MAX_BATCH: usize = 96;

/// The thread pool and the queue before it.
pub struct Workers {
    pool: rayon::ThreadPool,
    /// One permit for each free thread.
    threads: Arc<Semaphore>,
    /// One permit for each request that may still be admitted.
    slots: Arc<Semaphore>,
    timeout: Duration,
}

impl Workers {
    /// Starts `threads` threads; 0 for one per core.
    pub fn new(threads: usize, limits: &Limits) -> anyhow::Result<Workers> {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("answer-{n}")).build()?;
        let threads = Arc::new(Semaphore::new(pool.current_num_threads()));
        let slots = Arc::new(Semaphore::new(limits.concurrent.max(pool.current_num_threads())));
        Ok(Workers { pool, threads, slots, timeout: limits.answer })
    }

    /// Admits a request, unless too many are in progress or waiting.
    fn slot(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.slots.clone().try_acquire_owned().map_err(|_| ApiError::busy())
    }

    /// Waits for a free thread.
    async fn thread(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.threads.clone().acquire_owned().await.map_err(|_| ApiError::busy())
    }

    /// Runs `work` on one of the threads, in turn.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let slot = self.slot()?;
        let done = async {
            let thread = self.thread().await?;
            let (send, receive) = oneshot::channel();
            self.pool.spawn(move || {
                let done = catch_unwind(AssertUnwindSafe(work));
                drop((thread, slot));
                let _ = send.send(done.ok());
            });
            receive.await.ok().flatten().ok_or_else(ApiError::internal)
        };
        tokio::time::timeout(self.timeout, done).await.unwrap_or_else(|_| Err(ApiError::timed_out()))
    }

    /// Answers `question` together with others that wait in `queue`.
    pub async fn run_batched<Q, A>(
        &self,
        queue: &Arc<BatchQueue<Q, A>>,
        question: Q,
        work: impl Fn(Vec<Q>) -> Vec<A> + Send + Clone + 'static,
    ) -> Result<A, ApiError>
    where
        Q: Send + 'static,
        A: Send + 'static,
    {
        let _slot = self.slot()?;
        let (send, mut receive) = oneshot::channel();
        queue.lock().push((question, send));
        let done = async {
            // A batch of another request may include this question; a batch of this request may be full without it.
            loop {
                let thread = tokio::select! {
                    biased;
                    answer = &mut receive => return answer.map_err(|_| ApiError::internal()),
                    thread = self.thread() => thread?,
                };
                let (ending, ended) = oneshot::channel::<()>();
                let (queue, work) = (queue.clone(), work.clone());
                self.pool.spawn(move || {
                    let (questions, senders): (Vec<Q>, Vec<_>) = queue.take().into_iter().unzip();
                    // After a panic the senders are dropped, which wakes those who wait.
                    let answers = catch_unwind(AssertUnwindSafe(|| work(questions))).unwrap_or_default();
                    drop(thread);
                    for (send, answer) in senders.into_iter().zip(answers) {
                        let _ = send.send(answer);
                    }
                    drop(ending);
                });
                tokio::select! {
                    biased;
                    answer = &mut receive => return answer.map_err(|_| ApiError::internal()),
                    _ = ended => {}
                }
            }
        };
        tokio::time::timeout(self.timeout, done).await.unwrap_or_else(|_| Err(ApiError::timed_out()))
    }
}

/// Questions that wait to be answered together, each with the channel for its answer.
pub struct BatchQueue<Q, A>(Mutex<Vec<(Q, oneshot::Sender<A>)>>);

impl<Q, A> Default for BatchQueue<Q, A> {
    fn default() -> BatchQueue<Q, A> {
        BatchQueue(Mutex::new(Vec::new()))
    }
}

impl<Q, A> BatchQueue<Q, A> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Q, oneshot::Sender<A>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next batch, without questions whose client has gone.
    fn take(&self) -> Vec<(Q, oneshot::Sender<A>)> {
        let mut waiting = self.lock();
        waiting.retain(|(_, send)| !send.is_closed());
        let count = waiting.len().min(MAX_BATCH);
        waiting.drain(..count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(concurrent: usize) -> Limits {
        let time = Duration::from_secs(20);
        Limits {
            concurrent,
            connections: 1,
            client_connections: 1,
            body: 1,
            batch: 1,
            text: 1,
            rate: 0.0,
            answer: time,
            client: time,
        }
    }

    #[test]
    fn each_of_many_that_wait_gets_its_own_answer() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let workers = Arc::new(Workers::new(1, &limits(1000)).expect("threads"));
        let queue = Arc::new(BatchQueue::default());
        runtime.expect("a runtime").block_on(async {
            let asked: Vec<_> = (0..3 * MAX_BATCH + 5)
                .map(|number| {
                    let (workers, queue) = (workers.clone(), queue.clone());
                    tokio::spawn(async move {
                        let twice = |numbers: Vec<usize>| {
                            assert!(numbers.len() <= MAX_BATCH);
                            std::thread::sleep(Duration::from_millis(1));
                            numbers.iter().map(|number| 2 * number).collect::<Vec<usize>>()
                        };
                        workers.run_batched(&queue, number, twice).await
                    })
                })
                .collect();
            for (number, asked) in asked.into_iter().enumerate() {
                assert_eq!(asked.await.expect("an end").expect("an answer"), 2 * number);
            }
        });
    }

    #[test]
    fn a_panic_is_an_error_and_the_next_request_is_answered() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let workers = Workers::new(1, &limits(1)).expect("threads");
        runtime.block_on(async {
            let failed: Result<(), ApiError> = workers.run(|| panic!("a fault for a test")).await;
            assert!(failed.is_err());
            assert_eq!(workers.run(|| 7).await.expect("an answer"), 7);
            let queue = Arc::new(BatchQueue::default());
            let fails = |_: Vec<u8>| -> Vec<u8> { panic!("a fault for a test") };
            assert!(workers.run_batched(&queue, 1, fails).await.is_err());
            assert_eq!(workers.run_batched(&queue, 2, |questions| questions).await.expect("an answer"), 2);
        });
    }
}
