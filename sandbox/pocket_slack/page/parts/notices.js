// The page's own messages to the person.

import { html, useContext, useEffect, useRef } from "../vendor/preact.js";
import { toTyped } from "../blocks/mrkdwn.js";
import { Names } from "../blocks/names.js";
import { store } from "../store.js";
import { Icon } from "./icon.js";
import { KEYS } from "./keyboard.js";

const SETTLED_MS = 1000;

/** One sentence, usually about what did not work; it stays until it is closed. */
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

/** Tells screen readers about new messages and changed messages of apps, and about nothing else. */
export function Announcer({ channel, users }) {
  const names = useContext(Names);
  const before = useRef(null);
  const later = useRef({});
  const region = useRef(null);
  useEffect(() => {
    const [news, known] = newsOf(before.current, channel);
    before.current = channel;
    if (!news) return;
    const { ts, user, thread_ts, text } = news;
    const say = (what) => (region.current.textContent = `${what}: ${toTyped(text, names)}`);
    if (!known) say(thread_ts ? "New message in a thread" : "New message");
    else if (users[user]?.is_bot) {
      // A text that is written piece by piece is read out once, after it has stopped changing.
      clearTimeout(later.current[ts]);
      later.current[ts] = setTimeout(say, SETTLED_MS, "Changed message");
    }
  }, [channel]);
  return html`<div class="sr-only" aria-live="polite" ref=${region}></div>`;
}

/** The newest message whose text has changed, and its version before; empty after a change of channels. */
function newsOf(before, channel) {
  if (!channel || before?.id !== channel.id) return [];
  const known = new Map(before.messages.map((message) => [message.ts, message]));
  const news = channel.messages.findLast((message) => message.text !== known.get(message.ts)?.text);
  return [news, known.get(news?.ts)];
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
