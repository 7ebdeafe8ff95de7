// The whole page, as a function of the state: sidebar, one channel or the home tab, a thread, the inspector, modals.

import { html, useEffect, useMemo, useRef } from "../vendor/preact.js";
import { Names, channelTitle } from "../blocks/names.js";
import { tell } from "../actions.js";
import { go } from "../place.js";
import { directMessages } from "../store.js";
import { Channel } from "./channel.js";
import { Edit } from "./edit.js";
import { EmojiPicker } from "./emoji_picker.js";
import { Home } from "./home.js";
import { Inspector } from "./inspector.js";
import { Modal, Question } from "./modal.js";
import { Announcer, Keys, Notice } from "./notices.js";
import { Sidebar } from "./sidebar.js";
import { AssistantPane, Thread } from "./thread.js";

/** The page. */
export function Layout({ state }) {
  const { place, link, me } = state;
  const names = useNames(state);
  if (!me)
    return html`<p class="waiting" role="status">
      ${link === "lost" ? "The sandbox does not answer; trying again…" : "Connecting…"}
    </p>`;
  const channel = openChannel(state);
  const direct = place.assistant && directMessages(state);
  const hasThread = Boolean(direct || (place.thread && channel));
  const pane = hasThread ? "thread" : place.channel ? "channel" : "list";
  return html`<${Names.Provider} value=${names}>
    <div class="page showing-${pane} ${hasThread ? "has-thread" : ""}">
      <${Sidebar} state=${state} open=${channel} />
      ${
        place.channel === "home" || !channel
          ? html`<${Home} state=${state} />`
          : html`<${Channel} key=${channel.id} state=${state} channel=${channel} />`
      }
      ${
        direct
          ? html`<${AssistantPane} key=${place.assistant} ...${{ state, direct, lookedAt: channel }} />`
          : hasThread && html`<${Thread} key=${place.thread} state=${state} channel=${channel} ts=${place.thread} />`
      }
      ${place.inspector && html`<${Inspector} entries=${state.entries} />`}
    </div>
    ${state.view && html`<${Modal} key=${state.view.id} view=${state.view} />`}
    ${state.editing && html`<${Edit} ...${state.editing} />`}
    ${state.reacting && html`<${EmojiPicker} ...${state.reacting} />`}
    ${state.question && html`<${Question} question=${state.question} />`}
    <${Notice} text=${state.notice} />
    <${Announcer} channel=${channel} users=${state.users} />
    <${Keys} />
    <${Title} text=${channel ? channelTitle(names, channel) : state.app.name} team=${state.team.name} />
    <${LostChannel} isLost=${Boolean(place.channel && place.channel !== "home" && !state.channels[place.channel])} />
  <//>`;
}

/** The names that texts refer to; the same object until a name changes, because a new one redraws every text. */
function useNames({ users, channels, team, place }) {
  const titles = Object.values(channels).map(({ id, name, is_private }) => [id, name, is_private]);
  return useMemo(() => ({ users, channels, team, as: place.as }), [users, String(titles), team, place.as]);
}

/** The open channel: the one in the URL, or the first one if there is room to show it. */
function openChannel({ place, channels }) {
  if (place.channel === "home") return null;
  return channels[place.channel] ?? Object.values(channels)[0];
}

function Title({ text, team }) {
  useEffect(() => {
    document.title = `${text} · ${team}`;
  }, [text, team]);
  return null;
}

function LostChannel({ isLost }) {
  const was = useRef(false);
  useEffect(() => {
    if (isLost && !was.current) {
      tell("This channel is not there for this person.");
      go({});
    }
    was.current = isLost;
  }, [isLost]);
  return null;
}
