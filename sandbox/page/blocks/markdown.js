// The markdown block: the part of Markdown that its reference lists, tables left out.
// https://docs.slack.dev/reference/block-kit/blocks/markdown-block

import { html } from "../vendor/preact.js";
import { emoji } from "./emoji.js";
import { Link } from "./link.js";

const INLINE = new RegExp(
  [
    "`([^`]+)`",
    "!?\\[([^\\]]*)\\]\\(([^)\\s]+)\\)",
    "\\*\\*(.+?)\\*\\*",
    "__(.+?)__",
    "~~(.+?)~~",
    "\\*([^*\\n]+)\\*",
    "(?<!\\w)_([^_\\n]+)_(?!\\w)",
    ":([a-z0-9_+-]+):",
    "(https?:\\/\\/[^\\s<>)]+)",
  ].join("|"),
  "g",
);

const LINES = [
  [/^#{1,6} +(.*)$/, "heading"],
  [/^(?:---+|\*\*\*+|___+)$/, "rule"],
  [/^> ?(.*)$/, "quote"],
  [/^\s*[-*+] +(.*)$/, "bullet"],
  [/^\s*\d+[.)] +(.*)$/, "number"],
  [/^\s*()$/, "blank"],
  [/^(.*)$/, "paragraph"],
];

const GROUPS = {
  heading: (lines) => lines.map((line) => html`<p class="heading">${inline(line)}</p>`),
  rule: () => html`<hr />`,
  quote: (lines) => html`<blockquote class="text">${inline(lines.join("\n"))}</blockquote>`,
  bullet: (lines) =>
    html`<ul>
      ${lines.map((line) => html`<li>${inline(line)}</li>`)}
    </ul>`,
  number: (lines) =>
    html`<ol>
      ${lines.map((line) => html`<li>${inline(line)}</li>`)}
    </ol>`,
  blank: () => null,
  paragraph: (lines) => html`<p class="text">${inline(lines.join("\n"))}</p>`,
};

/** A markdown text. */
export function Markdown({ text }) {
  const parts = text.split(/^```\w*\n([\s\S]*?)\n?```$/m);
  return html`<div class="markdown">
    ${parts.map((part, index) => (index % 2 ? html`<pre><code>${part}</code></pre>` : grouped(part)))}
  </div>`;
}

function grouped(text) {
  const groups = [];
  for (const line of text.split("\n")) {
    const [kind, content] = classified(line);
    const last = groups.at(-1);
    if (last?.kind === kind) last.lines.push(content);
    else groups.push({ kind, lines: [content] });
  }
  return groups.map(({ kind, lines }) => GROUPS[kind](lines));
}

function classified(line) {
  for (const [pattern, kind] of LINES) {
    const match = line.match(pattern);
    if (match) return [kind, match[1] ?? ""];
  }
}

function inline(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(end, match.index), piece(match));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function piece([, code, label, url, bold, bold2, strike, italic, italic2, name, bare]) {
  if (code) return html`<code>${code}</code>`;
  if (url) return html`<${Link} url=${url}>${inline(label || url)}</${Link}>`;
  if (bold || bold2) return html`<strong>${inline(bold || bold2)}</strong>`;
  if (strike) return html`<s>${inline(strike)}</s>`;
  if (name) return emoji(name);
  if (bare) return html`<${Link} url=${bare} />`;
  return html`<em>${inline(italic || italic2)}</em>`;
}
