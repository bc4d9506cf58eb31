"use strict";
// Readers of the page data: JSON with base64 arrays (see `pack` in drawing.py).

const ARRAYS = {
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
  float32: Float32Array,
};
const FRACTION_SCALE = 32767; // int16 value of the fraction 1

function readData(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

function unpack({type, base64}) {
  const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
  return new ARRAYS[type](bytes.buffer);
}

function unpackFractions(packed) {
  return Float32Array.from(unpack(packed), number => number / FRACTION_SCALE);
}

// Returns the text of a word. Invisible characters, and those that change the text direction, are shown as code points.
function nameOf(word) {
  return word.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} \u200c\u200d]/gu,
    character => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`) || "⟨empty⟩";
}
