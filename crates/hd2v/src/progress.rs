//! Progress of long work on stderr, as a bar on a terminal and as plain lines in a log; and stopping it by Ctrl-C.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyperdoc2vec::evaluate::EvaluationStep;
use hyperdoc2vec::import::{Progress, Unit};
use hyperdoc2vec::train::TrainProgress;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressStyle};

use crate::output::{count, status, thousands};

static STOP: AtomicBool = AtomicBool::new(false);

/// Time between lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// From now on Ctrl-C asks the work to stop and clean up; a second Ctrl-C ends the program at once.
pub fn stop_on_interrupt() {
    // Without a handler Ctrl-C still ends the program, only without cleaning up.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(1);
        }
        status("\nstopping; press Ctrl-C again to stop at once");
    });
}

/// The bar in this style, if stderr is a terminal.
fn bar(bar: ProgressBar, template: &str) -> Option<ProgressBar> {
    std::io::stderr().is_terminal().then(|| bar.with_style(style(template)))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Shows the progress of an import.
pub struct Reporter {
    bar: Option<ProgressBar>,
    started: Instant,
    printed: Instant,
    last: Option<Progress>,
}

impl Reporter {
    /// Starts the clock.
    pub fn new() -> Reporter {
        let bar = bar(ProgressBar::no_length(), "{spinner} {msg}");
        let now = Instant::now();
        Reporter { bar, started: now, printed: now, last: None }
    }

    /// Shows `progress`; asks to stop after Ctrl-C.
    pub fn watch(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.last = Some(*progress);
        if let Some(bar) = &self.bar {
            if bar.length().is_none() && progress.total.is_some() {
                bar.set_style(style("{msg} [{bar:30}] {percent}%  {eta} left"));
                bar.set_length(progress.total.unwrap_or(0));
            }
            bar.set_message(self.line(progress));
            bar.set_position(progress.read);
        } else if self.printed.elapsed() >= LINE_INTERVAL {
            self.printed = Instant::now();
            status(self.line(progress));
        }
        stopped()
    }

    fn line(&self, progress: &Progress) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = progress.read as f64 / seconds;
        let read = match progress.unit {
            Unit::Bytes => format!("{} read, {}/s", HumanBytes(progress.read), HumanBytes(rate as u64)),
            Unit::Pages => format!("{} read, {}/s", count(progress.read, "page"), thousands(rate as u64)),
        };
        let left = match progress.total {
            Some(total) if self.bar.is_none() && rate > 0.0 => {
                let left = total.saturating_sub(progress.read) as f64 / rate;
                format!(", {} left", HumanDuration(Duration::from_secs_f64(left)))
            }
            _ => String::new(),
        };
        format!("{}, {read}{left}", count(progress.documents, "document"))
    }

    /// Removes the bar; returns the seconds since the start.
    pub fn finish(self) -> f64 {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed().as_secs_f64()
    }
}

/// Shows the progress of a training run.
pub struct TrainReporter {
    bar: Option<ProgressBar>,
    started: Instant,
    printed: Instant,
    /// Where there is no terminal, a line for each phase, not for each pass.
    brief: bool,
    pace: Pace,
}

/// The speed of a training run.
pub struct Pace {
    /// The phase, when it was first seen, and the share and the units that were done then.
    phase: (&'static str, Instant, f64, u64),
    done: f64,
}

impl Pace {
    /// Starts the clock.
    pub fn new() -> Pace {
        Pace { phase: ("", Instant::now(), 0.0, 0), done: 0.0 }
    }

    /// Notes the progress of the run.
    pub fn see(&mut self, progress: &TrainProgress) {
        // A phase of the same name may come again, for other documents.
        if self.phase.0 != progress.phase || progress.done < self.done {
            self.phase = (progress.phase, Instant::now(), progress.done, progress.units);
        }
        self.done = progress.done;
    }

    /// Units per second and the seconds left of this phase; nothing on the first batch.
    fn rate(&self, progress: &TrainProgress) -> Option<(f64, f64)> {
        let (_, since, done, units) = self.phase;
        let (seconds, gone) = (since.elapsed().as_secs_f64(), progress.done - done);
        let known = gone > 0.0 && seconds > 0.0;
        known.then(|| ((progress.units - units) as f64 / seconds, (1.0 - progress.done) / gone * seconds))
    }

    /// The progress as a line, with the time left of this phase.
    pub fn line(&self, progress: &TrainProgress) -> String {
        let pace = self.rate(progress).map(|(rate, left)| {
            let left = HumanDuration(Duration::from_secs_f64(left));
            format!("  {} {}/s  {left} left", thousands(rate as u64), progress.unit)
        });
        let loss = progress.loss.map(|loss| format!("  loss {loss:.4}")).unwrap_or_default();
        let held_out = progress.held_out.map(|loss| format!(" (held out {loss:.4})"));
        let end = match progress.kept {
            Some(pass) => format!("; keeping the vectors of pass {}", pass + 1),
            None => pace.unwrap_or_default(),
        };
        format!(
            "{} {}/{}{loss}{}{end}",
            progress.phase,
            progress.epoch + 1,
            progress.epochs,
            held_out.unwrap_or_default()
        )
    }
}

impl TrainReporter {
    /// Starts the clock.
    pub fn new() -> TrainReporter {
        let bar = bar(ProgressBar::new(1000), "{msg} [{bar:30}] {percent}%");
        let now = Instant::now();
        TrainReporter { bar, started: now, printed: now, brief: false, pace: Pace::new() }
    }

    /// Says less where there is no terminal.
    pub fn brief(mut self) -> TrainReporter {
        self.brief = true;
        self
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Whether to log this: true about twenty times per epoch.
    pub fn is_milestone(&self, progress: &TrainProgress) -> bool {
        progress.batch == progress.batches || progress.batch.is_multiple_of((progress.batches / 20).max(1))
    }

    /// Shows `progress`; asks to stop after Ctrl-C.
    pub fn watch(&mut self, progress: &TrainProgress) -> ControlFlow<()> {
        self.pace.see(progress);
        if let Some(bar) = &self.bar {
            bar.set_message(self.pace.line(progress));
            bar.set_position((progress.done * 1000.0) as u64);
        } else if self.printed.elapsed() >= LINE_INTERVAL
            || progress.batch == progress.batches && (!self.brief || progress.epoch + 1 == progress.epochs)
        {
            self.printed = Instant::now();
            status(self.pace.line(progress));
        }
        stopped()
    }

    /// Units per second and the seconds left of this phase; nothing on the first batch.
    pub fn pace(&self, progress: &TrainProgress) -> Option<(f64, f64)> {
        self.pace.rate(progress)
    }

    /// Removes the bar; returns the seconds since the start.
    pub fn finish(self) -> f64 {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed().as_secs_f64()
    }
}

/// The time left, extrapolated from the time so far.
pub fn time_left(since: Instant, done: usize, total: usize) -> String {
    if done == 0 {
        return String::new();
    }
    let left = since.elapsed().as_secs_f64() / done as f64 * total.saturating_sub(done) as f64;
    format!(", about {} left", HumanDuration(Duration::from_secs_f64(left)))
}

/// A closure that prints now and then how many of `total` folds are done, and the time left.
pub fn folds_teller(what: &str, total: usize) -> impl FnMut(usize) -> ControlFlow<()> {
    let (started, mut printed) = (Instant::now(), Instant::now());
    move |fold| {
        if printed.elapsed() >= LINE_INTERVAL {
            printed = Instant::now();
            status(format_args!("{what}: fold {} of {total}{}", fold + 1, time_left(started, fold + 1, total)));
        }
        stopped()
    }
}

/// A closure that prints now and then how many of all are done, and the time left.
pub fn count_reporter(unit: &str) -> impl FnMut(usize, usize) -> ControlFlow<()> {
    let (started, mut printed) = (Instant::now(), Instant::now());
    move |done, total| {
        if printed.elapsed() >= LINE_INTERVAL {
            printed = Instant::now();
            let [done_text, total_text] = [done, total].map(|number| thousands(number as u64));
            status(format_args!("{done_text} of {total_text} {unit}{}", time_left(started, done, total)));
        }
        stopped()
    }
}

/// Shows the progress of an evaluation, in which several models may be trained at a time.
pub struct EvaluateReporter {
    /// The number of runs.
    total: usize,
    /// Approximate cost of each method.
    costs: BTreeMap<&'static str, f64>,
    state: Mutex<Evaluating>,
}

struct Evaluating {
    bar: Option<ProgressBar>,
    started: Instant,
    printed: Instant,
    done: usize,
    /// The share of each method that is done, from 0 to 1.
    shares: BTreeMap<String, f64>,
    paces: BTreeMap<String, Pace>,
}

/// The share of a method's time that training takes, roughly.
const TRAINING_SHARE: f64 = 0.8;
/// The time left is shown only after this long.
const WARM_UP: Duration = Duration::from_secs(10);

impl EvaluateReporter {
    /// Starts the clock, for methods with their costs (see `evaluate::methods::costs`), each run `times` times.
    pub fn new(costs: Vec<(&'static str, f64)>, times: usize) -> EvaluateReporter {
        let bar = bar(ProgressBar::new_spinner(), "{spinner} {msg}");
        let now = Instant::now();
        let (shares, paces) = (BTreeMap::new(), BTreeMap::new());
        let state = Evaluating { bar, started: now, printed: now, done: 0, shares, paces };
        EvaluateReporter { total: costs.len() * times, costs: costs.into_iter().collect(), state: Mutex::new(state) }
    }

    /// The time left of everything, extrapolated by the costs.
    fn left(&self, state: &Evaluating) -> String {
        let elapsed = state.started.elapsed();
        let all: f64 = self.costs.values().sum();
        let done: f64 = self.costs.iter().map(|(name, cost)| cost * state.shares.get(*name).unwrap_or(&0.0)).sum();
        if elapsed < WARM_UP || done <= 0.0 || state.done == self.total {
            return String::new();
        }
        let left = elapsed.as_secs_f64() * (all - done).max(0.0) / done;
        format!("; about {} left in total", HumanDuration(Duration::from_secs_f64(left)))
    }

    /// Shows the progress; asks to stop after Ctrl-C.
    pub fn watch(&self, doing: &EvaluationStep<'_>) -> ControlFlow<()> {
        let mut line = None;
        if let Ok(mut state) = self.state.lock() {
            let mut always = false;
            let (name, share, what) = match doing {
                EvaluationStep::Training(name, progress) => {
                    let pace = state.paces.entry((*name).to_owned()).or_insert_with(Pace::new);
                    pace.see(progress);
                    let line = pace.line(progress);
                    (*name, TRAINING_SHARE * progress.done, format!("{name}: {line}"))
                }
                EvaluationStep::Asking(name, done, total) => {
                    let share = TRAINING_SHARE + (1.0 - TRAINING_SHARE) * *done as f64 / (*total).max(1) as f64;
                    let (done, total) = (thousands(*done as u64), thousands(*total as u64));
                    (*name, share, format!("{name}: asked {done} of {total}"))
                }
                EvaluationStep::Done(cell) => {
                    state.done += 1;
                    always = true;
                    let seconds = state.started.elapsed().as_secs_f64();
                    let dropped = if cell.anchors { "" } else { " without anchors" };
                    (cell.method.as_str(), 1.0, format!("{}{dropped}: done after {seconds:.0} s", cell.method))
                }
                _ => return stopped(),
            };
            state.shares.insert(name.to_owned(), share);
            let what = format!("[{}/{}] {what}{}", state.done, self.total, self.left(&state));
            match &state.bar {
                Some(bar) => {
                    bar.set_message(what);
                    bar.tick();
                }
                None if always || state.printed.elapsed() >= LINE_INTERVAL => {
                    state.printed = Instant::now();
                    line = Some(what);
                }
                None => {}
            }
        }
        line.into_iter().for_each(status);
        stopped()
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Ok(state) = self.state.lock()
            && let Some(bar) = &state.bar
        {
            bar.finish_and_clear();
        }
    }
}

/// Whether Ctrl-C was pressed.
pub fn stopped() -> ControlFlow<()> {
    if STOP.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
