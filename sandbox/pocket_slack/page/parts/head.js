// The head of the middle pane.

import { html } from "../vendor/preact.js";
import { toHash } from "../place.js";
import { directMessages } from "../store.js";
import { Ask } from "./assistant.js";
import { Icon } from "./icon.js";

/** The link back to the channels, a heading, and the app's two tabs, of which `tab` is open. */
export function Head({ state, tab, children }) {
  const { as, inspector } = state.place;
  const direct = directMessages(state);
  const tabs = { home: "Home", [direct?.id]: "Messages" };
  return html`<header>
    <a class="button quiet back" href=${toHash({ as, inspector })} aria-label="Back to the channels"
      ><${Icon} name="back"
    /></a>
    ${children}
    ${state.app.has_assistant && html`<${Ask} app=${state.app} place=${state.place} tab=${tab in tabs ? undefined : tab} />`}
    ${
      tab in tabs &&
      state.app.has_home_tab &&
      direct &&
      html`<nav class="tabs" aria-label=${state.app.name}>
        ${Object.entries(tabs).map(
          ([channel, name]) =>
            html`<a href=${toHash({ as, inspector, channel })} aria-current=${channel === tab ? "page" : undefined}
              >${name}</a
            >`,
        )}
      </nav>`
    }
  </header>`;
}
