"use strict";
// Entry point of the page. The URL fragment holds the selected word, for links and browser history.

const SAID = 5; // neighbors announced to screen readers; the panel has all of them

function readPage() {
  const data = readData("data"), words = data.map.words;
  const before = data.before && readBefore(data.before);
  const contributions = data.contributions && {
    ...data.contributions, offsets: unpack(data.contributions.offsets), contexts: unpack(data.contributions.contexts),
    weights: unpack(data.contributions.weights),
  };
  return {
    map: data.map, words, count: words.length, counts: data.counts, ranks: unpack(data.ranks), size: data.size,
    neighbors: unpack(data.neighbors), cosines: unpackFractions(data.cosines), before, contributions,
    numberOf: new Map(words.map((word, number) => [word, number])),
  };
}

function readBefore(data) {
  const positionOf = new Map(Array.from(unpack(data.asked), (word, position) => [word, position]));
  const kept = unpackFractions(data.kept);
  return {
    words: data.words, size: data.size, ranks: unpack(data.ranks), neighbors: unpack(data.neighbors),
    cosines: unpackFractions(data.cosines), positionOf: word => positionOf.get(word),
    keptOf: word => kept[positionOf.get(word)],
    turned: unpack(data.turned), leapt: unpack(data.leapt), came: data.came, cameSize: data.came_size,
    went: data.went, wentSize: data.went_size,
  };
}

function wordInAddress() {
  const match = /^#word=(.*)$/s.exec(location.hash);
  try {
    return match && decodeURIComponent(match[1]);
  } catch {
    return match[1];
  }
}

// The clicked link no longer exists: move the keyboard focus to the heading, and scroll to the top.
function focusHeading(heading) {
  document.querySelector(".panels").scrollTop = 0;
  const {top, bottom} = heading.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) document.getElementById("map").scrollIntoView();
  if (document.activeElement !== document.querySelector("canvas")) heading.focus({preventScroll: true});
}

function start() {
  const page = readPage();
  const status = document.getElementById("status"), say = text => { status.textContent = text; };
  const goTo = word => { location.hash = addressOf(page.words[word]); };
  const map = createMap(document.getElementById("map"), page.map, goTo);

  function follow(event) {
    const asked = wordInAddress();
    if (asked === null) return;
    const word = page.numberOf.get(asked);
    if (word === undefined) {
      document.getElementById("word-facts").textContent = `The word “${nameOf(asked)}” is not on this page.`;
      say(`The word “${nameOf(asked)}” is not on this page.`);
      return;
    }
    const near = neighborsOf(page, word);
    showWord(page, word);
    map.select(word, near.map(each => each.number));
    if (event) focusHeading(document.getElementById("word-name"));
    const nearest = near.slice(0, SAID).map(each => nameOf(page.words[each.number]));
    say(`${nameOf(asked)}, ${factsOf(page, word)}. Nearest: ${nearest.join(", ")}.`);
  }

  createLegend(document.getElementById("legend"), page.map, map);
  createSearch(page, goTo, say);
  if (page.before) showMoved(page);
  addEventListener("hashchange", follow);
  follow();
}

start();
