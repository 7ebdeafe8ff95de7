// Links. Only schemes that cannot run code are allowed; links to channels and messages of this workspace stay in the page.

import { html, useContext } from "../vendor/preact.js";
import { fromPermalink, toHash } from "../place.js";
import { Names, channelName } from "./names.js";

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

/** A channel's name, which opens it; only the name if this person cannot see it. */
export function ChannelLink({ id, label }) {
  const names = useContext(Names);
  const text = `#${label || channelName(names, id)}`;
  if (!(id in names.channels)) return html`<span class="mention">${text}</span>`;
  return html`<a class="mention" href=${toHash({ as: names.as, channel: id })}>${text}</a>`;
}
