// One channel: its heading, its messages and its composer.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { channelTitle } from "../blocks/names.js";
import { act, attempt } from "../actions.js";
import { toHash } from "../place.js";
import { repliesByParent, topLevel } from "../store.js";
import { Prompts, Working } from "./assistant.js";
import { Composer } from "./composer.js";
import { Head } from "./head.js";
import { Icon } from "./icon.js";
import { Messages } from "./messages.js";

/** The middle pane. */
export function Channel({ state, channel }) {
  const title = channelTitle({ users: state.users }, channel);
  const count = channel.num_members;
  const canPost = channel.is_member || channel.is_im;
  const [sent, setSent] = useState(0);
  const { as, inspector, thread: open } = state.place;
  const hrefOf = (ts) => (ts === open ? undefined : toHash({ as, inspector, channel: channel.id, thread: ts }));
  const isMessagesTab = channel.is_im && state.app.has_messages_tab;
  useJoinedFocus(canPost);
  useEffect(() => {
    if (isMessagesTab) act("open_messages").catch(() => {});
  }, [isMessagesTab, as]);
  return html`<main class="pane channel" aria-label=${title}>
    <${Head} state=${state} tab=${channel.id}>
      <h1>${!channel.is_im && html`<${Icon} name=${channel.is_private ? "lock" : "hash"} />`}${title}</h1>
      ${count !== undefined && html`<span class="members">${count} members</span>`}
    <//>
    ${channel.threads[""] && html`<${Prompts} channel=${channel} thread=${channel.threads[""]} />`}
    <${Messages}
      state=${state}
      channel=${channel}
      messages=${topLevel(channel)}
      replies=${repliesByParent(channel)}
      label="Messages in ${title}"
      at=${state.place.thread ? undefined : state.place.at}
      sent=${sent}
    />
    ${Object.entries(channel.threads).map(
      ([ts, thread]) => html`<${Working} key=${ts} app=${state.app} thread=${thread} href=${hrefOf(ts)} />`,
    )}
    ${
      canPost
        ? html`<${Composer} ...${{ state, channel }} label="Message to ${title}" onSend=${() => setSent(sent + 1)} />`
        : html`<${Join} channel=${channel} title=${title} />`
    }
  </main>`;
}

/** Moves the focus to the composer after Join was pressed, because the composer replaces that button. */
function useJoinedFocus(canPost) {
  const could = useRef(canPost);
  useEffect(() => {
    if (canPost && !could.current && document.activeElement === document.body)
      document.getElementById("composer").focus();
    could.current = canPost;
  }, [canPost]);
}

function Join({ channel, title }) {
  const join = () => attempt(() => act("join", { channel: channel.id }));
  return html`<p class="join">
    You are not in #${title}. <button class="button primary" type="button" onClick=${join}>Join</button>
  </p>`;
}
