//! The figures of the paper (Han et al., ACL 2018, P18-1222), in % as it prints them, by the numbers of its tables.

use clap::ValueEnum;

/// A data set of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dataset {
    Nips,
    Acl,
    Dblp,
}

/// One of the three rows that Table 3 has for a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRow {
    pub docs: u64,
    pub citations: u64,
    pub years: &'static str,
}

const fn data(docs: u64, citations: u64, years: &'static str) -> DataRow {
    DataRow { docs, citations, years }
}

/// Recall, MAP, MRR and nDCG at 10 of a method.
pub type LinkRow = (&'static str, [f64; 4]);
/// The metrics of a [`LinkRow`], as our JSON calls them.
pub const METRICS: [&str; 4] = ["recall@10", "map@10", "mrr@10", "ndcg@10"];

impl Dataset {
    pub const ALL: [Dataset; 3] = [Dataset::Nips, Dataset::Acl, Dataset::Dblp];

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Dataset::Nips => "NIPS",
            Dataset::Acl => "ACL",
            Dataset::Dblp => "DBLP",
        }
    }

    /// Table 3: train, test, total.
    pub fn data(self) -> [DataRow; 3] {
        match self {
            Dataset::Nips => [data(1_590, 512, "up to 1998"), data(150, 89, "1999"), data(1_740, 601, "up to 1999")],
            Dataset::Acl => {
                [data(18_845, 91_792, "up to 2012"), data(1_563, 16_937, "2013"), data(20_408, 108_729, "up to 2013")]
            }
            Dataset::Dblp => [
                data(593_378, 2_565_625, "up to 2009"),
                data(55_736, 308_678, "from 2010"),
                data(649_114, 2_874_303, "all years"),
            ],
        }
    }

    /// Table 6: recommendation.
    pub fn links(self) -> [LinkRow; 7] {
        match self {
            Dataset::Nips => [
                ("w2v-i4i", [5.06, 1.29, 1.29, 2.07]),
                ("w2v", [12.92, 6.97, 6.97, 8.34]),
                ("d2v-nc", [14.04, 3.39, 3.39, 5.82]),
                ("d2v-cac", [14.61, 4.94, 4.94, 7.14]),
                ("npm", [7.87, 2.73, 3.13, 4.03]),
                ("h-d2v-random", [3.93, 0.78, 0.78, 1.49]),
                ("h-d2v-paper", [15.73, 6.68, 6.68, 8.80]),
            ],
            Dataset::Acl => [
                ("w2v-i4i", [12.28, 5.35, 5.35, 6.96]),
                ("w2v", [15.68, 8.54, 8.55, 10.23]),
                ("d2v-nc", [21.09, 9.65, 9.67, 12.29]),
                ("d2v-cac", [28.01, 11.82, 11.84, 15.59]),
                ("npm", [12.86, 5.98, 5.98, 7.59]),
                ("h-d2v-random", [30.98, 16.76, 16.77, 20.12]),
                ("h-d2v-paper", [31.93, 17.33, 17.34, 20.76]),
            ],
            Dataset::Dblp => [
                ("w2v-i4i", [3.01, 1.00, 1.00, 1.44]),
                ("w2v", [13.26, 7.29, 7.33, 8.58]),
                ("d2v-nc", [7.66, 3.25, 3.25, 4.23]),
                ("d2v-cac", [15.67, 7.34, 7.36, 9.16]),
                ("npm", [6.87, 3.28, 3.28, 4.07]),
                ("h-d2v-random", [17.22, 8.82, 8.87, 10.65]),
                ("h-d2v-paper", [21.32, 10.83, 10.88, 13.14]),
            ],
        }
    }
}

/// Table 7, on DBLP only: positions with a newcomer among their truths.
pub const NEWCOMERS: [LinkRow; 5] = [
    ("w2v", [3.64, 3.23, 3.41, 2.73]),
    ("npm", [1.37, 1.13, 1.15, 0.92]),
    ("d2v-nc", [6.48, 3.52, 3.54, 3.96]),
    ("d2v-cac", [8.16, 5.13, 5.24, 5.21]),
    ("h-d2v-paper", [6.41, 4.95, 5.21, 4.49]),
];
/// The positions of Table 7.
pub const NEWCOMER_POSITIONS: u64 = 63_342;

/// Macro and micro F1 of features.
pub type ClassRow = (&'static str, [f64; 2]);

/// Table 4, on DBLP only: classes of all labelled documents.
pub const CLASSES_ALL: [ClassRow; 13] = [
    ("deepwalk IN", [61.67, 69.89]),
    ("w2v IN", [10.83, 41.84]),
    ("w2v IN + deepwalk", [31.06, 50.93]),
    ("w2v IN+OUT", [9.36, 41.26]),
    ("w2v IN+OUT + deepwalk", [25.92, 49.56]),
    ("d2v-nc IN", [70.62, 77.86]),
    ("d2v-nc IN + deepwalk", [70.64, 78.06]),
    ("d2v-cac IN", [71.83, 78.09]),
    ("d2v-cac IN + deepwalk", [71.57, 78.59]),
    ("h-d2v-paper IN", [68.81, 76.33]),
    ("h-d2v-paper IN + deepwalk", [73.96, 79.93]),
    ("h-d2v-paper IN+OUT", [72.89, 78.99]),
    ("h-d2v-paper IN+OUT + deepwalk", [73.24, 79.55]),
];
/// Table 5, on DBLP only: classes of the documents that a link points at.
pub const CLASSES_LINKED: [ClassRow; 13] = [
    ("deepwalk IN", [66.57, 76.56]),
    ("w2v IN", [19.77, 47.32]),
    ("w2v IN + deepwalk", [59.80, 72.90]),
    ("w2v IN+OUT", [15.97, 45.66]),
    ("w2v IN+OUT + deepwalk", [50.77, 70.08]),
    ("d2v-nc IN", [61.54, 73.73]),
    ("d2v-nc IN + deepwalk", [69.37, 78.22]),
    ("d2v-cac IN", [65.23, 75.93]),
    ("d2v-cac IN + deepwalk", [70.43, 78.75]),
    ("h-d2v-paper IN", [58.59, 69.79]),
    ("h-d2v-paper IN + deepwalk", [66.99, 75.63]),
    ("h-d2v-paper IN+OUT", [66.64, 75.19]),
    ("h-d2v-paper IN+OUT + deepwalk", [68.96, 76.61]),
];
/// The labelled documents of Tables 4 and 5, and their classes.
pub const LABELLED: [u64; 2] = [5_975, 2_052];
pub const CLASSES: u64 = 10;

/// Figure 3, on DBLP only: recall@10 of a method at a number of dimensions, as far as the text names it.
pub const DIMENSIONS: [(&str, usize, f64); 2] = [("w2v", 1000, 26.63), ("h-d2v-paper", 400, 30.37)];
/// The dimensions of all its tables.
pub const DIM: usize = 100;

/// Table 9: the ranks of the papers on BLEU and on Moses, by method.
pub const EXAMPLE: [(&str, [u64; 2]); 3] = [("w2v", [57, 9]), ("d2v-cac", [6, 29]), ("h-d2v-paper", [1, 5])];

/// Passes over the links.
pub const EPOCHS: usize = 100;
/// The labelled contexts of Figure 4.
pub const INTENT_CONTEXTS: u64 = 2_824;

/// Figure 5: on the largest functions, the first of these is above the others.
pub const BY_FUNCTION: [&str; 3] = ["h-d2v-paper", "w2v", "d2v-cac"];
/// The number of functions for which it says so.
pub const LARGEST: usize = 6;

/// Table 2: which of D IN, D OUT, W IN, W OUT a method has.
pub const OUTPUTS: [(&str, [bool; 4]); 4] = [
    ("w2v", [true, true, true, true]),
    ("pv-dm", [true, false, true, true]),
    ("pv-dbow", [true, false, false, true]),
    ("h-d2v-paper", [true, true, true, true]),
];
