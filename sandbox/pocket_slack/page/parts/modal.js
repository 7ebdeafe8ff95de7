// Modals: https://docs.slack.dev/surfaces/modals. The native <dialog> keeps the focus inside and the page behind inert.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { act, attempt, confirmed } from "../actions.js";
import { Blocks } from "../blocks/index.js";
import { Text, plain } from "../blocks/mrkdwn.js";
import { Surface } from "../blocks/surface.js";
import { store } from "../store.js";
import { Icon } from "./icon.js";

/** The modal in front. */
export function Modal({ view }) {
  const dialog = useRef(null);
  const typed = useRef({});
  const [refused, setRefused] = useState({});
  const [isBusy, setBusy] = useState(false);
  const pointed = useRef({});
  useEffect(() => openFocused(dialog.current), []);
  useEffect(() => setRefused({}), [view.hash]);
  const errors = { ...view.errors, ...refused };
  useEffect(() => {
    const isNew = Object.keys(errors).some((block) => !(block in pointed.current));
    pointed.current = errors;
    if (isNew) dialog.current.querySelector("[aria-invalid=true]")?.focus();
  });
  const forgive = ({ block_id: block }) =>
    setRefused((all) => {
      const { [block]: mended, ...others } = all;
      return mended ? others : all;
    });

  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setRefused({});
    setRefused((await attempt(() => act("submit", { state: typed.current })))?.errors ?? {});
    setBusy(false);
  };
  const close = (event) => {
    event.preventDefault();
    attempt(() => act("close"));
  };
  return html`<dialog class="modal" ref=${dialog} aria-labelledby="modal-title" onCancel=${close}>
    <form novalidate onSubmit=${submit}>
      <header>
        <h2 id="modal-title">${plain(view.title)}</h2>
        <button class="button quiet" type="button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
      </header>
      <div class="modal-body">
        ${errors[""] && html`<p class="error banner" role="alert">${errors[""]}</p>`}
        <${Surface.Provider} value=${surfaceOf(view, typed.current, errors, forgive)}
          ><${Blocks} blocks=${view.blocks}
        /><//>
      </div>
      <footer>
        <button class="button" type="button" onClick=${close}>${view.close ? plain(view.close) : "Cancel"}</button>
        ${
          view.submit &&
          html`<button
            class="button primary"
            type="submit"
            aria-busy=${String(isBusy)}
            disabled=${isBusy || view.submit_disabled}
          >
            ${isBusy ? "Sending…" : plain(view.submit)}
          </button>`
        }
      </footer>
    </form>
  </dialog>`;
}

/**
 * A confirmation that the app wants before a click.
 * https://docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object
 */
export function Question({ question: { confirm, proceed } }) {
  const dialog = useRef(null);
  useEffect(() => openFocused(dialog.current), []);
  const answer = (isYes) => (event) => {
    event.preventDefault();
    store.dispatch({ type: "question", data: null });
    if (isYes) proceed();
  };
  return html`<dialog class="modal question" ref=${dialog} aria-labelledby="question-title" onCancel=${answer(false)}>
    <form onSubmit=${answer(true)}>
      <header><h2 id="question-title">${plain(confirm.title)}</h2></header>
      <div class="modal-body"><${Text} text=${confirm.text} /></div>
      <footer>
        <button class="button" type="button" onClick=${answer(false)}>${plain(confirm.deny)}</button>
        <button class="button ${confirm.style ?? "primary"}" type="submit">${plain(confirm.confirm)}</button>
      </footer>
    </form>
  </dialog>`;
}

function surfaceOf(view, typed, errors, forgive) {
  const keep = (block, element, value) => {
    typed[block.block_id] = { ...typed[block.block_id], [element.action_id]: value };
  };
  const at = (block, element, value) => ({ action_id: element.action_id, block_id: block.block_id, value });
  const click = (block, element, value) => attempt(() => act("click", { ...at(block, element, value), state: typed }));
  return {
    id: view.id,
    values: view.state.values,
    errors,
    click(block, element, value) {
      if (value !== undefined && element.type !== "overflow") keep(block, element, value);
      click(block, element, value);
    },
    type(block, element, value, isDone) {
      keep(block, element, value);
      forgive(block);
      if (!isDone) return;
      // Also kept by the server, for reloads and other tabs.
      if (block.dispatch_action) click(block, element, value);
      else attempt(() => act("fill", { state: { [block.block_id]: { [element.action_id]: value } } }));
    },
  };
}

/** Opens a dialog and moves the focus to its first field; returns a function that closes it. */
export function openFocused(dialog) {
  dialog.showModal();
  dialog.querySelector("input, textarea, select, button[type=submit]")?.focus();
  return () => dialog.close(); // this returns the focus to where it was
}
