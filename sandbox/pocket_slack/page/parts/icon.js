// Icons as our own SVG: not every machine has a font with emoji.

import { html } from "../vendor/preact.js";

const PATHS = {
  lock: "M5 7V5a3 3 0 0 1 6 0v2m-7 0h8v6H4z",
  hash: "M6.5 3 5 13M11 3 9.5 13M3.5 6h10M2.5 10h10",
  thread: "M2.5 3h11v7.500h-6L4.5 13v-2.500h-2z",
  more: "M8 3.500v.01M8 8v.01M8 12.500v.01",
  eye: "M1.5 8s2.5-4 6.5-4 6.5 4 6.5 4-2.5 4-6.5 4S1.5 8 1.5 8zm6.5 1.700a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.400z",
  close: "M4 4l8 8M12 4l-8 8",
  back: "M10 3 5 8l5 5",
  trash: "M3 4.500h10M6 4.500V3h4v1.500M4.5 4.500l.5 8.500h6l.5-8.5",
  up: "M5 7.500V13H2.500V7.500zm0 0L8 2c1.5 0 2 1 1.5 2.500L9 6.500h3.500c1 0 1.3.8 1 1.500l-1.3 4c-.2.6-.6 1-1.2 1H5",
  down: "M11 8.500V3h2.500v5.500zm0 0L8 14c-1.5 0-2-1-1.5-2.500l.5-2H3.500c-1 0-1.3-.8-1-1.500l1.3-4c.2-.6.6-1 1.2-1h6",
  picture: "M2.5 3h11v10h-11zm0 7.5 3-3 3 3 2-2 3 3M10.5 6v.01",
  file: "M4 2h5l3 3v9H4zm5 0v3h3",
  done: "M3 8.500l3.500 3.500L13 5",
  app: "M3 3h4v4H3zm6 0h4v4H9zM3 9h4v4H3zm6 0h4v4H9z",
};

/** A drawing that screen readers skip; the control that contains it has a name. */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
