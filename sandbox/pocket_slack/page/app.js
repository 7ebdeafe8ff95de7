// Connects the server's events, the store and the page.

import { html, render } from "./vendor/preact.js";
import { store } from "./store.js";
import { follow } from "./stream.js";
import { current, settle } from "./place.js";
import { tell } from "./actions.js";
import { Layout } from "./parts/layout.js";

const root = document.getElementById("page");
let isDrawn = true;

function draw() {
  isDrawn = true;
  render(html`<${Layout} state=${store.state} />`, root);
}

store.subscribe(() => {
  // Several events at once are drawn once.
  if (isDrawn) {
    isDrawn = false;
    queueMicrotask(draw);
  }
});

let following = { as: null, stop() {} };

function come() {
  const place = current();
  store.dispatch({ type: "place", data: place });
  if (place.as === following.as) return;
  following.stop();
  // If the server does not answer at all, nothing else is to be done: the stream keeps trying.
  const onRefused = () => arrive().catch(() => {});
  following = { as: place.as, stop: follow(place.as, store.dispatch, onRefused) };
}

async function arrive() {
  const stranger = await settle();
  come();
  if (stranger) tell(`Nobody here is called "${stranger}"; you act as ${current().as} now.`);
}

addEventListener("hashchange", come);
arrive();
