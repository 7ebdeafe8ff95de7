// What the page says on its own behalf.

import { html, useEffect, useRef } from "../vendor/preact.js";
import { store } from "../store.js";
import { Icon } from "./icon.js";
import { KEYS } from "./keyboard.js";

/** One sentence about what did not work; stays until it is closed. */
export function Notice({ text }) {
  const close = () => store.dispatch({ type: "notice", data: null });
  return html`<div class="notice" role="alert" hidden=${!text}>
    ${
      text &&
      html`<span>${text}</span>
        <button class="button quiet" type="button" aria-label="Close" onClick=${close}>
          <${Icon} name="close" />
        </button>`
    }
  </div>`;
}

/** Tells screen readers about new messages, and only about those. */
export function Announcer({ channel, thread }) {
  const said = useRef(null);
  const region = useRef(null);
  const last = channel?.messages.at(-1);
  useEffect(() => {
    const isNew = said.current?.channel === channel?.id && said.current.ts !== last?.ts;
    if (isNew && last) region.current.textContent = `New message${last.thread_ts ? " in a thread" : ""}: ${last.text}`;
    said.current = { channel: channel?.id, ts: last?.ts };
  }, [channel?.id, last?.ts, thread]);
  return html`<div class="sr-only" aria-live="polite" ref=${region}></div>`;
}

/** The keyboard shortcuts. */
export function Keys() {
  return html`<dialog id="keys" class="modal question" aria-labelledby="keys-title">
    <form method="dialog">
      <header><h2 id="keys-title">Keys</h2></header>
      <div class="modal-body">
        <dl>
          ${KEYS.map(
            ([keys, what]) =>
              html`<dt><kbd>${keys}</kbd></dt>
                <dd>${what}</dd>`,
          )}
        </dl>
      </div>
      <footer><button class="button primary" type="submit">Close</button></footer>
    </form>
  </dialog>`;
}
