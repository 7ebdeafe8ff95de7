// Where people type: messages, and the app's slash commands.

import { html, useRef, useState } from "../vendor/preact.js";
import { attempt, say } from "../actions.js";
import { store } from "../store.js";

/** The box under a channel or a thread. */
export function Composer({ state, channel, threadTs, label }) {
  const box = useRef(null);
  const key = threadTs ?? channel.id;
  const text = state.drafts[key] ?? "";
  const setText = (draft) => store.dispatch({ type: "draft", data: { key, text: draft } });
  const [isBusy, setBusy] = useState(false);
  const id = threadTs ? "composer-thread" : "composer";
  const send = async () => {
    if (!text.trim() || isBusy) return;
    setBusy(true);
    const isSent = (await attempt(() => say(channel, text.trim(), threadTs))) !== null;
    setBusy(false);
    if (isSent) setText("");
    box.current?.focus();
  };
  const onKeyDown = (event) => {
    // During composition, Enter chooses a character.
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
      <button class="button primary" type="button" disabled=${!text.trim() || isBusy} onClick=${send}>Send</button>
    </div>
  </div>`;
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
