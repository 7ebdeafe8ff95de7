// Channels, direct messages, the app, and the person who acts.

import { html } from "../vendor/preact.js";
import { channelTitle } from "../blocks/names.js";
import { fromHash, toHash } from "../place.js";
import { directMessages, unread } from "../store.js";
import { Avatar } from "./avatar.js";
import { Icon } from "./icon.js";
import { Steps } from "./steps.js";

/** The list on the left. */
export function Sidebar({ state, open }) {
  const { place, team, app, users } = state;
  const channels = Object.values(state.channels).filter((channel) => !channel.is_im);
  const direct = directMessages(state);
  const news = direct ? unread(state, direct) : 0;
  return html`<nav class="sidebar" aria-label="Workspace">
    <header>
      <h1>${team.name}</h1>
      <${Link} state=${state} />
    </header>
    <${ActAs} state=${state} />
    <h2>Channels</h2>
    <ul>
      ${channels.map(
        (channel) =>
          html`<${Entry}
            key=${channel.id}
            href=${hrefOf(place, channel.id)}
            isOpen=${channel === open}
            count=${unread(state, channel)}
          >
            <span class="sign"><${Icon} name=${channel.is_private ? "lock" : "hash"} /></span>
            ${channelTitle({ users }, channel)} ${channel.is_private && html`<span class="sr-only">, private</span>`}
          <//>`,
      )}
    </ul>
    ${
      (app.has_home_tab || direct) &&
      html`<h2>Apps</h2>
        <ul>
          <${Entry}
            href=${hrefOf(place, app.has_home_tab && news === 0 ? "home" : direct.id)}
            isOpen=${place.channel === "home" || open === direct}
            count=${news}
          >
            <${Avatar} user=${users[app.user]} isSmall /> ${app.name}
          <//>
        </ul>`
    }
    <${Steps} steps=${state.steps} />
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

/** `count` is how many messages are unread. */
function Entry({ href, isOpen, count, children }) {
  return html`<li>
    <a href=${href} class=${count ? "unread" : ""} aria-current=${isOpen ? "page" : undefined}>
      ${children} ${count > 0 && html`<span class="count">${count}<span class="sr-only"> unread</span></span>`}
    </a>
  </li>`;
}

function ActAs({ state }) {
  const people = Object.values(state.users).filter((user) => !user.is_bot && user.id !== "USLACKBOT");
  const change = (event) => {
    location.hash = toHash({ ...fromHash(location.hash), as: event.target.value, assistant: "" });
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

function hrefOf({ as, inspector, assistant }, channel) {
  return toHash({ as, inspector, assistant, channel });
}
