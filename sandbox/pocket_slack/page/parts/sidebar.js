// Channels, direct messages, the app; who acts.

import { html } from "../vendor/preact.js";
import { channelTitle } from "../blocks/names.js";
import { fromHash, toHash } from "../place.js";
import { Avatar } from "./avatar.js";
import { Icon } from "./icon.js";

/** The list on the left. */
export function Sidebar({ state, open }) {
  const { place, team, app, users } = state;
  const channels = Object.values(state.channels).filter((channel) => !channel.is_im);
  const direct = Object.values(state.channels).filter((channel) => channel.is_im);
  const entry = (channel) =>
    html`<${Entry} key=${channel.id} state=${state} channel=${channel} isOpen=${channel === open} />`;
  return html`<nav class="sidebar" aria-label="Workspace">
    <header>
      <h1>${team.name}</h1>
      <${Link} state=${state} />
    </header>
    <${ActAs} state=${state} />
    <h2>Channels</h2>
    <ul>
      ${channels.map(entry)}
    </ul>
    ${(app.has_home_tab || direct.length > 0) && html`<h2>Apps</h2>`}
    <ul>
      ${
        app.has_home_tab &&
        html`<li>
          <a href=${hrefOf(place, "home")} aria-current=${place.channel === "home" ? "page" : undefined}>
            <${Avatar} user=${users[app.user]} isSmall /> ${app.name} home</a
          >
        </li>`
      }
      ${direct.map(entry)}
    </ul>
    <footer>
      <a
        class="button quiet"
        href=${toHash({ ...place, inspector: place.inspector ? "" : "all" })}
        aria-expanded=${String(Boolean(place.inspector))}
        role="button"
        >Inspector</a
      >
      <button class="button quiet" type="button" onClick=${() => document.getElementById("keys").showModal()}>
        Keys
      </button>
    </footer>
  </nav>`;
}

function Entry({ state, channel, isOpen }) {
  const names = { users: state.users, channels: state.channels };
  const sign = channel.is_im ? "app" : channel.is_private ? "lock" : "hash";
  return html`<li>
    <a href=${hrefOf(state.place, channel.id)} aria-current=${isOpen ? "page" : undefined}>
      <span class="sign"><${Icon} name=${sign} /></span> ${channelTitle(names, channel)}
      ${channel.is_private && html`<span class="sr-only">, private</span>`}
    </a>
  </li>`;
}

function ActAs({ state }) {
  const people = Object.values(state.users).filter((user) => !user.is_bot && user.id !== "USLACKBOT");
  const change = (event) => {
    location.hash = toHash({ ...fromHash(location.hash), as: event.target.value });
  };
  return html`<label class="act-as"
    ><span>Act as</span>
    <select id="act-as" onChange=${change}>
      ${people.map(
        ({ id, name, real_name }) => html`<option value=${name} selected=${id === state.me.id}>${real_name}</option>`,
      )}
    </select>
  </label>`;
}

function Link({ state }) {
  const texts = { live: "Connected", lost: "Connecting again…", connecting: "Connecting…" };
  return html`<span class="link-state ${state.link}" role="status">${texts[state.link]}</span>`;
}

function hrefOf({ as, inspector }, channel) {
  return toHash({ as, inspector, channel });
}
