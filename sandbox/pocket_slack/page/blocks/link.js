// Links. Only schemes that cannot run code are allowed; links to messages of this workspace stay within the page.

import { html, useContext } from "../vendor/preact.js";
import { fromPermalink, toHash } from "../place.js";
import { Names } from "./names.js";

const SAFE = /^(https?|mailto|tel):/i;

/** A link, or only its text if its scheme is not safe. */
export function Link({ url, label, children }) {
  const names = useContext(Names);
  const text = children ?? (label || url);
  const place = fromPermalink(url, names.team, names.as);
  if (place) return html`<a href=${toHash(place)}>${text}</a>`;
  if (!SAFE.test(url)) return text;
  return html`<a href=${url} target="_blank" rel="noopener noreferrer">${text}</a>`;
}
