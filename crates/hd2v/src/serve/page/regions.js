// Groups of documents on the map: by label, by folder, or by where they lie; and what a group is called.

/** Groups that have colours. */
export const MOST = 12;
/** Words that name nothing. */
const PLAIN = new Set('a an and are as at by for from how in into is it its of on or that the this to was what when where with your you'.split(' '));

/** Labels by what stands before their colon, `area:css` is one of `area`; those that most documents have one of come first. */
function byLabel({ labels, label }) {
  const kinds = new Map();
  const names = labels.map((text) => text.slice(0, Math.max(0, text.indexOf(':'))));
  names.forEach((name, number) => kinds.set(name, [...(kinds.get(name) ?? []), number]));
  const covered = new Map();
  for (const own of label) for (const name of new Set(own.map((number) => names[number]))) covered.set(name, (covered.get(name) ?? 0) + 1);
  return [...kinds].sort(([a, of], [b, others]) => covered.get(b) - covered.get(a) || others.length - of.length).map(([kind, numbers]) => {
    const at = new Map(numbers.map((number, place) => [number, place]));
    return {
      name: kind || 'label', names: numbers.map((number) => labels[number].slice(kind ? kind.length + 1 : 0)), none: 'no label', covered: covered.get(kind),
      members: label.map((own) => own.map((number) => at.get(number)).filter((place) => place !== undefined)),
    };
  });
}

/** Folders of ids, as deep as it takes to have two that are no trifle; nothing where ids have none. */
export function byFolder(ids) {
  const parts = ids.map((id) => id.split('/').slice(0, -1));
  const deepest = parts.reduce((most, { length }) => Math.max(most, length), 0);
  for (let depth = 1; depth <= Math.min(6, deepest); depth += 1) {
    const counts = new Map();
    const folders = parts.map((part) => part.slice(0, depth).join('/'));
    for (const folder of folders) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    counts.delete('');
    const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
    if (names.length < 2 || counts.get(names[1]) * 20 < ids.length) continue;
    const at = new Map(names.map((name, place) => [name, place]));
    return { name: 'folder', names, none: 'no folder', covered: ids.length, members: folders.map((folder) => (folder ? [at.get(folder)] : [])) };
  }
  return undefined;
}

/** Regions of the plane: k-means from a start that is always the same. */
export function byPlace({ x, y, titles, links }) {
  const count = x.length;
  const wanted = Math.max(1, Math.min(MOST, Math.round(Math.sqrt(count / 12))));
  // Each centre begins at the document that is farthest from those before it, beginning with the most linked one.
  let first = 0;
  for (let i = 1; i < count; i += 1) if (links[i] > links[first]) first = i;
  const centres = [[x[first], y[first]]];
  const far = Float64Array.from(x, (_, i) => (x[i] - x[first]) ** 2 + (y[i] - y[first]) ** 2);
  while (centres.length < wanted) {
    let next = 0;
    for (let i = 1; i < count; i += 1) if (far[i] > far[next]) next = i;
    centres.push([x[next], y[next]]);
    for (let i = 0; i < count; i += 1) far[i] = Math.min(far[i], (x[i] - x[next]) ** 2 + (y[i] - y[next]) ** 2);
  }
  const nearest = new Uint8Array(count);
  for (let round = 0; round < 20; round += 1) {
    const sums = centres.map(() => [0, 0, 0]);
    let moved = false;
    for (let i = 0; i < count; i += 1) {
      let [best, least] = [0, Infinity];
      centres.forEach(([cx, cy], c) => { const d = (x[i] - cx) ** 2 + (y[i] - cy) ** 2; if (d < least) [best, least] = [c, d]; });
      moved ||= nearest[i] !== best;
      nearest[i] = best;
      sums[best][0] += x[i]; sums[best][1] += y[i]; sums[best][2] += 1;
    }
    sums.forEach(([sx, sy, n], c) => { if (n) centres[c] = [sx / n, sy / n]; });
    if (!moved) break;
  }
  const sizes = centres.map(() => 0);
  for (const c of nearest) sizes[c] += 1;
  const order = sizes.map((_, c) => c).filter((c) => sizes[c]).sort((a, b) => sizes[b] - sizes[a] || a - b);
  const place = new Map(order.map((c, at) => [c, at]));
  const members = Array.from(nearest, (c) => [place.get(c)]);
  return { name: 'region', names: named(members, order.length, titles, links), none: 'none', covered: count, members };
}

/** The words that titles of a group have more often than others do; failing them, its most linked document. */
function named(members, count, titles, links) {
  const wordsOf = (title) => new Set((title ?? '').toLowerCase().match(/[\p{L}\p{N}]{3,}/gu)?.filter((word) => !PLAIN.has(word)));
  const all = new Map();
  const own = Array.from({ length: count }, () => new Map());
  const best = new Array(count).fill(-1);
  const sizes = new Array(count).fill(0);
  members.forEach(([group], i) => {
    sizes[group] += 1;
    if (best[group] < 0 || links[i] > links[best[group]]) best[group] = i;
    for (const word of wordsOf(titles[i])) {
      all.set(word, (all.get(word) ?? 0) + 1);
      own[group].set(word, (own[group].get(word) ?? 0) + 1);
    }
  });
  return own.map((words, group) => {
    const scored = [...words].filter(([word, n]) => n > 1 && n * 12 >= sizes[group] && n * 5 >= all.get(word) * 2)
      .map(([word, n]) => [word, n * Math.log(1 + n / (all.get(word) - n + 1))]).sort(([a, s], [b, t]) => t - s || (a < b ? -1 : 1));
    if (scored.length) return scored.slice(0, 2).map(([word]) => word).join(', ');
    const name = titles[best[group]];
    return `around ${name.length > 28 ? `${name.slice(0, 27)}…` : name}`;
  });
}

/** All ways to group the documents of a map, the one to begin with first. */
export function groupings(data, titles) {
  const labels = byLabel(data);
  const others = [byFolder(data.ids), byPlace({ ...data, titles, links: data.links ?? data.ids.map(() => 0) })].filter(Boolean);
  // Labels that few documents have tell little of the map.
  return labels.length && labels[0].covered * 3 >= data.ids.length ? [...labels, ...others] : [...others, ...labels];
}

/** Where the name of each group stands: amid its documents, if they lie together more than all do; else nowhere. */
export function middles({ x, y }, groups, count) {
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  const spread = (rows, [cx, cy]) => median(rows.map((i) => Math.hypot(x[i] - cx, y[i] - cy)));
  const rows = Array.from({ length: count }, () => []);
  groups.forEach((own, i) => { for (const group of own) if (group < count) rows[group].push(i); });
  const all = [...x.keys()];
  const whole = spread(all, [median([...x]), median([...y])]);
  return rows.map((own) => {
    if (own.length < 3) return undefined;
    const centre = [median(own.map((i) => x[i])), median(own.map((i) => y[i]))];
    return spread(own, centre) < 0.6 * whole ? centre : undefined;
  });
}
