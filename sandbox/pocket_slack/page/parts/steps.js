// What a visitor may try, each ticked once it is done.

import { html } from "../vendor/preact.js";
import { Mrkdwn } from "../blocks/mrkdwn.js";
import { Icon } from "./icon.js";

/** The list of steps; nothing if there are none. @param {{steps: {text: string, is_done: boolean}[]}} props */
export function Steps({ steps }) {
  if (steps.length === 0) return null;
  const done = steps.filter((step) => step.is_done).length;
  return html`<section class="steps" aria-labelledby="steps-title">
    <h2 id="steps-title">
      First steps <span class="members">${done} of ${steps.length}<span class="sr-only"> done</span></span>
    </h2>
    <ol>
      ${steps.map(
        ({ text, is_done }) =>
          html`<li class=${is_done ? "done" : ""}>
            <span class="tick">${is_done && html`<${Icon} name="done" /><span class="sr-only">Done: </span>`}</span>
            <div><${Mrkdwn} text=${text} /></div>
          </li>`,
      )}
    </ol>
  </section>`;
}
