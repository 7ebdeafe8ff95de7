// The actions on a message, including the app's shortcuts.

import { html, useEffect, useRef } from "../vendor/preact.js";
import { act, attempt, confirmed, tell } from "../actions.js";
import { go, toPermalink } from "../place.js";
import { store } from "../store.js";
import { Icon } from "./icon.js";
import { Menu } from "./menu.js";

const DELETION = {
  title: { text: "Delete message" },
  text: { type: "plain_text", text: "The message goes for everybody; this cannot be undone." },
  confirm: { text: "Delete" },
  deny: { text: "Cancel" },
  style: "danger",
};

/** Reply, and all other actions on a message. */
export function MessageMenu({ state, channel, message, isThread, tabIndex }) {
  const root = useRef(null);
  useEffect(() => giveBackFocus(root.current), []);
  const where = { channel: channel.id, ts: message.ts };
  const shortcuts = state.app.shortcuts.filter((shortcut) => shortcut.kind === "message");
  const items = [
    ...shortcuts.map(({ callback_id, name }) => ({
      label: name || callback_id,
      note: state.app.name,
      run: () => attempt(() => act("shortcut", { ...where, callback_id })),
    })),
    { label: "Add reaction", run: () => store.dispatch({ type: "reacting", data: { channel, message } }) },
    { label: "Copy link", run: () => copyLink(toPermalink(state.team, channel, message)) },
  ];
  if (message.user === state.me.id) {
    items.push({ label: "Edit message", run: () => store.dispatch({ type: "editing", data: { channel, message } }) });
    const remove = () => attempt(() => act("delete", where));
    items.push({ label: "Delete message", run: () => confirmed(DELETION, remove) });
  }
  return html`<div class="message-menu" ref=${root}>
    ${
      !isThread &&
      html`<button
        class="button quiet open-thread"
        type="button"
        tabindex=${tabIndex}
        aria-label="Reply in thread"
        title="Reply in thread"
        onClick=${() => openThread(channel, message)}
      >
        <${Icon} name="thread" />
      </button>`
    }
    <${Menu} label="More actions" items=${items} tabIndex=${tabIndex}><${Icon} name="more" /><//>
  </div>`;
}

/** Moves the focus to the message when its menu goes: a deleted message with replies stays, without a menu. */
function giveBackFocus(menu) {
  const message = menu.closest("li.message");
  return () => menu.contains(document.activeElement) && message.focus();
}

/** Goes to the thread of a message. */
export function openThread(channel, message) {
  go({ channel: channel.id, thread: message.thread_ts ?? message.ts });
}

async function copyLink(link) {
  try {
    await navigator.clipboard.writeText(link);
    tell("The link is copied.");
  } catch {
    tell(link); // without permission for the clipboard, the link can be copied by hand
  }
}
