// Only images from the sandbox itself are loaded, nothing from other hosts: there the description is shown instead.

import { html } from "../vendor/preact.js";
import { Icon } from "../parts/icon.js";

/** An image block or element; an icon's description is not shown. */
export function Image({ image, title, isSmall = false, isIcon = false }) {
  const url = image.image_url ?? image.slack_file?.url ?? "";
  const isOurs = url.startsWith(`${location.origin}/`);
  const picture = isOurs
    ? html`<img src=${url} alt=${image.alt_text} />`
    : html`<span class="no-image" role="img" aria-label=${image.alt_text} title=${url}
        ><${Icon} name="picture" /> ${!isIcon && image.alt_text}</span
      >`;
  return html`<figure class=${isSmall || isIcon ? "image small" : "image"}>
    ${title && html`<figcaption>${title}</figcaption>`}${picture}
  </figure>`;
}
