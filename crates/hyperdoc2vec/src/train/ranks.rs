//! Several processes that train one model together, as MPI starts them: each has a *rank*, counted from 0, and all take the
//! same steps in the same order.
//!
//! Ranks share a batch as threads do. Every rank builds the batch by itself; scores and slopes of an example are computed
//! by the rank that the example falls to, the gradient of a column by the rank of the column. What a rank needs of others
//! is gathered as it is, never summed on the way: every sum has its terms in the order of the batch, so the number of
//! ranks does not change a bit. The step of a row is then taken by all ranks: the gradients of 512 examples are smaller
//! than the thousands of rows that they change.
//!
//! Tables are *replicated*: every rank has them whole. Or they are *sharded*: words, which are in every batch, are still
//! everywhere, but of the documents a rank keeps its share. The rows of a batch are then *staged*: gathered from those that
//! keep them into the last rows of the tables, changed there by all ranks, and put back by those that keep them.
//!
//! Rank 0 *leads*: it alone reads and writes checkpoints, asks questions for the ranker and writes the model.

use std::ops::Range;
use std::path::Path;

use bytemuck::{cast_slice, cast_slice_mut};

use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::kernel::{Matrix, MatrixMut, Panels, Start, par_multiply_transposed};
use crate::model::params::TrainParams;
use crate::model::tables::{Table, Tables};
use crate::train::batch::sized;

/// The messages between ranks. All ranks call the same functions in the same order, with the same lengths; calls come from
/// any thread, but never two at a time. What cannot be delivered ends the program.
pub trait Ranks: Sync {
    /// The number of this process among all.
    fn rank(&self) -> usize;
    /// How many there are.
    fn count(&self) -> usize;
    /// The machine that this process runs on, for messages.
    fn host(&self) -> String;
    /// Fills `all`, which holds a part of each rank, one behind the other, of these lengths; this rank has filled its own.
    fn gather(&self, all: &mut [u8], lengths: &[usize]);
    /// Sends each rank its part of `from`, and fills `into` with the parts that they send. A rank may send to itself.
    fn exchange(&self, from: Parts<'_>, into: PartsMut<'_>);
    /// Waits until all are here, for minutes perhaps, without keeping a processor busy.
    fn wait(&self);
}

/// Bytes for each rank, one part behind the other.
#[derive(Debug)]
pub struct Parts<'a> {
    /// All of them.
    pub bytes: &'a [u8],
    /// The length of each part.
    pub lengths: &'a [usize],
}

/// Room for bytes of each rank, one part behind the other.
#[derive(Debug)]
pub struct PartsMut<'a> {
    /// All of them.
    pub bytes: &'a mut [u8],
    /// The length of each part.
    pub lengths: &'a [usize],
}

/// The ranks that a run is shared by; usually there is only this process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Team<'a> {
    ranks: Option<&'a dyn Ranks>,
    shards: Option<Shards>,
}

/// Tables whose documents are shared out.
#[derive(Debug, Clone, Copy)]
struct Shards {
    words: usize,
    documents: usize,
    /// Documents of a batch at the most.
    staged: usize,
}

/// The documents of a batch, by their rows in a whole table; empty where tables are whole.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    rows: Vec<u32>,
    /// The row where the first of them stands while the batch is learnt.
    first: u32,
}

impl Staged {
    /// Turns rows of whole tables into those where they stand now.
    pub(crate) fn renumber(&self, rows: &mut [u32]) {
        if self.rows.is_empty() {
            return;
        }
        for row in rows {
            if let Ok(place) = self.rows.binary_search(row) {
                *row = self.first + place as u32;
            }
        }
    }
}

/// Bytes of a table that travel at a time.
const BLOCK: usize = 16 << 20;

/// The part of `total` that falls to `rank` of `count`.
fn part(total: usize, rank: usize, count: usize) -> Range<usize> {
    // 128 bits: rows times ranks may be large.
    let at = |rank: usize| (total as u128 * rank as u128 / count as u128) as usize;
    at(rank)..at(rank + 1)
}

impl<'a> Team<'a> {
    /// This process and others; one rank is alone.
    pub(crate) fn new(ranks: Option<&'a dyn Ranks>) -> Team<'a> {
        Team { ranks: ranks.filter(|ranks| ranks.count() > 1), shards: None }
    }

    /// Shares out the documents of `view` among the ranks.
    pub(crate) fn sharding(self, view: &View<'_>, params: &TrainParams) -> Team<'a> {
        let (words, documents) = (view.words.len(), view.documents.len());
        let staged = params.content.batch.max(params.citation.batch + params.citation.noise).min(documents);
        Team { shards: self.ranks.map(|_| Shards { words, documents, staged }), ..self }
    }

    /// The tables that a run begins with, in files in `folder` if one is given: all rows, or those that this rank keeps and
    /// room for those of a batch.
    pub(crate) fn first_tables(&self, view: &View<'_>, params: &TrainParams, folder: Option<&Path>) -> Result<Tables> {
        let (Some(ranks), Some(Shards { words, documents, staged })) = (self.ranks, self.shards) else {
            return folder
                .map_or_else(|| Ok(Tables::first(view, params)), |folder| Tables::first_in_file(view, params, folder));
        };
        let own = part(documents, ranks.rank(), ranks.count());
        Tables::first_part(words, own, staged, params, folder)
    }

    /// Gathers the rows of the documents among `rows`, which rise, and renumbers them.
    pub(crate) fn stage(&self, table: &mut Table, rows: &mut [u32]) -> Staged {
        let (Some(ranks), Some(shards)) = (self.ranks, self.shards) else { return Staged::default() };
        let Shards { words, documents, .. } = shards;
        let known = rows.partition_point(|&row| (row as usize) < words);
        let staged = rows[known..].to_vec();
        let own = part(documents, ranks.rank(), ranks.count());
        let (first, stride) = (words + own.len(), table.stride());
        let mut counts = Vec::with_capacity(ranks.count());
        let mut start = 0;
        for rank in 0..ranks.count() {
            let kept = words + part(documents, rank, ranks.count()).end;
            let end = staged.partition_point(|&row| (row as usize) < kept);
            if rank == ranks.rank() {
                (start..end).for_each(|place| table.copy_row(staged[place] as usize - own.start, first + place));
            }
            counts.push(end - start);
            start = end;
        }
        let lengths = |width: usize| counts.iter().map(|count| count * width * size_of::<f32>()).collect::<Vec<_>>();
        let vectors = &mut table.data_mut()[first * stride..][..staged.len() * stride];
        ranks.gather(cast_slice_mut(vectors), &lengths(stride));
        ranks.gather(cast_slice_mut(&mut table.squares_mut()[first..][..staged.len()]), &lengths(1));
        let staged = Staged { rows: staged, first: first as u32 };
        staged.renumber(&mut rows[known..]);
        staged
    }

    /// Puts the rows of a batch back where they are kept.
    pub(crate) fn put_back(&self, table: &mut Table, staged: &Staged) {
        let (Some(ranks), Some(Shards { words, documents, .. })) = (self.ranks, self.shards) else { return };
        let own = part(documents, ranks.rank(), ranks.count());
        for (place, &row) in staged.rows.iter().enumerate() {
            let document = row as usize - words;
            if own.contains(&document) {
                table.copy_row(staged.first as usize + place, words + document - own.start);
            }
        }
    }

    /// The whole tables, if they are sharded and this rank leads: in a file without a name in `folder`, mapped, so that
    /// memory need not hold them.
    pub(crate) fn whole_tables(&self, tables: &Tables, folder: &Path) -> Result<Option<Tables>> {
        let (Some(ranks), Some(shards)) = (self.ranks, self.shards) else { return Ok(None) };
        let Shards { words, documents, .. } = shards;
        let mut whole = self.room_for_whole(tables.input.stride(), folder)?;
        let own = part(documents, ranks.rank(), ranks.count()).len();
        let into = whole.as_mut().map(|Tables { input, output }| [input, output]);
        let [mut input, mut output] = into.map_or([None, None], |tables| tables.map(Some));
        for (from, into) in [(&tables.input, &mut input), (&tables.output, &mut output)] {
            let stride = from.stride();
            if let Some(into) = into {
                into.halves_mut().0.copy_from_slice(from.halves().0);
                into.squares_mut()[..words].copy_from_slice(&from.squares()[..words]);
            }
            let vectors = into.as_mut().map(|into| into.halves_mut().1);
            collect(ranks, [documents, stride], &from.halves().1[..own * stride], vectors);
            let squares = into.as_mut().map(|into| &mut into.squares_mut()[words..]);
            collect(ranks, [documents, 1], &from.squares()[words..words + own], squares);
        }
        Ok(whole)
    }

    /// Zeros for whole tables, if they are sharded and this rank leads.
    pub(crate) fn room_for_whole(&self, stride: usize, folder: &Path) -> Result<Option<Tables>> {
        let Some(Shards { words, documents, .. }) = self.shards else { return Ok(None) };
        let room = || {
            let table = || Table::in_file(words, documents, stride, folder);
            Ok(Some(Tables { input: table()?, output: table()? }))
        };
        self.together(if self.leads() { room() } else { Ok(None) })
    }

    /// Whether this rank leads; one that is alone does.
    pub(crate) fn leads(&self) -> bool {
        self.ranks.is_none_or(|ranks| ranks.rank() == 0)
    }

    /// The part of `total` examples or columns that falls to this rank.
    pub(crate) fn part(&self, total: usize) -> Range<usize> {
        self.ranks.map_or(0..total, |ranks| part(total, ranks.rank(), ranks.count()))
    }

    /// Gathers rows of `width` numbers, of which this rank has computed its [`Team::part`].
    pub(crate) fn gather_rows(&self, all: &mut [f32], rows: usize, width: usize) {
        self.gather_between(all, rows, |row| row * width);
    }

    /// Gathers numbers of `rows` examples; those before an example are `end(example)` many.
    pub(crate) fn gather_between(&self, all: &mut [f32], rows: usize, end: impl Fn(usize) -> usize) {
        let Some(ranks) = self.ranks else { return };
        let parts = (0..ranks.count()).map(|rank| part(rows, rank, ranks.count()));
        let lengths: Vec<usize> = parts.map(|part| (end(part.end) - end(part.start)) * size_of::<f32>()).collect();
        ranks.gather(cast_slice_mut(&mut all[..end(rows)]), &lengths);
    }

    /// The gradients of columns, `slopes`ᵀ · X: `slopes` has a row for each example of this rank's part, `x` all examples.
    pub(crate) fn column_gradients(&self, slopes: Matrix<'_>, x: Panels<'_>, dn: MatrixRows<'_>, room: &mut Room) {
        let MatrixRows { data, columns, stride } = dn;
        let Some(ranks) = self.ranks else {
            par_multiply_transposed(slopes, x, MatrixMut::new(data, columns, stride, stride), Start::Zero);
            return;
        };
        let examples = x.depth();
        let own = self.part(columns);
        let gathered = self.exchange_columns(ranks, slopes, examples, room);
        if !own.is_empty() {
            let rows = &mut data[own.start * stride..own.end * stride];
            let slopes = Matrix::new(gathered, examples, own.len(), own.len());
            par_multiply_transposed(slopes, x, MatrixMut::new(rows, own.len(), stride, stride), Start::Zero);
        }
        self.gather_rows(data, columns, stride);
    }

    /// Sends each rank the slopes of its columns; returns those of this rank's columns, for all examples.
    fn exchange_columns<'r>(
        &self,
        ranks: &dyn Ranks,
        slopes: Matrix<'_>,
        examples: usize,
        room: &'r mut Room,
    ) -> &'r [f32] {
        let (count, columns) = (ranks.count(), slopes.cols());
        let own = self.part(columns).len();
        let from = sized(&mut room.from, slopes.rows() * columns);
        let mut rest = &mut *from;
        let (mut sent, mut received) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for rank in 0..count {
            let theirs = part(columns, rank, count);
            let (block, tail) = rest.split_at_mut(slopes.rows() * theirs.len());
            for (row, into) in block.chunks_exact_mut(theirs.len().max(1)).enumerate() {
                into.copy_from_slice(&slopes.row(row)[theirs.clone()]);
            }
            sent.push(size_of_val(block));
            received.push(part(examples, rank, count).len() * own * size_of::<f32>());
            rest = tail;
        }
        let into = sized(&mut room.into, examples * own);
        ranks.exchange(
            Parts { bytes: cast_slice(from), lengths: &sent },
            PartsMut { bytes: cast_slice_mut(into), lengths: &received },
        );
        into
    }

    /// Whether any rank says yes to each question; all get the same answers.
    pub(crate) fn any<const N: usize>(&self, yes: [bool; N]) -> [bool; N] {
        let Some(ranks) = self.ranks else { return yes };
        let mut all = vec![0; ranks.count() * N];
        all[ranks.rank() * N..][..N].copy_from_slice(&yes.map(u8::from));
        ranks.gather(&mut all, &vec![N; ranks.count()]);
        std::array::from_fn(|question| all.iter().skip(question).step_by(N).any(|&yes| yes == 1))
    }

    /// The numbers of the rank that leads.
    pub(crate) fn agree<const N: usize>(&self, numbers: [u64; N]) -> [u64; N] {
        let mut all = numbers;
        self.broadcast(cast_slice_mut(&mut all));
        all
    }

    /// Runs `work` where this rank leads; others wait, and fail if it does.
    pub(crate) fn lead<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let Some(ranks) = self.ranks else { return work().map(Some) };
        let done = if self.leads() { work().map(Some) } else { Ok(None) };
        ranks.wait();
        self.together(done)
    }

    /// What this rank has done, unless one of the others failed: then all stop at the same place.
    pub(crate) fn together<T>(&self, done: Result<T>) -> Result<T> {
        let interrupted = matches!(done, Err(Error::Interrupted));
        match self.any([done.is_err(), interrupted]) {
            [true, interrupted] if done.is_ok() => Err(if interrupted { Error::Interrupted } else { Error::OtherRank }),
            _ => done,
        }
    }

    /// Fills `bytes` with those of the rank that leads.
    fn broadcast(&self, bytes: &mut [u8]) {
        let Some(ranks) = self.ranks else { return };
        for block in bytes.chunks_mut(BLOCK) {
            let mut lengths = vec![0; ranks.count()];
            lengths[0] = block.len();
            ranks.gather(block, &lengths);
        }
    }

    /// Gives all ranks what they keep of the tables of the one that leads: those in `tables`, or, where they are sharded, the
    /// `whole` ones.
    pub(crate) fn share_tables(&self, tables: &mut Tables, whole: Option<&Tables>) {
        let Some(ranks) = self.ranks else { return };
        let Tables { input, output } = tables;
        let Some(Shards { words, documents, .. }) = self.shards else {
            for table in [input, output] {
                self.broadcast(cast_slice_mut(table.data_mut()));
                self.broadcast(cast_slice_mut(table.squares_mut()));
            }
            return;
        };
        let own = part(documents, ranks.rank(), ranks.count()).len();
        let whole = whole.map_or([None, None], |Tables { input, output }| [Some(input), Some(output)]);
        for (table, whole) in [input, output].into_iter().zip(whole) {
            let stride = table.stride();
            if let Some(whole) = whole {
                table.halves_mut().0.copy_from_slice(whole.halves().0);
                table.squares_mut()[..words].copy_from_slice(&whole.squares()[..words]);
            }
            self.broadcast(cast_slice_mut(table.halves_mut().0));
            self.broadcast(cast_slice_mut(&mut table.squares_mut()[..words]));
            let vectors = whole.map(|whole| whole.halves().1);
            hand_out(ranks, [documents, stride], vectors, &mut table.halves_mut().1[..own * stride]);
            let squares = whole.map(|whole| &whole.squares()[words..]);
            hand_out(ranks, [documents, 1], squares, &mut table.squares_mut()[words..words + own]);
        }
    }

    /// Refuses ranks that would not train the same model. `about` has, line by line, what must be equal: a name, a colon, and
    /// the rest.
    pub(crate) fn compare(&self, about: &str) -> Result<()> {
        let Some(ranks) = self.ranks else { return Ok(()) };
        let about = format!("{about}\ntables: {}", if self.shards.is_some() { "sharded" } else { "replicated" });
        let (texts, hosts) = (gather_texts(ranks, &about), gather_texts(ranks, &ranks.host()));
        for (rank, text) in texts.iter().enumerate().skip(1) {
            let differs = texts[0].lines().zip(text.lines()).find(|(first, other)| first != other);
            if let Some((first, other)) = differs {
                let name = first.split(':').next().unwrap_or_default();
                let of = |line: &str| line.split_once(": ").map_or(String::new(), |(_, rest)| rest.to_owned());
                return Err(Error::Ranks(format!(
                    "rank {rank} on {} differs from rank 0 on {} in the {name}: {}, not {}; all ranks must have the same",
                    hosts[rank],
                    hosts[0],
                    of(other),
                    of(first)
                )));
            }
        }
        Ok(())
    }
}

/// What travels at a time, so that no message is too long: for each rank, the rows of its own documents.
fn rounds(ranks: &dyn Ranks, documents: usize, width: usize) -> impl Iterator<Item = Vec<Range<usize>>> {
    let (count, rows) = (ranks.count(), (BLOCK / (width * size_of::<f32>())).max(1));
    let kept = move |rank| part(documents, rank, count).len();
    let most = (0..count).map(kept).max().unwrap_or(0);
    (0..most.div_ceil(rows)).map(move |round| {
        let of = |rank| (round * rows).min(kept(rank))..((round + 1) * rows).min(kept(rank));
        (0..count).map(of).collect()
    })
}

/// The numbers of each document in a whole table that a rank's `rows` are.
fn in_whole(rows: &Range<usize>, first: usize, width: usize) -> Range<usize> {
    (first + rows.start) * width..(first + rows.end) * width
}

/// Collects `width` numbers of each document where `whole` is.
fn collect(ranks: &dyn Ranks, [documents, width]: [usize; 2], own: &[f32], mut whole: Option<&mut [f32]>) {
    let (rank, count) = (ranks.rank(), ranks.count());
    let bytes = |rows: &Range<usize>| rows.len() * width * size_of::<f32>();
    for rows in rounds(ranks, documents, width) {
        let from = &own[rows[rank].start * width..rows[rank].end * width];
        let mut sent = vec![0; count];
        sent[0] = size_of_val(from);
        let received: Vec<usize> = rows.iter().map(|rows| if rank == 0 { bytes(rows) } else { 0 }).collect();
        let mut room = vec![0.0f32; received.iter().sum::<usize>() / size_of::<f32>()];
        let into = PartsMut { bytes: cast_slice_mut(&mut room), lengths: &received };
        ranks.exchange(Parts { bytes: cast_slice(from), lengths: &sent }, into);
        if let Some(whole) = &mut whole {
            let mut rest = &room[..];
            for (rank, rows) in rows.iter().enumerate() {
                let into = &mut whole[in_whole(rows, part(documents, rank, count).start, width)];
                let (numbers, tail) = rest.split_at(into.len());
                into.copy_from_slice(numbers);
                rest = tail;
            }
        }
    }
}

/// Hands out `width` numbers of each document from where `whole` is.
fn hand_out(ranks: &dyn Ranks, [documents, width]: [usize; 2], whole: Option<&[f32]>, own: &mut [f32]) {
    let (rank, count) = (ranks.rank(), ranks.count());
    for rows in rounds(ranks, documents, width) {
        let (mut from, mut sent) = (Vec::new(), vec![0; count]);
        if let Some(whole) = whole {
            for (rank, rows) in rows.iter().enumerate() {
                let numbers = &whole[in_whole(rows, part(documents, rank, count).start, width)];
                from.extend_from_slice(numbers);
                sent[rank] = size_of_val(numbers);
            }
        }
        let into = &mut own[rows[rank].start * width..rows[rank].end * width];
        let mut received = vec![0; count];
        received[0] = size_of_val(into);
        let into = PartsMut { bytes: cast_slice_mut(into), lengths: &received };
        ranks.exchange(Parts { bytes: cast_slice(&from), lengths: &sent }, into);
    }
}

/// The texts of all ranks, of which `own` is this one's.
pub fn gather_texts(ranks: &dyn Ranks, own: &str) -> Vec<String> {
    let (rank, count) = (ranks.rank(), ranks.count());
    let mut lengths = vec![0u64; count];
    lengths[rank] = own.len() as u64;
    ranks.gather(cast_slice_mut(&mut lengths), &vec![size_of::<u64>(); count]);
    let lengths: Vec<usize> = lengths.into_iter().map(|length| length as usize).collect();
    let mut all = vec![0; lengths.iter().sum()];
    let start: usize = lengths[..rank].iter().sum();
    all[start..start + own.len()].copy_from_slice(own.as_bytes());
    ranks.gather(&mut all, &lengths);
    let mut rest = &all[..];
    let mut texts = Vec::with_capacity(count);
    for length in lengths {
        let (text, tail) = rest.split_at(length);
        texts.push(String::from_utf8_lossy(text).into_owned());
        rest = tail;
    }
    texts
}

/// Rows to fill, one a column.
pub(crate) struct MatrixRows<'a> {
    pub(crate) data: &'a mut [f32],
    pub(crate) columns: usize,
    pub(crate) stride: usize,
}

/// Memory for what is sent and received, kept from batch to batch.
#[derive(Debug, Default)]
pub(crate) struct Room {
    from: Vec<f32>,
    into: Vec<f32>,
}
