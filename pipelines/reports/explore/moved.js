"use strict";
// Panel of changes since the earlier table: lists of links to words.

function showMoved(page) {
  const panel = document.getElementById("moved"), before = page.before;
  if (!panel) return;
  const percent = word => `${Math.round(100 * before.keptOf(word))} % stayed`;
  const ranks = word => `${grouped(before.ranks[word])} → ${grouped(page.ranks[word])}`;
  const linkedItem = describe => word => make("li", {}, wordLink(page, page.words[word]), value(describe(word)));
  panel.append(
    movedList("Neighbors changed most", before.turned, before.turned.length, linkedItem(percent), true),
    movedList("Ranks changed most", before.leapt, before.leapt.length, linkedItem(ranks)),
    movedList("New words", before.came, before.cameSize, word => make("li", {}, wordLink(page, word))),
    movedList("Removed words", before.went, before.wentSize, word => make("li", {}, wordLink(page, word))),
  );
}

function movedList(title, words, size, item, open = false) {
  const shown = words.length < size ? ` (${grouped(words.length)} of ${grouped(size)})` : ` (${grouped(size)})`;
  const list = words.length ? make("ol", {className: "words plain"}, ...Array.from(words, item)) : quiet("None.");
  return make("details", {open}, make("summary", {textContent: title + shown}), list);
}
