"use strict";
// Map of words on a canvas, with drag, zoom and pinch by d3, and keyboard control.

const MOST_ZOOM = 300; // at this zoom, the nearest of 50,000 dots are a finger apart
const RIM = 0.94; // share of the canvas with dots; the margin is for labels at the edge
const REACH = 14; // pixels around a dot that react to the pointer
const STEP = 90; // pixels that an arrow key moves the map
const PIXELS_PER_LABEL = 6500; // canvas area per label, so that labels stay readable
const LONGEST_NAME = 28; // characters; longer words, such as URLs, are shortened
const CLOSE = [4, 16]; // range of the zoom on a selected word
const LIGHT = matchMedia("(prefers-color-scheme: light)");
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

// place: element with a canvas and optional buttons with data-zoom in, out or all; data: from `map_data` in drawing.py.
function createMap(place, data, onPick = () => {}) {
  const canvas = place.querySelector("canvas"), pen = canvas.getContext("2d");
  const x = unpackFractions(data.x), y = unpackFractions(data.y), group = unpack(data.group);
  const count = data.words.length, widths = new Float32Array(count), hidden = new Set();
  const members = data.groups.map((_, number) => d3.range(count).filter(word => group[word] === number));
  const view = {width: 0, height: 0, transform: d3.zoomIdentity, tree: null};
  const chosen = {word: -1, near: [], hovered: -1};
  let isAsked = false;

  const flatX = word => (1 + RIM * x[word]) / 2 * view.width, flatY = word => (1 - RIM * y[word]) / 2 * view.height;
  const dots = {
    count,
    isShown: word => !hidden.has(group[word]),
    at: word => view.transform.apply([flatX(word), flatY(word)]),
  };

  // On a scrolling page, one finger scrolls the page, and two move the map.
  const isForMap = event => !event.button && (!event.ctrlKey || event.type === "wheel") &&
    !("scrolls" in place.dataset && event.touches?.length === 1);
  const zoom = d3.zoom().filter(isForMap).scaleExtent([1, MOST_ZOOM]).on("zoom", event => {
    view.transform = event.transform;
    ask();
  });
  const moved = () => d3.select(canvas).transition().duration(CALM.matches ? 0 : 350);

  function ask() {
    if (!isAsked) requestAnimationFrame(() => { isAsked = false; draw(); });
    isAsked = true;
  }

  function fit() {
    const {clientWidth: width, clientHeight: height} = canvas, ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    const {k, x: left, y: top} = view.transform, before = view.width ? view : {width, height};
    Object.assign(canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scaled = d3.zoomIdentity.translate(left * width / before.width, top * height / before.height).scale(k);
    Object.assign(view, {width, height});
    zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]]);
    plant();
    d3.select(canvas).call(zoom.transform, scaled);
    draw(); // immediately, because resizing clears the canvas
  }

  function plant() {
    view.tree = d3.quadtree(d3.range(count).filter(dots.isShown), flatX, flatY);
  }

  function draw() {
    const style = getComputedStyle(place), color = name => style.getPropertyValue(name).trim();
    pen.clearRect(0, 0, view.width, view.height);
    drawDots();
    drawChosen(color("--text"), color("--quiet"));
    drawLabels(color("--text"), color("--card"));
  }

  function radius() {
    return Math.min(5, Math.min(3, 0.8 + 60 / Math.sqrt(count)) * view.transform.k ** 0.28);
  }

  function drawDots() {
    const size = radius(), isSmall = size < 1.6;
    pen.globalAlpha = chosen.word < 0 ? 0.8 : 0.4;
    members.forEach((words, number) => {
      if (hidden.has(number)) return;
      pen.fillStyle = data.groups[number].color;
      pen.beginPath();
      for (const word of words) {
        const [left, top] = dots.at(word);
        if (left < -size || top < -size || left > view.width + size || top > view.height + size) continue;
        if (isSmall) pen.fillRect(left - size, top - size, 2 * size, 2 * size);
        else { pen.moveTo(left + size, top); pen.arc(left, top, size, 0, 2 * Math.PI); }
      }
      pen.fill();
    });
    pen.globalAlpha = 1;
  }

  function drawChosen(text, quiet) {
    if (chosen.word < 0) return;
    const [x0, y0] = dots.at(chosen.word);
    pen.strokeStyle = quiet;
    pen.globalAlpha = 0.5;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const word of chosen.near) { pen.moveTo(x0, y0); pen.lineTo(...dots.at(word)); }
    pen.stroke();
    pen.globalAlpha = 1;
    for (const word of [...chosen.near, chosen.word]) {
      pen.fillStyle = data.groups[group[word]].color;
      pen.beginPath();
      pen.arc(...dots.at(word), word === chosen.word ? 7 : 4.5, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.strokeStyle = text;
    pen.lineWidth = 2;
    pen.stroke();
  }

  function drawLabels(text, halo) {
    const must = [chosen.word, chosen.hovered, ...chosen.near].filter(word => word >= 0);
    const most = view.width * view.height / PIXELS_PER_LABEL;
    Object.assign(pen, {textAlign: "left", textBaseline: "bottom", lineJoin: "round", lineWidth: 3.5});
    const isQuiet = word => chosen.word >= 0 && !must.includes(word);
    for (const {word, x: left, y: top} of chooseLabels(dots, must, widthOf, view.width, view.height, most)) {
      pen.font = fontOf(word);
      pen.strokeStyle = halo;
      pen.fillStyle = text;
      // Text is sharp at integer positions.
      const begin = Math.round(left - widthOf(word) / 2), base = Math.round(top - (word === chosen.word ? 9 : 5));
      pen.globalAlpha = 1;
      pen.strokeText(labelOf(word), begin, base);
      pen.globalAlpha = isQuiet(word) ? 0.65 : 1;
      pen.fillText(labelOf(word), begin, base);
    }
    pen.globalAlpha = 1;
  }

  function fontOf(word) {
    const [weight, size] = word === chosen.word ? [700, 15] : word < 100 ? [600, 13.5] : [500, 12.5];
    return `${weight} ${size}px system-ui, sans-serif`;
  }

  function labelOf(word) {
    const signs = [...nameOf(data.words[word])];
    return signs.length > LONGEST_NAME ? `${signs.slice(0, LONGEST_NAME).join("")}…` : signs.join("");
  }

  function widthOf(word) {
    if (!widths[word]) {
      pen.font = fontOf(word);
      widths[word] = pen.measureText(labelOf(word)).width;
    }
    return widths[word];
  }

  function wordAt(event) {
    const [left, top] = view.transform.invert(d3.pointer(event, canvas));
    return view.tree.find(left, top, REACH / view.transform.k) ?? -1;
  }

  function hover(word) {
    if (word === chosen.hovered) return;
    chosen.hovered = word;
    canvas.classList.toggle("pointing", word >= 0);
    ask();
  }

  // Keep the view if the word is well inside it; otherwise center the word, with half of its neighbors in view.
  function reveal(word, near) {
    const [left, top] = dots.at(word);
    const isInView = left > 60 && top > 40 && left < view.width - 60 && top < view.height - 40;
    if (isInView && view.transform.k >= CLOSE[0]) return;
    const away = d3.median(near, other => Math.hypot(flatX(other) - flatX(word), flatY(other) - flatY(word))) || 1;
    const wanted = Math.min(view.width, view.height) / 6 / away;
    const scale = Math.min(CLOSE[1], Math.max(CLOSE[0], wanted));
    moved().call(zoom.transform, d3.zoomIdentity.translate(view.width / 2, view.height / 2).scale(scale)
      .translate(-flatX(word), -flatY(word)));
  }

  const zooms = {
    in: () => moved().call(zoom.scaleBy, 2),
    out: () => moved().call(zoom.scaleBy, 0.5),
    all: () => moved().call(zoom.transform, d3.zoomIdentity),
  };
  const pan = (right, down) => () => {
    const step = STEP / view.transform.k;
    d3.select(canvas).call(zoom.translateBy, right * step, down * step);
  };
  const keys = {
    "+": zooms.in, "=": zooms.in, "-": zooms.out, 0: zooms.all,
    ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1),
  };

  d3.select(canvas).call(zoom).on("dblclick.zoom", null);
  canvas.addEventListener("pointermove", event => { if (event.pointerType === "mouse") hover(wordAt(event)); });
  canvas.addEventListener("pointerleave", () => hover(-1));
  canvas.addEventListener("click", event => {
    const word = wordAt(event);
    if (word >= 0) onPick(word);
  });
  canvas.addEventListener("keydown", event => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  place.querySelectorAll("[data-zoom]").forEach(button => button.addEventListener("click", zooms[button.dataset.zoom]));
  new ResizeObserver(fit).observe(canvas);
  LIGHT.addEventListener("change", ask);
  fit();

  return {
    select(word, near) {
      Object.assign(chosen, {word, near});
      if (word >= 0) reveal(word, near);
      ask();
    },
    toggle(number, isShown) {
      if (isShown) hidden.delete(number);
      else hidden.add(number);
      plant();
      ask();
    },
  };
}

// Legend with a button per group, which shows or hides the group.
function createLegend(place, data, map) {
  data.groups.forEach(({words, color, size}, number) => {
    const [button, dot, text] = ["button", "i", "bdi"].map(tag => document.createElement(tag));
    dot.style.background = color;
    text.textContent = words.map(nameOf).join(", ");
    button.type = "button";
    button.title = `${size.toLocaleString("en")} words`;
    button.setAttribute("aria-pressed", "true");
    button.append(dot, text);
    button.addEventListener("click", () => {
      const isShown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", isShown);
      map.toggle(number, isShown);
    });
    place.append(button);
  });
}
