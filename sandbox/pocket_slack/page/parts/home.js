// The app's home tab: https://docs.slack.dev/surfaces/app-home

import { html, useEffect } from "../vendor/preact.js";
import { act, attempt } from "../actions.js";
import { Blocks } from "../blocks/index.js";
import { Surface } from "../blocks/surface.js";
import { Head } from "./head.js";

/** What the app has published for the acting person; the app is told when it is opened. */
export function Home({ state }) {
  const { app, home, place } = state;
  const isOpen = place.channel === "home" && app.has_home_tab;
  useEffect(() => {
    if (isOpen) attempt(() => act("home"));
  }, [isOpen, place.as]);
  const surface = {
    id: "home",
    click: (block, element, value) =>
      attempt(() => act("click", { in: "home", action_id: element.action_id, block_id: block.block_id, value })),
    type() {},
    values: home?.state.values ?? {},
    errors: {},
  };
  return html`<main class="pane home" aria-label="${app.name} home">
    <${Head} state=${state} tab=${place.channel}><h1>${app.name}</h1><//>
    <div class="home-body">
      ${
        home
          ? html`<${Surface.Provider} value=${surface}><${Blocks} blocks=${home.blocks} /><//>`
          : html`<p class="earlier">
              ${app.has_home_tab ? "The app has not published a home tab for you yet." : "Choose a channel."}
            </p>`
      }
    </div>
  </main>`;
}
