"use strict";

for (const place of document.querySelectorAll(".map")) {
  const data = readData(place.dataset.map);
  createLegend(place.parentElement.querySelector(".legend"), data, createMap(place, data));
}
