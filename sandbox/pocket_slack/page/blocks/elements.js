// Interactive elements: https://docs.slack.dev/reference/block-kit/block-elements
// They are native controls, which keyboards and screen readers support by themselves.

import { html, useContext } from "../vendor/preact.js";
import { confirmed } from "../actions.js";
import { Icon } from "../parts/icon.js";
import { Menu } from "../parts/menu.js";
import { Choices } from "./choices.js";
import { Image } from "./image.js";
import { plain } from "./mrkdwn.js";
import { Pick } from "./pickers.js";
import { Surface } from "./surface.js";

/** An element of a section or an actions block: clicks go to the app at once. */
export function Element({ element, block }) {
  const surface = useContext(Surface);
  if (element.type === "image") return html`<${Image} image=${element} isSmall />`;
  const send = (value) => confirmed(element.confirm, () => surface.click(block, element, value));
  if (element.type === "button") return html`<${Button} element=${element} send=${send} />`;
  if (element.type === "overflow") return html`<${Overflow} element=${element} send=${send} />`;
  const field = {
    id: `${surface.id}-${block.block_id}-${element.action_id}`,
    state: surface.values[block.block_id]?.[element.action_id],
    "aria-label": nameOf(element),
  };
  return html`<${Field} element=${element} field=${field} onInput=${() => {}} onDone=${send} />`;
}

/** A control that holds a value, in an input or elsewhere. */
export function Field({ element, field, onInput, onDone }) {
  const isChoice = element.type === "radio_buttons" || element.type === "checkboxes";
  return html`<${isChoice ? Choices : Pick} element=${element} field=${field} onInput=${onInput} onDone=${onDone} />`;
}

/** The small bin of a context_actions block. */
export function IconButton({ element, block }) {
  const surface = useContext(Surface);
  const send = () => confirmed(element.confirm, () => surface.click(block, element));
  return html`<button
    class="button quiet"
    type="button"
    onClick=${send}
    title=${plain(element.text)}
    aria-label=${element.accessibility_label ?? plain(element.text)}
  >
    <${Icon} name="trash" />
  </button>`;
}

function Button({ element, send }) {
  const look = { class: `button ${element.style ?? ""}`, "aria-label": element.accessibility_label };
  if (!element.url)
    return html`<button type="button" ...${look} onClick=${() => send()}>${plain(element.text)}</button>`;
  const href = /^https?:/i.test(element.url) ? element.url : undefined;
  return html`<a ...${look} href=${href} target="_blank" rel="noopener noreferrer" onClick=${() => send()}
    >${plain(element.text)}</a
  >`;
}

function Overflow({ element, send }) {
  const items = element.options.map((option) => ({
    label: plain(option.text),
    run() {
      if (/^https?:/i.test(option.url ?? "")) open(option.url, "_blank", "noopener");
      send(option.value);
    },
  }));
  return html`<${Menu} label="More options" items=${items}><${Icon} name="more" /><//>`;
}

function nameOf(element) {
  return element.placeholder ? plain(element.placeholder) : element.type.replaceAll("_", " ");
}
