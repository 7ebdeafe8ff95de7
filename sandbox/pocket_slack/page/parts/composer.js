// The box in which people type messages and the app's slash commands.

import { html, useRef } from "../vendor/preact.js";
import { act, attempt, say } from "../actions.js";
import { store } from "../store.js";
import { Icon } from "./icon.js";
import { Menu } from "./menu.js";

/** The box under a channel or a thread; calls `onSend` when something is sent. */
export function Composer({ state, channel, threadTs, label, onSend }) {
  const box = useRef(null);
  const key = threadTs ?? channel.id;
  const text = state.drafts[key] ?? "";
  const setText = (draft) => store.dispatch({ type: "draft", data: { key, text: draft } });
  const id = threadTs ? "composer-thread" : "composer";
  const send = async () => {
    if (!text.trim()) return;
    setText("");
    box.current.focus();
    onSend();
    const isRefused = (await attempt(() => say(channel, text.trim(), threadTs))) === null;
    // A refused text comes back, unless something else was typed meanwhile.
    if (isRefused && !store.state.drafts[key]) setText(text);
  };
  const onKeyDown = (event) => {
    // During input-method composition, Enter chooses a character.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  return html`<div class="composer">
    <${Hints} commands=${threadTs ? [] : state.app.commands} text=${text} />
    <div class="composer-box">
      <textarea
        id=${id}
        ref=${box}
        rows=${Math.min(8, text.split("\n").length)}
        aria-label=${label}
        placeholder=${label}
        value=${text}
        onInput=${(event) => setText(event.target.value)}
        onKeyDown=${onKeyDown}
      ></textarea>
      ${!threadTs && html`<${Shortcuts} app=${state.app} />`}
      <button class="button primary" type="button" disabled=${!text.trim()} onClick=${send}>Send</button>
    </div>
  </div>`;
}

/** The app's global shortcuts, if it has any. */
function Shortcuts({ app }) {
  const items = app.shortcuts
    .filter((shortcut) => shortcut.kind === "global")
    .map(({ callback_id, name }) => ({
      label: name || callback_id,
      note: app.name,
      run: () => attempt(() => act("shortcut", { callback_id })),
    }));
  return items.length > 0 && html`<${Menu} label="Shortcuts" items=${items}><${Icon} name="app" /><//>`;
}

function Hints({ commands, text }) {
  if (!text.startsWith("/")) return null;
  const [word] = text.split(/\s/, 1);
  const fitting = commands.filter((command) => command.name.startsWith(word));
  return html`<ul class="command-hints" aria-label="Commands">
    ${fitting.map(
      ({ name, usage_hint, description }) =>
        html`<li><strong>${name}</strong> ${usage_hint} <small>${description}</small></li>`,
    )}
  </ul>`;
}
