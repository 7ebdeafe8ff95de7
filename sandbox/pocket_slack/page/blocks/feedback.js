// https://docs.slack.dev/reference/block-kit/block-elements/feedback-buttons-element

import { html, useContext, useState } from "../vendor/preact.js";
import { Icon } from "../parts/icon.js";
import { plain } from "./mrkdwn.js";
import { Surface } from "./surface.js";

/** Thumbs up and down; the chosen one stays pressed, as in Slack. */
export function FeedbackButtons({ element, block }) {
  const surface = useContext(Surface);
  const [chosen, choose] = useState(null);
  const button = (choice, sign) =>
    html`<button
      class="button quiet"
      type="button"
      title=${plain(choice.text)}
      aria-label=${choice.accessibility_label ?? plain(choice.text)}
      aria-pressed=${String(chosen === choice.value)}
      onClick=${() => {
        choose(choice.value);
        surface.click(block, element, choice.value);
      }}
    >
      ${startsWithEmoji(choice.text) ? "" : html`<${Icon} name=${sign} />`} ${plain(choice.text)}
    </button>`;
  return html`<span class="feedback" role="group" aria-label="Feedback">
    ${button(element.positive_button, "up")}${button(element.negative_button, "down")}
  </span>`;
}

function startsWithEmoji({ text }) {
  return /^(:[\w+-]+:|\p{Emoji_Presentation})/u.test(text);
}
