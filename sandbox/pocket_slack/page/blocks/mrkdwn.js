// Slack's mrkdwn: https://docs.slack.dev/messaging/formatting-message-text
// Texts may be hostile: they become text nodes and our own elements, never HTML.

import { html, useContext } from "../vendor/preact.js";
import { emoji } from "./emoji.js";
import { formatDate } from "./dates.js";
import { ChannelLink, Link } from "./link.js";
import { Names, channelName, userName } from "./names.js";

const ENTITIES = { amp: "&", lt: "<", gt: ">" };

const marked = (mark) => `(?<![\\w${mark}])\\${mark}(?=\\S)([^${mark}\\n]*?\\S)\\${mark}(?![\\w${mark}])`;
const INLINE = new RegExp(
  [
    "`([^`\\n]+)`",
    "<([^<>\\s][^<>]*)>",
    marked("*"),
    marked("_"),
    marked("~"),
    ":([a-z0-9_+'-]+):",
    "(https?://[^\\s<>|]*[^\\s<>|.,;:!?)])",
  ].join("|"),
  "g",
);

const REFERENCE = /<([^<>|]+)\|?([^<>]*)>/g;

/** The text with `&amp;`, `&lt;` and `&gt;` as characters. */
export function unescaped(text) {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => ENTITIES[name]);
}

/** What a person would type to get this text. */
export function toTyped(text, names) {
  const typed = text.replace(REFERENCE, (_, target, label) => {
    if (target.startsWith("@")) return `@${userName(names, target.slice(1))}`;
    if (target.startsWith("#")) return `#${label || channelName(names, target.slice(1))}`;
    return target;
  });
  return unescaped(typed);
}

/** A mrkdwn text. With `verbatim`, bare URLs do not become links. */
export function Mrkdwn({ text, verbatim = false }) {
  const names = useContext(Names);
  return html`<span class="text">${blocksOf(text, { names, verbatim })}</span>`;
}

/** A text object: plain_text or mrkdwn. */
export function Text({ text }) {
  if (text.type === "mrkdwn") return html`<${Mrkdwn} text=${text.text} verbatim=${text.verbatim} />`;
  return html`<span class="text">${plain(text)}</span>`;
}

/** A plain_text object, with its emoji. */
export function plain(text) {
  return text.emoji ? text.text.replace(/:([a-z0-9_+'-]+):/g, (_, name) => emoji(name)) : text.text;
}

function blocksOf(text, context) {
  // Every second part was between code fences.
  return text
    .split(/```\n?([\s\S]+?)\n?```\n?/)
    .map((part, index) =>
      index % 2
        ? html`<pre><code>${unescaped(part.replace(REFERENCE, (_, url, label) => label || url))}</code></pre>`
        : quotesOf(part, context),
    );
}

function quotesOf(text, context) {
  return text
    .split(/((?:^&gt;.*(?:\n|$))+)/m)
    .map((part, index) =>
      index % 2
        ? html`<blockquote>${inline(part.replace(/^&gt; ?/gm, "").replace(/\n$/, ""), context)}</blockquote>`
        : inline(part, context),
    );
}

function inline(text, context) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) parts.push(unescaped(text.slice(end, match.index)));
    parts.push(piece(match, context));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push(unescaped(text.slice(end)));
  return parts;
}

function piece([whole, code, reference, bold, italic, strike, name, url], context) {
  if (code) return html`<code>${unescaped(code)}</code>`;
  if (reference) return referred(reference, context);
  if (bold) return html`<strong>${inline(bold, context)}</strong>`;
  if (italic) return html`<em>${inline(italic, context)}</em>`;
  if (strike) return html`<s>${inline(strike, context)}</s>`;
  if (name) return emoji(name);
  return context.verbatim ? unescaped(url) : html`<${Link} url=${unescaped(url)} />`;
}

function referred(reference, { names }) {
  const [target, label] = split(reference);
  const id = target.slice(1);
  if (target.startsWith("@")) return html`<span class="mention">@${userName(names, id)}</span>`;
  if (target.startsWith("#")) return html`<${ChannelLink} id=${id} label=${label} />`;
  if (target.startsWith("!date^")) return dated(target, label);
  if (target.startsWith("!")) return html`<span class="mention">${label || `@${id.split("^")[0]}`}</span>`;
  return html`<${Link} url=${unescaped(target)} label=${label && unescaped(label)} />`;
}

function dated(target, fallback) {
  const [, timestamp, format, url] = target.split("^");
  const text = formatDate(timestamp, unescaped(format ?? ""), unescaped(fallback));
  return url ? html`<${Link} url=${unescaped(url)} label=${text} />` : html`<time>${text}</time>`;
}

function split(reference) {
  const bar = reference.indexOf("|");
  return bar < 0 ? [reference, ""] : [reference.slice(0, bar), reference.slice(bar + 1)];
}
