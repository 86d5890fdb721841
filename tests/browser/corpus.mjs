// A small collection for the browser test: pages about eight trades, which link to each other within a trade, a page
// with a hostile title, one with a long title, one with a long id and no title, two of one title. Always the same.

const TRADES = {
  sailing: ['wind storm crew harbour hoisted lowered deck waves tide course steer knots salt leeward',
    'mainsail jib keel rudder halyard anchor tiller spinnaker mast boom winch compass hull bowline'],
  baking: ['flour oven warm kneaded rise crust sugar butter dough baked golden slices tray sweet',
    'sourdough brioche baguette croissant focaccia pretzel strudel bagel muffin scone pita rye yeast glaze'],
  astronomy: ['night sky bright orbit light observed distance gravity mass dust faint measured colour dark',
    'telescope nebula pulsar quasar comet galaxy asteroid supernova eclipse parallax redshift planet moon meteor'],
  gardening: ['soil water spring leaves roots planted pruned shade sunny bloom seeds grow winter weeds',
    'compost trellis rose lavender tomato mulch greenhouse hedge orchard tulip fern basil pergola rake'],
  music: ['played tuned melody rhythm loud soft notes concert practice ensemble tempo sound chord stage',
    'violin cello oboe trumpet piano timpani harp clarinet bassoon flute organ viola tuba guitar'],
  chess: ['move attack defend board player square capture threat centre endgame opening tactic trade tempo',
    'pawn knight bishop rook queen king castling gambit checkmate stalemate fork pin skewer zugzwang'],
  weaving: ['thread cloth pattern dyed woven wool yarn fold stitch colours texture needle fabric linen',
    'loom shuttle warp weft spindle bobbin tapestry twill brocade velvet selvedge heddle damask felt'],
  medicine: ['patient treated symptoms fever dose rest doctor blood clinic recovery pain tested chronic acute',
    'antibiotic vaccine aspirin insulin bandage stethoscope scalpel suture anaesthetic biopsy dialysis splint catheter syringe'],
};

export const HOSTILE = '<script>alert(1)</script>';
export const LONG_TITLE = 'On the slow and careful drying of herring in the cold and steady northern wind, with remarks on smoke, on salt, and on the many errors of earlier writers';
export const LONG_ID = `archive/2019/${'herring-and-other-fish/'.repeat(5)}drying_of_herring_in_the_open_air_second_edition.final.md`;

/** A page a line, as `hd2v import jsonl` reads them. */
export function corpus() {
  let state = 1;
  const below = (end) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % end;
  };
  const of = (list) => list[below(list.length)];
  const lines = [];
  for (const [trade, [words, things]] of Object.entries(TRADES)) {
    const [about, pages] = [words.split(' '), things.split(' ')];
    pages.forEach((page, number) => {
      const sentences = [`the ${page} is what people in ${trade} speak of when they talk of the ${of(about)} and the ${of(about)}`];
      for (let link = 0; link < 9; link += 1) {
        const target = pages[(number + 1 + below(pages.length - 1)) % pages.length];
        sentences.push(`when the ${of(about)} had ${of(about)} near the ${of(about)} they took the [${target}][[${target}]] for the ${of(about)} and ${of(about)}`);
      }
      if (number < 2) sentences.push(`nobody in ${trade} dares to say xyzzy near the [unspeakable][[unspeakable]] page of the ${of(about)}`);
      const title = page[0].toUpperCase() + page.slice(1);
      lines.push({ id: page, title, date: String(1990 + below(30)), labels: [`trade:${trade}`, `size:${of(['short', 'long'])}`], url: `https://example.org/${page}`, text: `${sentences.join('. ')}.` });
    });
  }
  lines.push({
    id: 'unspeakable', title: HOSTILE, labels: ['trade:<img src=x onerror=alert(2)>'], url: 'javascript:alert(3)',
    text: 'this page about xyzzy and nothing else than xyzzy would like to run [with the storm][[mainsail]] in your browser',
  });
  // Fish, of which nobody else writes: four pages that link to each other.
  const fish = [['drying', LONG_TITLE], [LONG_ID, undefined], ['curing-1', 'Curing'], ['curing-2', 'Curing']];
  for (const [id, title] of fish) {
    const sentences = fish.filter(([other]) => other !== id).flatMap(([other]) => Array.from({ length: 5 }, () =>
      `they hung the herring over the smoke and salted the fillet as told [there][[${other}]] while the herring was drying`));
    lines.push({ id, title, date: '2001', labels: ['trade:fish', 'trade:sailing'], text: `${sentences.join('. ')}.` });
  }
  return lines.map((line) => JSON.stringify(line)).join('\n');
}
