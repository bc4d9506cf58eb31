"use strict";
// Entry point of the page. The URL fragment holds the selected word, for links and browser history.

const ANNOUNCED_NEIGHBORS = 5; // for screen readers; the panel has all neighbors

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
  const positionOf = new Map(Array.from(unpack(data.compared), (word, position) => [word, position]));
  const kept = unpackFractions(data.kept);
  return {
    words: data.words, size: data.size, ranks: unpack(data.ranks), neighbors: unpack(data.neighbors),
    cosines: unpackFractions(data.cosines), positionOf: word => positionOf.get(word),
    keptOf: word => kept[positionOf.get(word)],
    changedNeighbors: unpack(data.changed_neighbors), changedRanks: unpack(data.changed_ranks),
    newWords: data.new_words, newSize: data.new_size, removedWords: data.removed_words, removedSize: data.removed_size,
  };
}

function wordInUrl() {
  const match = /^#word=(.*)$/s.exec(location.hash);
  try {
    return match && decodeURIComponent(match[1]);
  } catch {
    return match[1];
  }
}

// Moves the keyboard focus from the clicked link, which no longer exists, to the heading, and scrolls to the top.
function focusHeading(heading) {
  document.querySelector(".panels").scrollTop = 0;
  const {top, bottom} = heading.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) document.getElementById("map").scrollIntoView();
  if (document.activeElement !== document.querySelector("canvas")) heading.focus({preventScroll: true});
}

function start() {
  const page = readPage();
  const status = document.getElementById("status"), announce = text => { status.textContent = text; };
  const goTo = word => { location.hash = urlOf(page.words[word]); };
  const map = createMap(document.getElementById("map"), page.map, goTo);

  function showWordInUrl(event) {
    const wanted = wordInUrl();
    if (wanted === null) return;
    const word = page.numberOf.get(wanted);
    if (word === undefined) {
      showMissingWord(wanted);
      announce(`The word “${nameOf(wanted)}” is not on this page.`);
      return;
    }
    const near = neighborsOf(page, word);
    showWord(page, word);
    map.select(word, near.map(each => each.number));
    if (event) focusHeading(document.getElementById("word-name"));
    const nearest = near.slice(0, ANNOUNCED_NEIGHBORS).map(each => nameOf(page.words[each.number]));
    announce(`${nameOf(wanted)}, ${factsOf(page, word)}. Nearest: ${nearest.join(", ")}.`);
  }

  createLegend(document.getElementById("legend"), page.map, map);
  createSearch(page, goTo, announce);
  if (page.before) showChanges(page);
  addEventListener("hashchange", showWordInUrl);
  showWordInUrl();
}

start();
