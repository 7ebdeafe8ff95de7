// Editing a message by its author.

import { html, useContext, useEffect, useRef } from "../vendor/preact.js";
import { act, attempt } from "../actions.js";
import { toTyped } from "../blocks/mrkdwn.js";
import { Names } from "../blocks/names.js";
import { store } from "../store.js";
import { openFocused } from "./modal.js";

/** A window with the text of a message, as it was typed. */
export function Edit({ channel, message }) {
  const names = useContext(Names);
  const dialog = useRef(null);
  const box = useRef(null);
  useEffect(() => openFocused(dialog.current), []);
  const close = (event) => {
    event.preventDefault();
    store.dispatch({ type: "editing", data: null });
  };
  const save = (event) => {
    close(event);
    attempt(() => act("edit", { channel: channel.id, ts: message.ts, text: box.current.value }));
  };
  return html`<dialog class="modal" ref=${dialog} aria-labelledby="edit-title" onCancel=${close}>
    <form onSubmit=${save}>
      <header><h2 id="edit-title">Edit message</h2></header>
      <div class="modal-body">
        <textarea
          rows="5"
          required
          ref=${box}
          aria-label="Text"
          onInput=${refuseBlanks}
          defaultValue=${toTyped(message.text, names)}
        ></textarea>
      </div>
      <footer>
        <button class="button" type="button" onClick=${close}>Cancel</button>
        <button class="button primary" type="submit">Save</button>
      </footer>
    </form>
  </dialog>`;
}

function refuseBlanks({ target }) {
  target.setCustomValidity(target.value.trim() ? "" : "A message needs a text; delete it instead.");
}
