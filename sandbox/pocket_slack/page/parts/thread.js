// One thread, beside the channel; alone if there is little room.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { act, attempt } from "../actions.js";
import { channelTitle } from "../blocks/names.js";
import { toHash } from "../place.js";
import { thread } from "../store.js";
import { Prompts, Working } from "./assistant.js";
import { Composer } from "./composer.js";
import { Icon } from "./icon.js";
import { Messages } from "./messages.js";

/** The pane on the right. */
export function Thread({ state, channel, ts, closed = channel }) {
  const { as, inspector } = state.place;
  const shown = channel.threads[ts];
  const title = channelTitle({ users: state.users }, channel);
  const pane = useRef(null);
  const [sent, setSent] = useState(0);
  useEffect(() => comeAndGo(pane.current, ts), []);
  return html`<aside class="pane thread" aria-label="Thread" ref=${pane}>
    <header>
      <h1>${shown?.title || "Thread"}</h1>
      <span class="members"
        >${!channel.is_im && html`<${Icon} name=${channel.is_private ? "lock" : "hash"} />`} ${title}</span
      >
      <a class="button quiet close" href=${toHash({ as, inspector, channel: closed?.id ?? "home" })} aria-label="Close the thread"
        ><${Icon} name="close"
      /></a>
    </header>
    <${Messages}
      state=${state}
      channel=${channel}
      messages=${thread(channel, ts)}
      label="Messages in the thread"
      isThread
      at=${state.place.at}
      sent=${sent}
    />
    ${shown && html`<${Working} app=${state.app} thread=${shown} /><${Prompts} ...${{ channel, ts, thread: shown }} />`}
    ${
      (channel.is_member || channel.is_im) &&
      html`<${Composer}
        ...${{ state, channel }}
        threadTs=${ts}
        label="Reply in the thread"
        onSend=${() => setSent(sent + 1)}
      />`
    }
  </aside>`;
}

/** A thread with the app beside a channel; the app is told when the person goes to another channel, `lookedAt`. */
export function AssistantPane({ state, direct, lookedAt }) {
  const known = useRef(lookedAt?.id);
  useEffect(() => {
    if (lookedAt && lookedAt.id !== known.current) attempt(() => act("look_at", { channel: lookedAt.id }));
    known.current = lookedAt?.id;
  }, [lookedAt?.id]);
  return html`<${Thread} state=${state} channel=${direct} ts=${state.place.assistant} closed=${lookedAt} />`;
}

/** Moves the focus into an opened thread; returns a function that moves it back to the message in the channel. */
function comeAndGo(pane, ts) {
  const isLoading = document.activeElement === document.body;
  if (!isLoading) (pane.querySelector("textarea") ?? pane.querySelector(".close")).focus();
  return () => {
    if (!pane.contains(document.activeElement)) return;
    const message = document.querySelector(`main [data-ts="${ts}"]`) ?? document.getElementById("composer");
    message?.focus();
  };
}
