// Connects the three: what the server says, what the store holds, what the page shows.

import { html, render } from "./vendor/preact.js";
import { store } from "./store.js";
import { follow } from "./stream.js";
import { onPlace } from "./place.js";
import { Layout } from "./parts/layout.js";

const root = document.getElementById("page");
let isDrawn = true;

function draw() {
  isDrawn = true;
  render(html`<${Layout} state=${store.state} />`, root);
}

store.subscribe(() => {
  // Several events in one go are drawn once.
  if (isDrawn) {
    isDrawn = false;
    queueMicrotask(draw);
  }
});

let following = { as: null, stop() {} };

onPlace((place) => {
  store.dispatch({ type: "place", data: place });
  if (place.as === following.as) return;
  following.stop();
  following = { as: place.as, stop: follow(place.as, store.dispatch) };
});
