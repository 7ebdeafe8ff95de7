// Radio buttons and checkboxes, each a group of native inputs.

import { html, useEffect, useState } from "../vendor/preact.js";
import { Text } from "./mrkdwn.js";
import { initialValue } from "./values.js";

/** A choice of one or several options. */
export function Choices({ element, field, onInput, onDone }) {
  const isMany = element.type === "checkboxes";
  const known = [initialValue(element, field.state) ?? []].flat();
  const [chosen, choose] = useState(known);
  useEffect(() => choose(known), [String(known)]); // if it was chosen in another tab
  const pick = (value, isOn) => {
    const next = isMany ? [...chosen.filter((one) => one !== value), ...(isOn ? [value] : [])] : [value];
    choose(next);
    const result = isMany ? next : value;
    onInput(result);
    onDone(result);
  };
  const { id, state, required, ...aria } = field;
  return html`<div class="choices" id=${id} role=${isMany ? "group" : "radiogroup"} ...${aria}>
    ${element.options.map(
      (option) =>
        html`<label class="choice" key=${option.value}>
          <input
            type=${isMany ? "checkbox" : "radio"}
            name=${id}
            value=${option.value}
            checked=${chosen.includes(option.value)}
            onChange=${(event) => pick(option.value, event.target.checked)}
          />
          <span
            ><${Text}
              text=${option.text}
            />${option.description && html`<small><${Text} text=${option.description} /></small>`}</span
          >
        </label>`,
    )}
  </div>`;
}
