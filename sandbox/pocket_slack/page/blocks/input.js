// https://docs.slack.dev/reference/block-kit/blocks/input-block

import { html, useContext, useState } from "../vendor/preact.js";
import { Field } from "./elements.js";
import { plain } from "./mrkdwn.js";
import { Surface } from "./surface.js";

/** A labelled field with its hint, its error, and the number of characters left if there are few. */
export function Input({ block }) {
  const surface = useContext(Surface);
  const { element } = block;
  const id = `${surface.id}-${block.block_id}`;
  const error = surface.errors[block.block_id];
  const [length, setLength] = useState(null);
  const field = {
    id,
    state: surface.values[block.block_id]?.[element.action_id],
    "aria-labelledby": `${id}-label`,
    "aria-describedby": [block.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || undefined,
    "aria-invalid": error ? "true" : undefined,
    "aria-required": block.optional ? undefined : "true",
  };
  const onInput = (value) => {
    if (element.type === "plain_text_input") setLength(value.length);
    surface.type(block, element, value, false);
  };
  return html`<div class="block input ${error ? "has-error" : ""}">
    <label class="label" id="${id}-label" for=${id}
      >${plain(block.label)}${block.optional && html`<small> (optional)</small>`}</label
    >
    <${Field}
      element=${element}
      field=${forKind(element, field)}
      onInput=${onInput}
      onDone=${(value) => surface.type(block, element, value, true)}
    />
    ${roomLeft(element, length)} ${block.hint && html`<p class="hint" id="${id}-hint">${plain(block.hint)}</p>`}
    ${error && html`<p class="error" id="${id}-error">${error}</p>`}
  </div>`;
}

function forKind(element, { "aria-required": required, ...field }) {
  // A group of checkboxes may not have `aria-required`: https://www.w3.org/TR/wai-aria-1.2/#aria-required
  return element.type === "checkboxes" ? field : { ...field, "aria-required": required };
}

function roomLeft(element, length) {
  const left = (element.max_length ?? 3000) - length;
  return length !== null && left < 100 ? html`<p class="hint" aria-live="polite">${left} characters left</p>` : null;
}
