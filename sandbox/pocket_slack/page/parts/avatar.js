import { html } from "../vendor/preact.js";

const COLOURS = 6;

/** The first letter of a user's name, on a colour made from their id. */
export function Avatar({ user, isSmall = false }) {
  const number = [...user.id].reduce((sum, character) => sum + character.charCodeAt(0), 0) % COLOURS;
  return html`<span class="avatar colour-${number} ${isSmall ? "small" : ""}" aria-hidden="true"
    >${user.real_name[0].toUpperCase()}</span
  >`;
}
