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

// Returns the labels that fit above their dots: first the required words, then other words in order of rank.
// dots: {count, isShown(word), at(word) -> [x, y]}; widthOf(word) in pixels.
function chooseLabels(dots, required, widthOf, width, height, maxLabels) {
  const occupied = createOccupancy(), chosen = [];
  const addLabel = word => {
    const [x, y] = dots.at(word);
    if (x < 0 || x > width || y < LABEL_HEIGHT || y > height || !dots.isShown(word)) return;
    const half = widthOf(word) / 2, top = y - LABEL_HEIGHT - 3;
    if (!occupied.isFree(x - half, x + half, top)) return;
    occupied.add(x - half, x + half, top);
    chosen.push({word, x, y});
  };
  required.forEach(addLabel);
  const isRequired = new Set(required);
  for (let word = 0; word < dots.count && chosen.length < maxLabels; word++) if (!isRequired.has(word)) addLabel(word);
  return chosen;
}
