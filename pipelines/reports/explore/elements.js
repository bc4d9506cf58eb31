"use strict";
// Functions that create HTML elements. Words are inserted only as text, never as HTML.

function make(tag, settings = {}, ...children) {
  const element = Object.assign(document.createElement(tag), settings);
  element.append(...children);
  return element;
}

const urlOf = word => `#word=${encodeURIComponent(word)}`;

// Returns a link to a word, or plain text if the word is not on the page.
function wordLink(page, word, className = "") {
  const name = make("bdi", {textContent: nameOf(word)});
  return page.numberOf.has(word) ? make("a", {href: urlOf(word), className}, name) : make("b", {className}, name);
}

function bar(share, isNegative = false) {
  const filled = make("i");
  filled.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  const whole = make("span", {className: isNegative ? "bar negative" : "bar"}, filled);
  whole.setAttribute("aria-hidden", "true");
  return whole;
}

const value = text => make("span", {textContent: text});
const grouped = number => number.toLocaleString("en");
