// The markdown block: the Markdown that its reference lists, and nested lists.
// https://docs.slack.dev/reference/block-kit/blocks/markdown-block

import { html } from "../vendor/preact.js";
import { emoji } from "./emoji.js";
import { Link } from "./link.js";

const INLINE = new RegExp(
  [
    "\\\\([!-/:-@[-`{-~])",
    "`([^`]+)`",
    "!?\\[([^\\]]*)\\]\\(([^)\\s]+)\\)",
    "\\*\\*\\*(.+?)\\*\\*\\*",
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
  [/^(\s*(?:[-*+]|\d+[.)]) +.*)$/, "list"],
  [/^\s*(\|.*\|)\s*$/, "table"],
  [/^\s*()$/, "blank"],
  [/^(.*)$/, "paragraph"],
];

const GROUPS = {
  heading: (lines) => lines.map((line) => html`<p class="heading">${inline(line)}</p>`),
  rule: () => html`<hr />`,
  quote: (lines) => html`<blockquote class="text">${inline(lines.join("\n"))}</blockquote>`,
  list: (lines) => lists(lines.map(item)),
  table: (lines) => (DELIMITERS.test(lines[1]) ? table(lines.map(cells)) : GROUPS.paragraph(lines)),
  blank: () => null,
  paragraph: (lines) => html`<p class="text">${inline(lines.join("\n"))}</p>`,
};

const DELIMITERS = /^\|(?:\s*:?-+:?\s*\|)+$/;
const NESTED_BY = 2;

/** A markdown text. */
export function Markdown({ text }) {
  const parts = text.split(/^```[^\n`]*\n([\s\S]*?)\n?```$/m);
  return html`<div class="markdown">
    ${parts.map((part, index) => (index % 2 ? html`<pre><code>${part}</code></pre>` : grouped(part)))}
  </div>`;
}

function grouped(text) {
  const groups = [];
  for (const line of text.split("\n")) {
    const [kind, content] = classified(line);
    if (kind === "list" && groups.at(-1)?.kind === "blank" && groups.at(-2)?.kind === "list") groups.pop();
    const last = groups.at(-1);
    if (last?.kind === kind) last.lines.push(content);
    else if (last?.kind === "list" && kind === "paragraph" && /^\s/.test(line))
      last.lines.push(`${last.lines.pop()}\n${line.trim()}`);
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

function item(line) {
  const [, space, mark, task, text] = line.match(/^(\s*)([-*+]|\d+[.)]) +(?:\[([ xX])\] )?([\s\S]*)$/);
  const number = parseInt(mark, 10);
  return { indent: space.replaceAll("\t", "    ").length, number, isOrdered: !Number.isNaN(number), task, text };
}

/** Items of one depth, each with its nested items. A change between bullets and numbers starts a new list. */
function lists(all) {
  const found = [];
  for (const each of all) {
    const last = found.at(-1);
    const above = last?.items.at(-1);
    if (above && each.indent >= above.indent + NESTED_BY) above.children.push(each);
    else if (last?.isOrdered === each.isOrdered) last.items.push({ ...each, children: [] });
    else found.push({ isOrdered: each.isOrdered, items: [{ ...each, children: [] }] });
  }
  return found.map(({ isOrdered, items }) => {
    const entries = items.map(
      ({ task, text, children }) =>
        html`<li class="text ${task ? "task" : ""}">${task && tick(task)}${inline(text)}${lists(children)}</li>`,
    );
    return isOrdered
      ? html`<ol start=${items[0].number}>
          ${entries}
        </ol>`
      : html`<ul>
          ${entries}
        </ul>`;
  });
}

function tick(task) {
  const isDone = task !== " ";
  return html`<input type="checkbox" disabled checked=${isDone} aria-label=${isDone ? "Done" : "To do"} />`;
}

function cells(row) {
  const inner = row.slice(1, -1);
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll("\\|", "|").trim());
}

function table([head, delimiters, ...rows]) {
  const aligned = (index) => {
    const mark = delimiters[index] ?? "";
    const side = mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "right") : "left";
    return `align-${side}`;
  };
  const each = (row) => head.map((_, index) => html`<td class=${aligned(index)}>${inline(row[index] ?? "")}</td>`);
  return html`<div class="grid" role="group" aria-label="Table" tabindex="0">
    <table>
      <thead>
        <tr>
          ${head.map((cell, index) => html`<th scope="col" class=${aligned(index)}>${inline(cell)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${each(row)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
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

function piece([, escaped, code, label, url, both, bold, bold2, strike, italic, italic2, name, bare]) {
  if (escaped) return escaped;
  if (code) return html`<code>${code}</code>`;
  if (url) return html`<${Link} url=${url}>${inline(label || url)}</${Link}>`;
  if (both) return html`<strong><em>${inline(both)}</em></strong>`;
  if (bold || bold2) return html`<strong>${inline(bold || bold2)}</strong>`;
  if (strike) return html`<s>${inline(strike)}</s>`;
  if (name) return emoji(name);
  if (bare) return html`<${Link} url=${bare} />`;
  return html`<em>${inline(italic || italic2)}</em>`;
}
