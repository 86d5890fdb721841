//! Plots as SVG: lines, bars, points. Drawn by hand: three simple kinds do not need a plotting crate.

use maud::{Markup, PreEscaped, html};

/// Colours that are distinguishable with colour blindness, too.
const COLOURS: [&str; 10] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#666666", "#a5aa00", "#000000"];

const WIDTH: f64 = 860.0;

fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// A square in a plot's colour, and what it stands for: for captions.
pub fn swatch(number: usize, name: &str) -> Markup {
    html! { span.swatch { i style={ "background:" (colour(number)) } {} " " (name) } " " }
}

/// A number with one decimal.
fn one(number: f64) -> String {
    format!("{number:.1}")
}

fn svg(height: f64, label: &str, inside: &Markup) -> Markup {
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(label) font-family="sans-serif" font-size="12" {
            (inside)
        }
    }
}

/// One line of a plot: its name, and its points.
pub type Series = (String, Vec<(f64, f64)>);

/// A point beside the lines: the number of its colour, where it is, what is written there.
pub struct PlotMark {
    pub colour: usize,
    pub at: (f64, f64),
    pub text: String,
}

/// The horizontal axis of lines: its name, and whether equal steps are equal factors.
pub struct Axis {
    pub name: &'static str,
    pub logarithmic: bool,
}

/// Shares (0 to 1) against numbers.
pub fn lines(label: &str, axis: &Axis, series: &[Series], marks: &[PlotMark]) -> Markup {
    let (left, right, top, bottom, height) = (50.0, 190.0, 12.0, 40.0, 400.0);
    let points = || series.iter().flat_map(|(_, points)| points).chain(marks.iter().map(|mark| &mark.at));
    let max_x = points().map(|point| point.0).fold(1.0, f64::max);
    let min_x = points().map(|point| point.0).fold(max_x, f64::min);
    let max_y = (points().map(|point| point.1).fold(0.01, f64::max) * 10.0).ceil() / 10.0;
    let along = |value: f64| if axis.logarithmic { value.max(1.0).ln() } else { value };
    let span = (along(max_x) - along(min_x)).max(1e-9);
    let x = |value: f64| left + (along(value) - along(min_x)) / span * (WIDTH - left - right);
    let y = |value: f64| height - bottom - value / max_y * (height - top - bottom);
    let middle = left + (WIDTH - left - right) / 2.0;
    // The first number, and round ones.
    let rounds = (1..=5).map(|step| (max_x * f64::from(step) / 5.0).round());
    let mut ticks: Vec<f64> = [min_x].into_iter().chain(rounds.filter(|&at| at > min_x + 0.05 * max_x)).collect();
    if axis.logarithmic {
        ticks = points().map(|point| point.0).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
    }
    let legend = WIDTH - right + 12.0;
    let inside = html! {
        @for value in (0..=5).map(|step| max_y * f64::from(step) / 5.0) {
            @let y = y(value);
            line x1=(left) x2=(WIDTH - right) y1=(one(y)) y2=(one(y)) stroke="#ddd" {}
            text x=(left - 6.0) y=(one(y + 4.0)) text-anchor="end" { (format!("{:.0} %", 100.0 * value)) }
        }
        @for at in ticks {
            text x=(one(x(at))) y=(height - bottom + 18.0) text-anchor="middle" { (format!("{at:.0}")) }
        }
        text x=(middle) y=(height - 4.0) text-anchor="middle" { (axis.name) }
        @for (number, (name, points)) in series.iter().enumerate() {
            @let dash = (number >= COLOURS.len()).then_some("5 3");
            @let path: Vec<String> = points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x(a), y(b))).collect();
            polyline points=(path.join(" ")) fill="none" stroke=(colour(number)) stroke-width="2"
                stroke-dasharray=[dash] {}
            // A line of few points shows where it was measured.
            @if points.len() <= 8 {
                @for &(a, b) in points { circle cx=(one(x(a))) cy=(one(y(b))) r="3.5" fill=(colour(number)) {} }
            }
            @let y = top + 8.0 + 17.0 * number as f64;
            line x1=(legend) x2=(legend + 20.0) y1=(y) y2=(y) stroke=(colour(number)) stroke-width="3"
                stroke-dasharray=[dash] {}
            text x=(legend + 26.0) y=(y + 4.0) { (name) }
        }
        @for PlotMark { colour: number, at, text } in marks {
            @let (x, y, late) = (x(at.0), y(at.1), x(at.0) > middle);
            path d=(format!("M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z", x - 6.0, y - 6.0, x + 6.0, y + 6.0))
                fill="#fff" stroke=(colour(*number)) stroke-width="2" {}
            text x=(one(x)) y=(one(y - 11.0)) fill=(colour(*number))
                text-anchor=(if late { "end" } else { "start" }) { (text) }
        }
    };
    svg(height.max(top + 17.0 * series.len() as f64 + 10.0), label, &inside)
}

/// One bar: its name, its share, the ends of its interval, the number of its colour.
pub struct Bar {
    pub name: String,
    pub share: f64,
    pub ends: Option<(f64, f64)>,
    pub colour: usize,
}

/// Shares as bars, one below the other, in groups with a head each; a group without a head is just bars.
pub fn bars(label: &str, groups: &[(String, Vec<Bar>)]) -> Markup {
    let (left, right, each, space) = (210.0, 60.0, 21.0, 30.0);
    let all = || groups.iter().flat_map(|(_, bars)| bars);
    let max = all().map(|bar| bar.ends.map_or(bar.share, |ends| ends.1)).fold(0.01, f64::max);
    let x = |value: f64| left + value / max * (WIDTH - left - right);
    let row = |top: f64, bar: &Bar| {
        let middle = top + each / 2.0;
        let base = middle + 4.0;
        let end = x(bar.ends.map_or(bar.share, |ends| ends.1));
        html! {
            text x=(left - 8.0) y=(base) text-anchor="end" { (bar.name) }
            rect x=(left) y=(top + 3.0) width=(one(x(bar.share) - left)) height=(each - 6.0) rx="2"
                fill=(colour(bar.colour)) fill-opacity="0.85" {}
            @if let Some((low, _)) = bar.ends {
                @let (low, up, down) = (x(low), middle - 3.5, middle + 3.5);
                path d=(format!("M{low:.1} {middle}H{end:.1}M{low:.1} {up}V{down}M{end:.1} {up}V{down}"))
                    stroke="#1d2733" fill="none" {}
            }
            text x=(one(end + 7.0)) y=(base) { (one(100.0 * bar.share)) }
        }
    };
    let (mut inside, mut top) = (String::new(), 0.0);
    for (head, bars) in groups {
        if !head.is_empty() {
            inside += &html! { text x=(left) y=(top + space - 8.0) font-weight="600" { (head) } }.into_string();
            top += space;
        }
        for bar in bars {
            inside += &row(top, bar).into_string();
            top += each;
        }
    }
    svg(top + 4.0, label, &PreEscaped(inside))
}

/// A point, the number of its class, its title.
pub type Dot = (f64, f64, usize, String);

/// Points in the plane, each with the number of its class; classes beyond the names are grey.
pub fn points(label: &str, points: &[Dot], names: &[String]) -> Markup {
    let (right, height, edge) = (210.0, 520.0, 10.0);
    let span = |of: &dyn Fn(&Dot) -> f64| {
        let min = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let max = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (min, (max - min).max(1e-9))
    };
    let ((left, width), (low, tall)) = (span(&|point| point.0), span(&|point| point.1));
    let legend = WIDTH - right + 14.0;
    let inside = html! {
        @for (x, y, class, title) in points {
            @let x = edge + (x - left) / width * (WIDTH - right - 2.0 * edge);
            @let y = edge + (y - low) / tall * (height - 2.0 * edge);
            @let fill = if *class < names.len() { colour(*class) } else { "#bbb" };
            circle cx=(one(x)) cy=(one(y)) r="2.5" fill=(fill) fill-opacity="0.7" { title { (title) } }
        }
        @for (number, name) in names.iter().enumerate() {
            @let y = 16.0 + 18.0 * number as f64;
            circle cx=(legend) cy=(y) r="5" fill=(colour(number)) {}
            text x=(legend + 12.0) y=(y + 4.0) { (name) }
        }
    };
    svg(height, label, &inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_the_corpus_are_text_and_no_markup() {
        let bar = Bar { name: "<b>\"&".to_owned(), share: 0.5, ends: Some((0.4, 0.6)), colour: 0 };
        let plot = bars("a & b", &[("<i>".to_owned(), vec![bar])]).into_string();
        assert!(
            plot.contains("&lt;b&gt;&quot;&amp;")
                && plot.contains("aria-label=\"a &amp; b\"")
                && !plot.contains("<b>")
                && plot.contains("&lt;i&gt;")
        );
    }

    #[test]
    fn nothing_to_draw_is_no_trouble() {
        let axis = Axis { name: "k", logarithmic: true };
        for plot in [
            lines("x", &axis, &[], &[]),
            bars("x", &[]),
            bars("x", &[(String::new(), vec![])]),
            points("x", &[], &[]),
            lines("x", &axis, &[("a".to_owned(), vec![])], &[]),
        ] {
            let plot = plot.into_string();
            assert!(plot.starts_with("<svg") && plot.ends_with("</svg>") && !plot.contains("NaN"), "{plot}");
        }
    }
}
