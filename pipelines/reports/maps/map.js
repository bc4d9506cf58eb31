"use strict";
// Map of words on a canvas, with drag, zoom and pinch by d3, and keyboard control.

const MAX_ZOOM = 300; // separates the nearest of 50,000 dots by the width of a finger
const DOT_SHARE = 0.94; // share of the canvas that has dots; the margin leaves space for labels
const POINTER_RADIUS = 14; // maximum distance in pixels between the pointer and a dot
const ARROW_KEY_STEP = 90; // pixels that an arrow key moves the map
const PIXELS_PER_LABEL = 6500; // canvas area per label, so that labels stay readable
const MAX_NAME_LENGTH = 28; // characters; longer words, such as URLs, are shortened
const SELECTION_ZOOM = [4, 16]; // minimum and maximum zoom on a selected word
const LIGHT_SCHEME = matchMedia("(prefers-color-scheme: light)");
const REDUCED_MOTION = matchMedia("(prefers-reduced-motion: reduce)");

// Returns {select, toggle}. container: element with a canvas and optional buttons with data-zoom in, out or all;
// data: from `map_data` in drawing.py; onPick: called with the number of a clicked word.
function createMap(container, data, onPick = () => {}) {
  const canvas = container.querySelector("canvas"), context = canvas.getContext("2d");
  const x = unpackFractions(data.x), y = unpackFractions(data.y), group = unpack(data.group);
  const count = data.words.length, widths = new Float32Array(count), hidden = new Set();
  const members = data.groups.map((_, number) => d3.range(count).filter(word => group[word] === number));
  const view = {width: 0, height: 0, transform: d3.zoomIdentity, tree: null};
  const chosen = {word: -1, near: [], hovered: -1};
  let isDrawPending = false;

  const unzoomedX = word => (1 + DOT_SHARE * x[word]) / 2 * view.width;
  const unzoomedY = word => (1 - DOT_SHARE * y[word]) / 2 * view.height;
  const dots = {
    count,
    isShown: word => !hidden.has(group[word]),
    at: word => view.transform.apply([unzoomedX(word), unzoomedY(word)]),
  };

  // On a scrolling page, one finger scrolls the page, and two move the map.
  const isForMap = event => !event.button && (!event.ctrlKey || event.type === "wheel") &&
    !("scrolls" in container.dataset && event.touches?.length === 1);
  const zoom = d3.zoom().filter(isForMap).scaleExtent([1, MAX_ZOOM]).on("zoom", event => {
    view.transform = event.transform;
    requestDraw();
  });
  const animated = () => d3.select(canvas).transition().duration(REDUCED_MOTION.matches ? 0 : 350);

  function requestDraw() {
    if (!isDrawPending) requestAnimationFrame(() => { isDrawPending = false; draw(); });
    isDrawPending = true;
  }

  function resize() {
    const {clientWidth: width, clientHeight: height} = canvas, ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    const {k, x: left, y: top} = view.transform, before = view.width ? view : {width, height};
    Object.assign(canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scaled = d3.zoomIdentity.translate(left * width / before.width, top * height / before.height).scale(k);
    Object.assign(view, {width, height});
    zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]]);
    updateTree();
    d3.select(canvas).call(zoom.transform, scaled);
    draw(); // immediately, because resizing clears the canvas
  }

  function updateTree() {
    view.tree = d3.quadtree(d3.range(count).filter(dots.isShown), unzoomedX, unzoomedY);
  }

  function draw() {
    const style = getComputedStyle(container), color = name => style.getPropertyValue(name).trim();
    context.clearRect(0, 0, view.width, view.height);
    drawDots();
    drawChosen(color("--text"), color("--quiet"));
    drawLabels(color("--text"), color("--card"));
  }

  function radius() {
    return Math.min(5, Math.min(3, 0.8 + 60 / Math.sqrt(count)) * view.transform.k ** 0.28);
  }

  function drawDots() {
    const size = radius(), isSmall = size < 1.6;
    context.globalAlpha = chosen.word < 0 ? 0.8 : 0.4;
    members.forEach((words, number) => {
      if (hidden.has(number)) return;
      context.fillStyle = data.groups[number].color;
      context.beginPath();
      for (const word of words) {
        const [left, top] = dots.at(word);
        if (left < -size || top < -size || left > view.width + size || top > view.height + size) continue;
        if (isSmall) context.fillRect(left - size, top - size, 2 * size, 2 * size);
        else { context.moveTo(left + size, top); context.arc(left, top, size, 0, 2 * Math.PI); }
      }
      context.fill();
    });
    context.globalAlpha = 1;
  }

  function drawChosen(text, quiet) {
    if (chosen.word < 0) return;
    const [x0, y0] = dots.at(chosen.word);
    context.strokeStyle = quiet;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.beginPath();
    for (const word of chosen.near) { context.moveTo(x0, y0); context.lineTo(...dots.at(word)); }
    context.stroke();
    context.globalAlpha = 1;
    for (const word of [...chosen.near, chosen.word]) {
      context.fillStyle = data.groups[group[word]].color;
      context.beginPath();
      context.arc(...dots.at(word), word === chosen.word ? 7 : 4.5, 0, 2 * Math.PI);
      context.fill();
    }
    context.strokeStyle = text;
    context.lineWidth = 2;
    context.stroke();
  }

  function drawLabels(text, halo) {
    const required = [chosen.word, chosen.hovered, ...chosen.near].filter(word => word >= 0);
    const maxLabels = view.width * view.height / PIXELS_PER_LABEL;
    Object.assign(context, {textAlign: "left", textBaseline: "bottom", lineJoin: "round", lineWidth: 3.5});
    const isQuiet = word => chosen.word >= 0 && !required.includes(word);
    for (const {word, left, y} of chooseLabels(dots, required, widthOf, view.width, view.height, maxLabels)) {
      context.font = fontOf(word);
      context.strokeStyle = halo;
      context.fillStyle = text;
      // Text is sharp at integer positions.
      const begin = Math.round(left), base = Math.round(y - (word === chosen.word ? 9 : 5));
      context.globalAlpha = 1;
      context.strokeText(labelOf(word), begin, base);
      context.globalAlpha = isQuiet(word) ? 0.65 : 1;
      context.fillText(labelOf(word), begin, base);
    }
    context.globalAlpha = 1;
  }

  function fontOf(word) {
    const [weight, size] = word === chosen.word ? [700, 15] : word < 100 ? [600, 13.5] : [500, 12.5];
    return `${weight} ${size}px system-ui, sans-serif`;
  }

  function labelOf(word) {
    const signs = [...nameOf(data.words[word])];
    const name = signs.length > MAX_NAME_LENGTH ? `${signs.slice(0, MAX_NAME_LENGTH).join("")}…` : signs.join("");
    return `\u2068${name}\u2069`; // isolated, so that punctuation of a word from right to left is at its left
  }

  function widthOf(word) {
    if (!widths[word]) {
      context.font = fontOf(word);
      widths[word] = context.measureText(labelOf(word)).width;
    }
    return widths[word];
  }

  function wordAt(event) {
    const [left, top] = view.transform.invert(d3.pointer(event, canvas));
    return view.tree.find(left, top, POINTER_RADIUS / view.transform.k) ?? -1;
  }

  function hover(word) {
    if (word === chosen.hovered) return;
    chosen.hovered = word;
    canvas.classList.toggle("pointing", word >= 0);
    requestDraw();
  }

  // Keep the view if the word is well inside it; otherwise center the word, with half of its neighbors in view.
  function reveal(word, near) {
    const [left, top] = dots.at(word);
    const isInView = left > 60 && top > 40 && left < view.width - 60 && top < view.height - 40;
    if (isInView && view.transform.k >= SELECTION_ZOOM[0]) return;
    const away = d3.median(near, other => Math.hypot(unzoomedX(other) - unzoomedX(word), unzoomedY(other) - unzoomedY(word))) || 1;
    const wanted = Math.min(view.width, view.height) / 6 / away;
    const scale = Math.min(SELECTION_ZOOM[1], Math.max(SELECTION_ZOOM[0], wanted));
    animated().call(zoom.transform, d3.zoomIdentity.translate(view.width / 2, view.height / 2).scale(scale)
      .translate(-unzoomedX(word), -unzoomedY(word)));
  }

  const zooms = {
    in: () => animated().call(zoom.scaleBy, 2),
    out: () => animated().call(zoom.scaleBy, 0.5),
    all: () => animated().call(zoom.transform, d3.zoomIdentity),
  };
  const pan = (right, down) => () => {
    const step = ARROW_KEY_STEP / view.transform.k;
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
  container.querySelectorAll("[data-zoom]").forEach(button => button.addEventListener("click", zooms[button.dataset.zoom]));
  new ResizeObserver(resize).observe(canvas);
  LIGHT_SCHEME.addEventListener("change", requestDraw);
  resize();

  return {
    select(word, near) {
      Object.assign(chosen, {word, near});
      if (word >= 0) reveal(word, near);
      requestDraw();
    },
    toggle(number, isShown) {
      if (isShown) hidden.delete(number);
      else hidden.add(number);
      updateTree();
      requestDraw();
    },
  };
}

// Legend with a button per group, which shows or hides the group.
function createLegend(container, data, map) {
  container.dir = data.direction;
  data.groups.forEach(({words, color, size}, number) => {
    const [button, dot, text] = ["button", "i", "bdi"].map(tag => document.createElement(tag));
    dot.style.background = color;
    text.textContent = words.length < size ? `${words.map(nameOf).join(", ")}, …` : words.map(nameOf).join(", ");
    button.type = "button";
    button.title = `${size.toLocaleString("en")} words`;
    button.setAttribute("aria-pressed", "true");
    button.append(dot, text);
    button.addEventListener("click", () => {
      const isShown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", isShown);
      map.toggle(number, isShown);
    });
    container.append(button);
  });
}
