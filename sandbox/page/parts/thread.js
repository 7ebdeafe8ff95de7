// One thread, beside the channel; alone where there is little room.

import { html } from "../vendor/preact.js";
import { channelTitle } from "../blocks/names.js";
import { toHash } from "../place.js";
import { thread } from "../store.js";
import { Composer } from "./composer.js";
import { Icon } from "./icon.js";
import { Messages } from "./messages.js";

/** The pane on the right. */
export function Thread({ state, channel, ts }) {
  const { as, inspector } = state.place;
  const title = channelTitle({ users: state.users }, channel);
  return html`<aside class="pane thread" aria-label="Thread">
    <header>
      <h2>Thread</h2>
      <span class="members"
        >${!channel.is_im && html`<${Icon} name=${channel.is_private ? "lock" : "hash"} />`} ${title}</span
      >
      <a class="button quiet close" href=${toHash({ as, inspector, channel: channel.id })} aria-label="Close the thread"
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
    />
    ${
      (channel.is_member || channel.is_im) &&
      html`<${Composer} state=${state} channel=${channel} threadTs=${ts} label="Reply in the thread" />`
    }
  </aside>`;
}
