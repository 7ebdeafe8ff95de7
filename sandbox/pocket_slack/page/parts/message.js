// One message with its menu, its blocks and a summary of its thread.

import { Component, html } from "../vendor/preact.js";
import { act, attempt } from "../actions.js";
import { Blocks } from "../blocks/index.js";
import { clockTime, fullTime } from "../blocks/dates.js";
import { emoji } from "../blocks/emoji.js";
import { Image } from "../blocks/image.js";
import { Link } from "../blocks/link.js";
import { Mrkdwn } from "../blocks/mrkdwn.js";
import { Surface } from "../blocks/surface.js";
import { authorOf } from "../store.js";
import { Avatar } from "./avatar.js";
import { Icon } from "./icon.js";
import { focusNeighbour } from "./keyboard.js";
import { MessageMenu, openThread } from "./message_menu.js";

const HAS_NO_MENU = /^(tombstone|channel_\w+)$/;
const STREAMING = { in_progress: "(writing)", errored: "(broken off)" };
const COMPARED = ["message", "isLast", "isWanted", "isThread"];

/** A message; redrawn only if a part of it has changed. */
export class Message extends Component {
  shouldComponentUpdate(next) {
    return (
      COMPARED.some((name) => next[name] !== this.props[name]) ||
      next.replies?.length !== this.props.replies?.length ||
      next.replies?.at(-1) !== this.props.replies?.at(-1) ||
      next.state.users !== this.props.state.users
    );
  }

  componentWillUnmount() {
    if (this.base.contains(document.activeElement)) focusNeighbour(this.base);
  }

  render({ state, channel, message, replies, isThread, isLast, isWanted }) {
    const author = state.users[authorOf(message)];
    const hasMenu = !message.is_ephemeral && !HAS_NO_MENU.test(message.subtype);
    // The same message may be both in the channel and in the thread.
    const id = `${isThread ? "thread" : "channel"}-${message.ts}`;
    const tabIndex = isLast ? 0 : -1; // until another message gets the focus
    return html`<li
      class="message ${message.is_ephemeral ? "ephemeral" : ""} ${isWanted ? "wanted" : ""}"
      data-ts=${message.ts}
      tabindex=${tabIndex}
      aria-labelledby="${id}-body"
    >
      <${Avatar} user=${author} />
      <div class="message-body" id="${id}-body">
        ${message.is_ephemeral && html`<p class="only-you"><${Icon} name="eye" /> Only visible to you</p>`}
        ${message.subtype === "thread_broadcast" && html`<p class="only-you">replied to a thread</p>`}
        <p class="message-head">
          <strong>${author.real_name}</strong>
          ${author.is_bot && html`<span class="app-badge">APP</span>`}
          <time title=${fullTime(message.ts)}>${clockTime(message.ts)}</time>
        </p>
        <${Content} id=${id} channel=${channel} message=${message} />
        <${Reactions} ...${{ state, channel, message, tabIndex }} />
        ${!isThread && replies && html`<${Replies} ...${{ state, channel, message, replies, tabIndex }} />`}
      </div>
      ${hasMenu && html`<${MessageMenu} ...${{ state, channel, message, isThread, tabIndex }} />`}
    </li>`;
  }
}

function Content({ id, channel, message }) {
  const surface = {
    id,
    click: (block, element, value) =>
      attempt(() =>
        act("click", {
          channel: channel.id,
          ts: message.ts,
          action_id: element.action_id,
          block_id: block.block_id,
          value,
        }),
      ),
    type() {},
    values: {},
    errors: {},
  };
  const title = message.assistant_app_thread?.title;
  const { blocks, attachments = [], files = [] } = title ? { ...message, blocks: [] } : message;
  return html`<${Surface.Provider} value=${surface}>
    <div class="content">
      ${title ? html`<p>${title}</p>` : html`<${Said} blocks=${blocks} text=${message.text} />`}
      ${message.edited && !title && html`<small class="edited" title=${fullTime(message.edited.ts)}>(edited)</small>`}
      ${STREAMING[message.streaming_state] && html`<small class="edited">${STREAMING[message.streaming_state]}</small>`}
      ${attachments.map((attachment) => html`<${Attachment} key=${attachment.id} attachment=${attachment} />`)}
      ${files.map((file) => html`<p class="file"><${Icon} name="file" /> ${file.name ?? file.title ?? file.id}</p>`)}
    </div>
  <//>`;
}

/** What an app attached, what Slack added for a link, or a message that was shared. */
function Attachment({ attachment }) {
  const { pretext, title, title_link: url, text, fallback = "", image_url: image, footer } = attachment;
  const by = attachment.service_name ?? attachment.author_name;
  const blocks = attachment.blocks ?? (attachment.message_blocks ?? []).flatMap(({ message }) => message.blocks ?? []);
  const hasOther = title || image || pretext;
  return html`<div class="attachment">
    ${pretext && html`<p><${Mrkdwn} text=${pretext} /></p>`}
    ${by && html`<p class="attached-by">${by}</p>`}
    ${title && html`<p class="card-title">${url ? html`<${Link} url=${url} label=${title} />` : title}</p>`}
    <${Said} blocks=${blocks} text=${text ?? (hasOther ? "" : fallback)} />
    ${image && html`<${Image} image=${{ image_url: image, alt_text: fallback || "A picture" }} />`}
    ${
      footer &&
      html`<p class="subtitle">${footer}${
        attachment.is_msg_unfurl && html` · <${Link} url=${attachment.from_url} label="View message" />`
      }</p>`
    }
  </div>`;
}

/** The blocks, or the text if there are none. */
function Said({ blocks = [], text }) {
  return blocks.length > 0 ? html`<${Blocks} blocks=${blocks} />` : html`<${Mrkdwn} text=${text} />`;
}

/** A press adds the person's reaction, or removes it. */
function Reactions({ state, channel, message, tabIndex }) {
  return (message.reactions ?? []).map(({ name, users, count }) => {
    const isMine = users.includes(state.me.id);
    const names = users.map((id) => state.users[id]?.profile.display_name ?? id).join(", ");
    const where = { channel: channel.id, ts: message.ts };
    return html`<button
      class="reaction"
      type="button"
      tabindex=${tabIndex}
      aria-pressed=${String(isMine)}
      title=":${name}: ${names}"
      onClick=${() => attempt(() => act(isMine ? "unreact" : "react", { ...where, name }))}
    >
      ${emoji(name)} ${count}
    </button>`;
  });
}

function Replies({ state, channel, message, replies, tabIndex }) {
  const forYou = replies.filter((reply) => reply.is_ephemeral).length;
  const count = replies.length - forYou;
  const authors = [...new Set(replies.map(authorOf))].slice(0, 4);
  const texts = [count && `${count} ${count === 1 ? "reply" : "replies"}`, forYou && `${forYou} only for you`];
  return html`<button
    class="open-thread replies"
    type="button"
    tabindex=${tabIndex}
    onClick=${() => openThread(channel, message)}
  >
    ${authors.map((id) => html`<${Avatar} user=${state.users[id]} isSmall />`)}
    <span>${texts.filter(Boolean).join(", ")}</span>
  </button>`;
}
