"use strict";
// Labels of a map: the most frequent words in view that do not overlap.

const LABEL_HEIGHT = 17, LABEL_GAP = 6;

// Set of occupied areas, indexed by horizontal bands of the height of a label.
function createOccupancy() {
  const bands = new Map();
  const bandsOf = top => [Math.floor(top / LABEL_HEIGHT), Math.floor(top / LABEL_HEIGHT) + 1];
  return {
    isFree: (left, right, top) => bandsOf(top).every(band => (bands.get(band) || []).every(box =>
      box.right + LABEL_GAP < left || right + LABEL_GAP < box.left || Math.abs(box.top - top) >= LABEL_HEIGHT)),
    add: (left, right, top) => bandsOf(top).forEach(band =>
      bands.set(band, [...(bands.get(band) || []), {left, right, top}])),
  };
}

// Returns the labels that fit above their dots, with their left edges: first the required words, then other words in order
// of rank. A label is above the middle of its dot, unless it would be cut at the edge of the map.
// dots: {count, isShown(word), at(word) -> [x, y]}; widthOf(word) in pixels.
function chooseLabels(dots, required, widthOf, width, height, maxLabels) {
  const occupied = createOccupancy(), chosen = [];
  const addLabel = word => {
    const [x, y] = dots.at(word);
    if (x < 0 || x > width || y < LABEL_HEIGHT || y > height || !dots.isShown(word)) return;
    const size = widthOf(word), top = y - LABEL_HEIGHT - 3;
    const left = Math.max(0, Math.min(x - size / 2, width - size));
    if (!occupied.isFree(left, left + size, top)) return;
    occupied.add(left, left + size, top);
    chosen.push({word, left, y});
  };
  required.forEach(addLabel);
  const isRequired = new Set(required);
  for (let word = 0; word < dots.count && chosen.length < maxLabels; word++) if (!isRequired.has(word)) addLabel(word);
  return chosen;
}
