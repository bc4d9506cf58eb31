"use strict";
// The search box: a combobox with completion (ARIA Authoring Practices, "Combobox").

const MAX_RESULTS = 8;
const fold = text => text.normalize("NFKC").toLowerCase();

// Returns the exact word, then words with this prefix, then words that contain the query, each in order of rank.
function findWords(words, folded, query) {
  const foldedQuery = fold(query.trim());
  if (!foldedQuery) return [];
  const exact = words.indexOf(query.trim()), beginning = [], within = [];
  for (let word = 0; word < words.length && beginning.length < MAX_RESULTS; word++) {
    if (word === exact) continue;
    if (folded[word] === foldedQuery) beginning.unshift(word);
    else if (folded[word].startsWith(foldedQuery)) beginning.push(word);
    else if (within.length < MAX_RESULTS && folded[word].includes(foldedQuery)) within.push(word);
  }
  return [...(exact < 0 ? [] : [exact]), ...beginning, ...within].slice(0, MAX_RESULTS);
}

function createSearch(page, onChoose, announce) {
  const input = document.getElementById("search"), list = document.getElementById("found");
  list.dir = page.map.direction;
  const none = document.getElementById("found-none"), folded = page.words.map(fold);
  let found = [], active = 0;

  function close() {
    list.hidden = none.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(position) {
    active = (position + found.length) % found.length;
    [...list.children].forEach((item, each) => item.setAttribute("aria-selected", each === active));
    input.setAttribute("aria-activedescendant", `found-${active}`);
    list.children[active].scrollIntoView({block: "nearest"});
  }

  function open() {
    found = findWords(page.words, folded, input.value);
    list.replaceChildren(...found.map((word, position) => {
      const rank = value(page.counts ? `${grouped(page.counts[word])} ×` : grouped(page.ranks[word]));
      const item = make("li", {id: `found-${position}`}, make("bdi", {textContent: nameOf(page.words[word])}), rank);
      item.setAttribute("role", "option");
      item.addEventListener("pointerdown", event => { event.preventDefault(); choose(position); });
      return item;
    }));
    if (!found.length) {
      close();
      none.hidden = !input.value.trim();
      if (!none.hidden) announce("No word found.");
      return;
    }
    none.hidden = true;
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(0);
  }

  function choose(position) {
    const word = found[position];
    close();
    input.value = "";
    input.blur();
    onChoose(word);
  }

  const keys = {
    ArrowDown: () => (list.hidden ? open() : mark(active + 1)),
    ArrowUp: () => (list.hidden ? open() : mark(active - 1)),
    Enter: () => { if (list.hidden) open(); if (!list.hidden) choose(active); },
    Escape: () => { if (list.hidden) { input.value = ""; input.blur(); } else close(); },
  };
  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", event => {
    if (!keys[event.key] || event.isComposing) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || event.target === input || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
