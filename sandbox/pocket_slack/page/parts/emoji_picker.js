// Choosing an emoji for a reaction.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { act, attempt } from "../actions.js";
import { findEmoji } from "../blocks/emoji.js";
import { store } from "../store.js";
import { openFocused } from "./modal.js";

/** A window to search the emoji by name; Enter takes the first one found. */
export function EmojiPicker({ channel, message }) {
  const dialog = useRef(null);
  const [text, setText] = useState("");
  useEffect(() => openFocused(dialog.current), []);
  const found = findEmoji(text.toLowerCase().replace(/^:|:$/g, "").replaceAll(" ", "_"));
  const close = (event) => {
    event.preventDefault();
    store.dispatch({ type: "reacting", data: null });
  };
  const choose = (event, chosen) => {
    close(event);
    attempt(() => act("react", { channel: channel.id, ts: message.ts, name: chosen.names[0] }));
  };
  const submit = (event) => (found.length > 0 ? choose(event, found[0]) : event.preventDefault());
  return html`<dialog class="modal emoji-picker" ref=${dialog} aria-label="Choose an emoji" onCancel=${close}>
    <form onSubmit=${submit}>
      <header>
        <input
          type="search"
          aria-label="Name of the emoji"
          placeholder="Name, such as mag"
          value=${text}
          onInput=${(event) => setText(event.target.value)}
        />
        <button class="button" type="button" onClick=${close}>Cancel</button>
      </header>
      <ul class="modal-body">
        ${found.map(
          (one) =>
            html`<li key=${one.character}>
              <button class="button quiet" type="button" onClick=${(event) => choose(event, one)}>
                <span>${one.character}</span> :${one.names[0]}:
              </button>
            </li>`,
        )}
        ${found.length === 0 && html`<li>No emoji has "${text}" in its name.</li>`}
      </ul>
    </form>
  </dialog>`;
}
