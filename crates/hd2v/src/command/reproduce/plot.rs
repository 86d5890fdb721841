//! Plots as SVG, drawn by hand: lines, bars, points.

use std::fmt::Write;

/// Colours that can be told apart, also by those who do not see red and green.
pub const COLOURS: [&str; 10] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#666666", "#a5aa00", "#000000"];

const WIDTH: f64 = 860.0;

/// What would be read as markup.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn svg(height: f64, what: &str, inside: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\" font-family=\"sans-serif\" \
         font-size=\"12\">{inside}</svg>",
        escaped(what)
    )
}

/// One line of a plot: its name, and its points.
pub type Series = (String, Vec<(f64, f64)>);

/// Shares (0 to 1) against numbers.
pub fn lines(what: &str, x_name: &str, series: &[Series]) -> String {
    let (left, right, top, bottom, height) = (50.0, 190.0, 12.0, 40.0, 400.0);
    let points = || series.iter().flat_map(|(_, points)| points);
    let most_x = points().map(|point| point.0).fold(1.0, f64::max);
    let least_x = points().map(|point| point.0).fold(most_x, f64::min);
    let most_y = (points().map(|point| point.1).fold(0.01, f64::max) * 10.0).ceil() / 10.0;
    let x = |value: f64| left + (value - least_x) / (most_x - least_x).max(1e-9) * (WIDTH - left - right);
    let y = |value: f64| height - bottom - value / most_y * (height - top - bottom);
    let mut out = String::new();
    for step in 0..=5 {
        let value = most_y * f64::from(step) / 5.0;
        let (y, end) = (y(value), WIDTH - right);
        let _ = write!(out, "<line x1=\"{left}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>");
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{:.0} %</text>",
            left - 6.0,
            y + 4.0,
            100.0 * value
        );
    }
    // The first, and round numbers.
    let rounds = (1..=5).map(|step| (most_x * f64::from(step) / 5.0).round());
    for at in [least_x].into_iter().chain(rounds.filter(|&at| at > least_x + 0.05 * most_x)) {
        let (x, y) = (x(at), height - bottom + 18.0);
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{at:.0}</text>");
    }
    let middle = left + (WIDTH - left - right) / 2.0;
    let _ =
        write!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>", height - 4.0, escaped(x_name));
    for (number, (name, points)) in series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let dash = if number < COLOURS.len() { "" } else { " stroke-dasharray=\"5 3\"" };
        let path: Vec<String> = points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x(a), y(b))).collect();
        let _ = write!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            path.join(" ")
        );
        let (at, line) = (WIDTH - right + 12.0, top + 8.0 + 17.0 * number as f64);
        let _ = write!(
            out,
            "<line x1=\"{at}\" x2=\"{}\" y1=\"{line}\" y2=\"{line}\" stroke=\"{colour}\" stroke-width=\"3\"{dash}/>",
            at + 20.0
        );
        let _ = write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", at + 26.0, line + 4.0, escaped(name));
    }
    let height = height.max(top + 17.0 * series.len() as f64 + 10.0);
    svg(height, what, &out)
}

/// One bar: its name, its share, the ends of its interval, the number of its colour.
pub struct Bar {
    pub name: String,
    pub share: f64,
    pub ends: Option<(f64, f64)>,
    pub colour: usize,
}

/// Shares as bars, one below the other, in groups with a head each; a group without a head is just bars.
pub fn bars(what: &str, groups: &[(String, Vec<Bar>)]) -> String {
    let (left, right, each, space) = (210.0, 60.0, 21.0, 30.0);
    let all = || groups.iter().flat_map(|(_, bars)| bars);
    let most = all().map(|bar| bar.ends.map_or(bar.share, |ends| ends.1)).fold(0.01, f64::max);
    let x = |value: f64| left + value / most * (WIDTH - left - right);
    let (mut out, mut top) = (String::new(), 0.0);
    for (head, bars) in groups {
        if !head.is_empty() {
            let base = top + space - 8.0;
            let _ = write!(out, "<text x=\"{left}\" y=\"{base}\" font-weight=\"600\">{}</text>", escaped(head));
            top += space;
        }
        for bar in bars {
            let (colour, middle) = (COLOURS[bar.colour % COLOURS.len()], top + each / 2.0);
            let (name, from) = (escaped(&bar.name), left - 8.0);
            let base = middle + 4.0;
            let _ = write!(out, "<text x=\"{from}\" y=\"{base}\" text-anchor=\"end\">{name}</text>");
            let (y, width, height) = (top + 3.0, x(bar.share) - left, each - 6.0);
            let _ = write!(
                out,
                "<rect x=\"{left}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\" rx=\"2\" fill=\"{colour}\" \
                 fill-opacity=\"0.85\"/>"
            );
            let mut end = x(bar.share);
            if let Some((low, high)) = bar.ends {
                end = x(high);
                let low = x(low);
                let (up, down) = (middle - 3.5, middle + 3.5);
                let _ = write!(
                    out,
                    "<path d=\"M{low:.1} {middle}H{end:.1}M{low:.1} {up}V{down}M{end:.1} {up}V{down}\" stroke=\"#1d2733\" \
                     fill=\"none\"/>"
                );
            }
            let _ = write!(out, "<text x=\"{:.1}\" y=\"{base}\">{:.1}</text>", end + 7.0, 100.0 * bar.share);
            top += each;
        }
    }
    svg(top + 4.0, what, &out)
}

/// A point, the number of its class, what it is called.
pub type Dot = (f64, f64, usize, String);

/// Points in the plane, each with the number of its class; classes beyond the names are grey.
pub fn points(what: &str, points: &[Dot], names: &[String]) -> String {
    let (right, height, edge) = (210.0, 520.0, 10.0);
    let span = |of: &dyn Fn(&Dot) -> f64| {
        let least = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (least, (most - least).max(1e-9))
    };
    let ((left, width), (low, tall)) = (span(&|point| point.0), span(&|point| point.1));
    let mut out = String::new();
    for (x, y, class, title) in points {
        let x = edge + (x - left) / width * (WIDTH - right - 2.0 * edge);
        let y = edge + (y - low) / tall * (height - 2.0 * edge);
        let colour = if *class < names.len() { COLOURS[class % COLOURS.len()] } else { "#bbb" };
        let _ = write!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\" fill-opacity=\"0.7\"><title>{}</title></circle>",
            escaped(title)
        );
    }
    for (number, name) in names.iter().enumerate() {
        let y = 16.0 + 18.0 * number as f64;
        let colour = COLOURS[number % COLOURS.len()];
        let at = WIDTH - right + 14.0;
        let _ = write!(
            out,
            "<circle cx=\"{at}\" cy=\"{y}\" r=\"5\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            at + 12.0,
            y + 4.0,
            escaped(name)
        );
    }
    svg(height, what, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_the_corpus_are_text_and_no_markup() {
        let bar = Bar { name: "<b>\"&".to_owned(), share: 0.5, ends: Some((0.4, 0.6)), colour: 0 };
        let plot = bars("a & b", &[("<i>".to_owned(), vec![bar])]);
        assert!(
            plot.contains("&lt;b&gt;&quot;&amp;")
                && plot.contains("aria-label=\"a &amp; b\"")
                && !plot.contains("<b>")
                && plot.contains("&lt;i&gt;")
        );
    }

    #[test]
    fn nothing_to_draw_is_no_trouble() {
        for plot in [
            lines("x", "k", &[]),
            bars("x", &[]),
            bars("x", &[(String::new(), vec![])]),
            points("x", &[], &[]),
            lines("x", "k", &[("a".to_owned(), vec![])]),
        ] {
            assert!(plot.starts_with("<svg") && plot.ends_with("</svg>") && !plot.contains("NaN"), "{plot}");
        }
    }
}
