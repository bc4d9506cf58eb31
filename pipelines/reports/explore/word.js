"use strict";
// Panel of the selected word: facts, current and earlier neighbors, and contributions of context words.

const NO_COUNTS = "These vectors have no counts for explanations: explore a build instead.";

function showMissingWord(name) {
  document.getElementById("word-name").replaceChildren(make("bdi", {textContent: nameOf(name)}));
  document.getElementById("word-facts").textContent = "This word is not on this page.";
  document.getElementById("word-neighbors").replaceChildren();
  document.getElementById("word-contributions").replaceChildren();
}

function showWord(page, word) {
  document.getElementById("word-name").replaceChildren(make("bdi", {textContent: nameOf(page.words[word])}));
  document.getElementById("word-facts").textContent = factsOf(page, word);
  document.getElementById("word-neighbors").replaceChildren(...neighborsPanel(page, word));
  document.getElementById("word-contributions").replaceChildren(...contributionsPanel(page, word));
}

function factsOf(page, word) {
  const times = page.counts ? [`${grouped(page.counts[word])} times`] : [];
  const before = page.before ? [page.before.ranks[word] ? `rank ${grouped(page.before.ranks[word])} before` : "new"] : [];
  return [`rank ${grouped(page.ranks[word])}`, ...times, ...before].join(" · ");
}

// Returns the neighbors of a word with their cosines, the nearest first.
const neighborsOf = ({neighbors, cosines, size}, position) =>
  d3.range(position * size, (position + 1) * size).map(each => ({number: neighbors[each], cosine: cosines[each]}));

// Returns the text of a word. Numbers from `page.count` on refer to `more`: words that are not on the page.
const textOf = (page, number, more) => number < page.count ? page.words[number] : more[number - page.count];

const heading = text => make("h3", {textContent: text});
const quiet = text => make("p", {className: "quiet", textContent: text});

// Returns the text for screen readers that corresponds to the line through a word.
const hiddenText = className =>
  className === "gone" ? [make("span", {className: "unseen", textContent: "no longer near"})] : [];

function neighborList(page, near, more = [], classOf = () => "") {
  const items = near.map(({number, cosine}) => {
    const kind = classOf(number), link = wordLink(page, textOf(page, number, more), kind);
    return make("li", {}, link, ...hiddenText(kind), bar(cosine), value(cosine.toFixed(2)));
  });
  return make("ol", {className: "words", dir: page.map.direction}, ...items);
}

function neighborsPanel(page, word) {
  const now = neighborsOf(page, word), {before} = page;
  if (!before) return [heading("Nearest by cosine"), neighborList(page, now)];
  const position = before.positionOf(word);
  if (position === undefined) {
    const why = before.ranks[word] ? "The word was too rare to be compared." : "The word is new.";
    return [heading("Nearest by cosine"), neighborList(page, now), quiet(why)];
  }
  const old = neighborsOf(before, position);
  const among = list => number => list.some(each => each.number === number);
  const wasNear = among(old), isNear = among(now);
  const left = neighborList(page, now, [], other => wasNear(other) ? "" : "new");
  const right = neighborList(page, old, before.words, other => isNear(other) ? "" : "gone");
  return [make("div", {className: "pair"},
    make("div", {}, heading("Nearest now"), left), make("div", {}, heading("Before"), right))];
}

function offsetName(offset) {
  if (!offset) return "nearby";
  return `${Math.abs(offset)} ${offset < 0 ? "before" : "after"}`;
}

function contributionsPanel(page, word) {
  const title = heading("Strongest context words");
  if (!page.contributions) return [title, quiet(NO_COUNTS)];
  const {weights, contexts, offsets, words, size} = page.contributions;
  const entries = d3.range(word * size, (word + 1) * size).filter(entry => weights[entry]);
  if (!entries.length) return [title, quiet("No context word stands out.")];
  const largest = d3.max(entries, entry => Math.abs(weights[entry]));
  const items = entries.map(entry => {
    const weight = weights[entry], offset = make("span", {className: "offset", textContent: offsetName(offsets[entry])});
    return make("li", {}, offset, wordLink(page, textOf(page, contexts[entry], words)),
      bar(Math.abs(weight) / largest, weight < 0), value(weight.toPrecision(2)));
  });
  const ofNegative = entries.some(entry => weights[entry] < 0) ? " Bars of negative weights begin at the other end." : "";
  return [title, quiet(`Context words, their offsets and their weights.${ofNegative}`),
    make("ol", {className: "words offsets", dir: page.map.direction}, ...items)];
}
