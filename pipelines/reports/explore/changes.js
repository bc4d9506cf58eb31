"use strict";
// Panel of changes since the earlier table: lists of links to words.

function showChanges(page) {
  const panel = document.getElementById("changes"), before = page.before, {direction} = page.map;
  if (!panel) return;
  const percent = word => `${Math.round(100 * before.keptOf(word))} % stayed`;
  const ranks = word => `${grouped(before.ranks[word])} → ${grouped(page.ranks[word])}`;
  const linkedItem = describe => word => make("li", {}, wordLink(page, page.words[word]), value(describe(word)));
  panel.append(
    changeList(direction, "Neighbors changed most", before.changedNeighbors, before.changedNeighbors.length, linkedItem(percent), true),
    changeList(direction, "Ranks changed most", before.changedRanks, before.changedRanks.length, linkedItem(ranks)),
    changeList(direction, "New words", before.newWords, before.newSize, word => make("li", {}, wordLink(page, word))),
    changeList(direction, "Removed words", before.removedWords, before.removedSize, word => make("li", {}, wordLink(page, word))),
  );
}

function changeList(dir, title, words, size, item, open = false) {
  const shown = words.length < size ? ` (${grouped(words.length)} of ${grouped(size)})` : ` (${grouped(size)})`;
  const list = words.length ? make("ol", {className: "words plain", dir}, ...Array.from(words, item)) : quiet("None.");
  return make("details", {open}, make("summary", {textContent: title + shown}), list);
}
