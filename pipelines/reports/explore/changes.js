"use strict";
// Panel of changes since the earlier table: lists of links to words.

function showChanges(page) {
  const panel = document.getElementById("changes"), before = page.before;
  if (!panel) return;
  const percent = word => `${Math.round(100 * before.keptOf(word))} % stayed`;
  const ranks = word => `${grouped(before.ranks[word])} → ${grouped(page.ranks[word])}`;
  const linkedItem = describe => word => make("li", {}, wordLink(page, page.words[word]), value(describe(word)));
  panel.append(
    changeList("Neighbors changed most", before.changedNeighbors, before.changedNeighbors.length, linkedItem(percent), true),
    changeList("Ranks changed most", before.changedRanks, before.changedRanks.length, linkedItem(ranks)),
    changeList("New words", before.newWords, before.newSize, word => make("li", {}, wordLink(page, word))),
    changeList("Removed words", before.removedWords, before.removedSize, word => make("li", {}, wordLink(page, word))),
  );
}

function changeList(title, words, size, item, open = false) {
  const shown = words.length < size ? ` (${grouped(words.length)} of ${grouped(size)})` : ` (${grouped(size)})`;
  const list = words.length ? make("ol", {className: "words plain"}, ...Array.from(words, item)) : quiet("None.");
  return make("details", {open}, make("summary", {textContent: title + shown}), list);
}
