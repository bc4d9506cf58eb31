"use strict";

for (const element of document.querySelectorAll(".map")) {
  const data = readData(element.dataset.map);
  createLegend(element.parentElement.querySelector(".legend"), data, createMap(element, data));
}
