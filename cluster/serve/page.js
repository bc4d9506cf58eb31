"use strict";
// The page of the server: neighbors of a word or of a sum of words, and explanations. The URL fragment holds the query.
// Words are inserted only as text, never as HTML.

const NEIGHBORS = 25, CONTRIBUTIONS = 15;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const find = id => document.getElementById(id);

function make(tag, settings = {}, ...children) {
  const element = Object.assign(document.createElement(tag), settings);
  element.append(...children);
  return element;
}

// Returns the text of a word. Control characters are shown as escapes.
const nameOf = word => word.replace(/\p{C}/gu, each => `\\u{${each.codePointAt(0).toString(16)}}`) || "''";

// Returns the fields of an answer, or throws an error with its sentence.
async function ask(path, settings) {
  const answer = await fetch(`${path}?${new URLSearchParams(settings)}`);
  const fields = await answer.json();
  if (!answer.ok) throw new Error(fields.error);
  return fields;
}

// Returns the arguments of a query such as "king - man + woman".
function parse(query) {
  const [word, ...rest] = query.trim().split(/\s+/);
  const settings = [["word", word]];
  for (let part = 0; part < rest.length; part++) {
    const sign = {"+": "plus", "-": "minus"}[rest[part]];
    settings.push([sign ?? "plus", sign ? rest[++part] ?? "" : rest[part]]);
  }
  return settings;
}

function bar(share) {
  const filled = make("i");
  filled.style.width = `${100 * Math.min(1, Math.abs(share))}%`;
  const whole = make("span", {className: share < 0 ? "bar negative" : "bar"}, filled);
  whole.setAttribute("aria-hidden", "true");
  return whole;
}

const value = text => make("span", {textContent: text});
// Returns the direction of lists of words: that of most words, by the first letter of each.
function directionOf(words) {
  const signs = words.map(word => /\p{L}/u.exec(word)).map(found => !found ? 0 : RIGHT_TO_LEFT.test(found[0]) ? 1 : -1);
  return signs.reduce((sum, sign) => sum + sign, 0) > 0 ? "rtl" : "ltr";
}

const nameElement = word => make("bdi", {textContent: nameOf(word)});

function neighborItem({word, cosine}, explained) {
  const link = make("a", {href: `#${encodeURIComponent(word)}`}, nameElement(word));
  const item = make("li", {}, link, bar(cosine), value(cosine.toFixed(3)));
  if (explained !== null) {
    const button = make("button", {type: "button", textContent: "explain"});
    button.setAttribute("aria-label", `explain ${nameOf(word)}`);
    button.addEventListener("click", () => showExplanation(explained, word));
    item.append(button);
  }
  return item;
}

// Returns a sentence about the vectors of an answer. Each word is isolated, because words can run from right to left.
function factsOf({from_spelling, neighbors}) {
  if (from_spelling.length) {
    const words = from_spelling.flatMap((word, number) => [number ? ", " : "", nameElement(word)]);
    return ["Vectors from the spelling of: ", ...words, "."];
  }
  return [neighbors.length ? "Nearest by cosine." : "The vector is zero, so it has no neighbors."];
}

let current = ""; // the query that the page shows: answers to earlier ones can arrive later

async function showNeighbors(query) {
  const settings = parse(query);
  current = query;
  find("name").replaceChildren(nameElement(query));
  find("explanation").hidden = true;
  try {
    const {queries: [found]} = await ask("neighbors", [...settings, ["topn", NEIGHBORS]]);
    if (query !== current) return;
    find("facts").replaceChildren(...factsOf(found));
    const explained = settings.length === 1 && !found.from_spelling.length ? found.word : null;
    find("neighbors").dir = directionOf(found.neighbors.map(each => each.word));
    find("neighbors").replaceChildren(...found.neighbors.map(each => neighborItem(each, explained)));
    find("status").textContent = `${found.neighbors.length} neighbors of ${nameOf(query)}.`;
  } catch (error) {
    if (query !== current) return;
    find("neighbors").replaceChildren();
    find("status").textContent = find("facts").textContent = error.message;
  }
}

const offsetName = offset => offset ? `${Math.abs(offset)} ${offset < 0 ? "before" : "after"}` : "window";

async function showExplanation(word, other) {
  find("explanation").hidden = false;
  find("explanation-name").replaceChildren(nameElement(word), " and ", nameElement(other));
  find("explanation-facts").textContent = "The counts are read …";
  find("contributions").replaceChildren();
  try {
    const found = await ask("explain", {word, other, topn: CONTRIBUTIONS});
    const rows = [
      ...found.contributions.map(each => [offsetName(each.offset), each.word, each.weight]),
      ...found.ngrams.map(each => ["spelling", each.ngram, each.weight]),
    ];
    find("contributions").dir = directionOf(rows.map(([, name]) => name));
    const largest = Math.max(...rows.map(([, , weight]) => Math.abs(weight)));
    find("contributions").replaceChildren(...rows.map(([offset, name, weight]) => make("li", {},
      make("span", {className: "offset", textContent: offset}), make("b", {}, nameElement(name)),
      bar(weight / largest), value(weight.toFixed(4)))));
    find("explanation-facts").textContent =
      `Cosine ${found.similarity.toFixed(4)}: the sum of these contributions, and ${found.rest.toFixed(4)} of all others.`;
  } catch (error) {
    find("explanation-facts").textContent = error.message;
  }
  find("status").textContent = find("explanation-facts").textContent;
  find("explanation").scrollIntoView({block: "nearest"}); // on a narrow screen, it is below the neighbors
}

function showQueryInUrl() {
  if (location.hash.length < 2) return;
  let query = location.hash.slice(1);
  try {
    query = decodeURIComponent(query);
  } catch {
    // The fragment has a percent sign of its own.
  }
  find("search").value = query;
  showNeighbors(query);
}

find("form").addEventListener("submit", event => {
  event.preventDefault();
  const query = find("search").value.trim();
  if (query) location.hash = encodeURIComponent(query);
});
addEventListener("hashchange", () => { showQueryInUrl(); find("name").focus(); });
fetch("health").then(answer => answer.json()).then(({version, words, dimensions}) => {
  const name = version === null ? "" : `Version ${version}: `;
  find("size").textContent = `${name}${words.toLocaleString("en")} words, ${dimensions} dimensions`;
});
showQueryInUrl();
