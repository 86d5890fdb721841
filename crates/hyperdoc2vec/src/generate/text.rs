//! Writes one document of a generated corpus: filler words by Zipf's law, with the words of each link between them.

use super::words::{BACKGROUND, TOPIC_WORDS, WordClass, push_background_word, push_made_word, topic_name, zipf};
use super::{Generator, Kind, PlannedLink, Purpose, Variant};
use crate::document::{Document, Link};
use crate::rng::Rng;

/// Words that a position takes up on average: its phrase, nickname and quote.
const WORDS_A_POSITION: usize = 5;
/// So many filler words on either side of a link come from the target's topic.
const REACH: usize = 6;
/// Shares of the filler words; the rest is background.
const TOPIC_SHARE: f32 = 0.22;
const OWN_SHARE: f32 = 0.10;
const COMMA_SHARE: f32 = 0.06;

/// Document `doc`, in the words and with the sayings that `variant` asks for.
pub(super) fn write(generator: &Generator, doc: usize, variant: &Variant) -> Document {
    let author = variant.content.get(&doc).copied().unwrap_or(doc);
    let topic = generator.topic(author);
    let own = generator.own_word_numbers(author);
    let links = generator.links(doc);
    let taken = WORDS_A_POSITION * links.len();
    let filler = generator.length(doc).saturating_sub(taken).max(1);

    let mut rng = generator.rng(Purpose::Filler, doc);
    let mut sayings = generator.rng(Purpose::Sayings, doc);
    // One link in each of as many equal parts as there are links, not at the very edge of its part.
    let said = links.into_iter().enumerate();
    let parts = said.len() * 4096;
    let said = said.map(|(i, link)| {
        let before = (i * 4096 + 256 + rng.below(3584)) * filler / parts;
        (before, Saying::draw(generator, doc, link, variant, &mut sayings))
    });
    let said: Vec<(usize, Saying)> = said.collect();

    let mut page = PageText::with_capacity(8 * (filler + taken));
    let mut next = 0;
    let mut sentence = sentence_length(&mut rng);
    for place in 0..filler {
        while let Some((_, saying)) = said.get(next).filter(|(before, _)| *before == place) {
            page.say(saying);
            next += 1;
        }
        let ahead = said.get(next).filter(|(before, _)| before - place <= REACH);
        let behind = next.checked_sub(1).map(|last| &said[last]).filter(|(before, _)| place - before < REACH);
        let topic = ahead.or(behind).map_or(topic, |(_, saying)| saying.topic);
        page.filler_word(topic, &own, &mut rng);
        sentence -= 1;
        if sentence == 0 || place + 1 == filler {
            page.end_sentence();
            sentence = sentence_length(&mut rng);
        } else if rng.chance(COMMA_SHARE) {
            page.text.push(',');
        }
    }

    Document {
        id: generator.id(doc),
        title: Some(title(generator.topic(author), &own)),
        authors: Vec::new(),
        date: generator.date(doc),
        language: None,
        labels: vec![
            format!("topic:{}", topic_name(generator.topic(doc))),
            format!("kind:{}", generator.kind(doc).name()),
        ],
        url: None,
        text: page.text,
        links: page.links,
        origin: format!("generated document {doc}"),
    }
}

fn sentence_length(rng: &mut Rng) -> usize {
    6 + rng.below(19)
}

/// Two of the document's own words and its topic's most frequent word.
fn title(topic: usize, own: &[usize]) -> String {
    let mut page = PageText::with_capacity(32);
    for &number in own.iter().take(2) {
        page.word(|text| push_made_word(text, WordClass::Own, number));
    }
    page.word(|text| text.push_str("for"));
    page.word(|text| push_made_word(text, WordClass::Topic, topic * TOPIC_WORDS));
    page.text
}

/// The words of one position.
struct Saying {
    targets: Vec<String>,
    topic: usize,
    phrase: &'static str,
    nickname: Option<usize>,
    quote: Option<usize>,
}

impl Saying {
    /// Always takes the same number of draws, so that a variant changes nothing beyond what it names.
    fn draw(generator: &Generator, source: usize, link: PlannedLink, variant: &Variant, rng: &mut Rng) -> Saying {
        let PlannedLink { targets, .. } = link;
        let about = targets[rng.below(targets.len())];
        let about = targets.iter().find_map(|target| variant.context.get(target)).copied().unwrap_or(about);
        let phrases = Kind::phrases(generator.kind(about));
        let phrase = phrases[rng.below(phrases.len())];
        let called = rng.chance(generator.params.nicknames) && about != source;
        let which = rng.below(generator.nickname_count(about));
        let quoted = rng.chance(generator.params.quotes);
        let own = generator.own_word_numbers(about);
        let quote = own[rng.below(own.len())];
        Saying {
            targets: targets.into_iter().map(|target| generator.id(target)).collect(),
            topic: generator.topic(about),
            phrase,
            nickname: called.then_some(2 * about + which),
            quote: quoted.then_some(quote),
        }
    }
}

/// Text under way.
struct PageText {
    text: String,
    links: Vec<Link>,
    capital: bool,
}

impl PageText {
    fn with_capacity(bytes: usize) -> PageText {
        PageText { text: String::with_capacity(bytes), links: Vec::new(), capital: true }
    }

    fn word(&mut self, push: impl FnOnce(&mut String)) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let start = self.text.len();
        push(&mut self.text);
        if self.capital {
            self.text[start..=start].make_ascii_uppercase();
            self.capital = false;
        }
    }

    fn filler_word(&mut self, topic: usize, own: &[usize], rng: &mut Rng) {
        let class = rng.unit();
        if class < TOPIC_SHARE {
            let rank = zipf(rng, TOPIC_WORDS);
            self.word(|text| push_made_word(text, WordClass::Topic, topic * TOPIC_WORDS + rank));
        } else if class < TOPIC_SHARE + OWN_SHARE {
            let number = own[rng.below(own.len())];
            self.word(|text| push_made_word(text, WordClass::Own, number));
        } else {
            let rank = zipf(rng, BACKGROUND);
            self.word(|text| push_background_word(text, rank));
        }
    }

    fn say(&mut self, saying: &Saying) {
        for part in saying.phrase.split(' ') {
            if part != "*" {
                self.word(|text| text.push_str(part));
                continue;
            }
            if let Some(number) = saying.nickname {
                self.word(|text| push_made_word(text, WordClass::Nickname, number));
            }
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            let at = self.text.len();
            self.links.push(Link { at, anchor: at, targets: saying.targets.clone() });
        }
        if let Some(number) = saying.quote {
            self.word(|text| text.push_str("for"));
            self.word(|text| push_made_word(text, WordClass::Own, number));
        }
    }

    fn end_sentence(&mut self) {
        self.text.push('.');
        self.capital = true;
    }
}
