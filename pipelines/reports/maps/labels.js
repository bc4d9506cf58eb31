"use strict";
// Labels of a map: the most frequent words in view that do not overlap.

const LABEL_HEIGHT = 17, LABEL_GAP = 6;

// Occupied areas, in horizontal bands of the height of a label.
function createTaken() {
  const bands = new Map();
  const bandsOf = top => [Math.floor(top / LABEL_HEIGHT), Math.floor(top / LABEL_HEIGHT) + 1];
  return {
    isFree: (left, right, top) => bandsOf(top).every(band => (bands.get(band) || []).every(box =>
      box.right + LABEL_GAP < left || right + LABEL_GAP < box.left || Math.abs(box.top - top) >= LABEL_HEIGHT)),
    take: (left, right, top) => bandsOf(top).forEach(band =>
      bands.set(band, [...(bands.get(band) || []), {left, right, top}])),
  };
}

// Positions of labels above their dots: required ones first, then others in order of rank.
// dots: {count, isShown(word), at(word) -> [x, y]}; widthOf(word) in pixels.
function chooseLabels(dots, must, widthOf, width, height, most) {
  const taken = createTaken(), chosen = [];
  const offer = word => {
    const [x, y] = dots.at(word);
    if (x < 0 || x > width || y < LABEL_HEIGHT || y > height || !dots.isShown(word)) return;
    const half = widthOf(word) / 2, top = y - LABEL_HEIGHT - 3;
    if (!taken.isFree(x - half, x + half, top)) return;
    taken.take(x - half, x + half, top);
    chosen.push({word, x, y});
  };
  must.forEach(offer);
  const isOffered = new Set(must);
  for (let word = 0; word < dots.count && chosen.length < most; word++) if (!isOffered.has(word)) offer(word);
  return chosen;
}
