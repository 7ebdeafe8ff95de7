// https://docs.slack.dev/reference/block-kit/blocks/rich-text-block

import { html, useContext } from "../vendor/preact.js";
import { emoji } from "./emoji.js";
import { formatDate } from "./dates.js";
import { ChannelLink, Link } from "./link.js";
import { Names, userName } from "./names.js";
import { own } from "./lookup.js";

const STYLES = [
  ["bold", "strong"],
  ["italic", "em"],
  ["strike", "s"],
  ["underline", "u"],
  ["highlight", "mark"],
  ["code", "code"],
];

const INLINE = {
  text: (element) => element.text,
  link: (element) => html`<${Link} url=${element.url} label=${element.text} />`,
  emoji: (element) => emoji(element.name),
  user: (element, names) => html`<span class="mention">@${userName(names, element.user_id)}</span>`,
  usergroup: (element) => html`<span class="mention">@${element.usergroup_id}</span>`,
  channel: (element) => html`<${ChannelLink} id=${element.channel_id} />`,
  broadcast: (element) => html`<span class="mention">@${element.range}</span>`,
  citation: (element) => html`<sup>[<${Link} url=${element.url} label=${element.text} />]</sup>`,
  tag: (element) => html`<span class="app-badge">${element.text}</span>`,
  color: (element) => html`<code>${element.value}</code>`,
  date: (element) => html`<time>${formatDate(element.timestamp, element.format, element.fallback)}</time>`,
};

const OUTER = {
  rich_text_section: (element, names) => html`<div class="text">${inline(element, names)}</div>`,
  rich_text_preformatted: (element, names) => html`<pre><code>${inline(element, names)}</code></pre>`,
  rich_text_quote: (element, names) => html`<blockquote class="text">${inline(element, names)}</blockquote>`,
  rich_text_list: (element, names) => {
    const items = element.elements.map((item) => html`<li class="text">${inline(item, names)}</li>`);
    const indent = `indent-${element.indent ?? 0}`;
    return element.style === "ordered"
      ? html`<ol class=${indent} start=${(element.offset ?? 0) + 1}>
          ${items}
        </ol>`
      : html`<ul class=${indent}>
          ${items}
        </ul>`;
  },
};

/** A rich_text block. */
export function RichText({ block }) {
  const names = useContext(Names);
  return html`<div class="rich-text">${block.elements.map((element) => drawn(OUTER, element, names))}</div>`;
}

function drawn(table, element, names) {
  return own(table, element.type)?.(element, names) ?? html`<code>${JSON.stringify(element)}</code>`;
}

function inline({ elements }, names) {
  return elements.map((element) =>
    STYLES.reduce(
      (inner, [style, tag]) => (element.style?.[style] ? html`<${tag}>${inner}</${tag}>` : inner),
      drawn(INLINE, element, names),
    ),
  );
}
