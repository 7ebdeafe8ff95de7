// The app as an assistant: the way to it, what it is doing, and the prompts that it suggests.

import { html, useEffect, useState } from "../vendor/preact.js";
import { act, attempt } from "../actions.js";
import { go } from "../place.js";
import { Icon } from "./icon.js";

const ROTATES_MS = 3000;

/** Opens a new thread with the app beside the channel `tab`. */
export function Ask({ app, place, tab }) {
  const open = async () => {
    const root = await attempt(() => act("open_assistant", tab ? { looking_at: tab } : {}));
    if (root) go({ channel: place.channel ?? tab, assistant: root.ts });
  };
  return html`<button class="button ask" type="button" onClick=${open} aria-label="Ask ${app.name}">
    <${Icon} name="app" /><span>Ask ${app.name}</span>
  </button>`;
}

/** What the app says that it is doing, with a link to that thread if there is one. */
export function Working({ app, thread, href }) {
  const { status, loading_messages: messages } = thread;
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!status || messages.length < 2) return undefined;
    const timer = setInterval(() => setTurn((last) => last + 1), ROTATES_MS);
    return () => clearInterval(timer);
  }, [status, messages.length]);
  if (!status) return null;
  const text = `${app.name} ${status}`;
  return html`<p class="working">
    <span role="status">${href ? html`<a href=${href}>${text}</a>` : text}</span>
    ${messages.length > 0 && html` <small>${messages[turn % messages.length]}</small>`}
  </p>`;
}

/** The prompts that the app suggests for a thread, or for all of its Messages tab; a press sends one. */
export function Prompts({ channel, ts, thread: { prompts, prompts_title: title } }) {
  if (prompts.length === 0) return null;
  return html`<section class="prompts" aria-label=${title || "Suggested prompts"}>
    ${title && html`<p>${title}</p>`}
    ${prompts.map(
      (prompt) =>
        html`<button
          class="button"
          type="button"
          title=${prompt.message}
          onClick=${() => attempt(() => act("post", { channel: channel.id, text: prompt.message, thread_ts: ts || null }))}
        >
          ${prompt.title}
        </button>`,
    )}
  </section>`;
}
