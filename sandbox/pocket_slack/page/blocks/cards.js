// The blocks of 2026: cards and carousels, the steps of an agent, and videos, which are not played here.
// https://docs.slack.dev/reference/block-kit/blocks

import { html } from "../vendor/preact.js";
import { Icon } from "../parts/icon.js";
import { Element } from "./elements.js";
import { Image } from "./image.js";
import { Link } from "./link.js";
import { Text, plain } from "./mrkdwn.js";
import { RichText } from "./rich_text.js";

/** A card block. */
export function Card({ block }) {
  const { hero_image: hero, icon, title, subtitle, body, subtext, actions = [] } = block;
  return html`<article class="block card">
    ${hero && html`<${Image} image=${hero} />`}
    ${
      (icon || title || subtitle) &&
      html`<header>
        ${icon && html`<${Image} image=${icon} isIcon />`}
        <div>
          ${title && html`<p class="card-title"><${Text} text=${title} /></p>`}
          ${subtitle && html`<p class="subtitle"><${Text} text=${subtitle} /></p>`}
        </div>
      </header>`
    }
    ${body && html`<div><${Text} text=${body} /></div>`}
    ${subtext && html`<p class="subtitle"><${Text} text=${subtext} /></p>`}
    ${
      actions.length > 0 &&
      html`<div class="actions">
        ${actions.map((element) => html`<${Element} key=${element.action_id} element=${element} block=${block} />`)}
      </div>`
    }
  </article>`;
}

/** A carousel block: cards side by side. */
export function Carousel({ block }) {
  return html`<div class="block carousel" role="group" aria-label="Cards" tabindex="0">
    ${block.elements.map((card) => html`<${Card} key=${card.block_id} block=${card} />`)}
  </div>`;
}

/** A plan block: the steps of an agent. */
export function Plan({ block }) {
  return html`<div class="block plan">
    <p class="card-title">${block.title}</p>
    <ol>
      ${(block.tasks ?? []).map((task) => html`<li><${Task} task=${task} /></li>`)}
    </ol>
  </div>`;
}

/** A task_card block: one step. */
export function TaskCard({ block }) {
  return html`<div class="block plan"><${Task} task=${block} /></div>`;
}

const STATES = { pending: "To do", in_progress: "In progress", complete: "Done", error: "Failed" };

/** What is behind a step is folded away, as in Slack. */
function Task({ task }) {
  const { title, status = "pending", details, output, sources = [], hide_title: isHidden } = task;
  const more = [details, output].filter(Boolean);
  const line = html`<span class="state ${status}">${STATES[status]}</span> ${!isHidden && title}`;
  return html`${
      more.length > 0
        ? html`<details>
            <summary>${line}</summary>
            ${more.map((text) => html`<${RichText} block=${text} />`)}
          </details>`
        : html`<p>${line}</p>`
    }
    ${
      sources.length > 0 &&
      html`<ul class="sources">
        ${sources.map(({ url, text }) => html`<li><${Link} url=${url} label=${text} /></li>`)}
      </ul>`
    }`;
}

/** A video block: its picture and words; the page loads nothing from elsewhere. */
export function Video({ block }) {
  const { title, title_url: url, description, author_name: author, provider_name: provider } = block;
  const by = [provider, author].filter(Boolean).join(" · ");
  return html`<figure class="block card video">
    <figcaption>
      ${by && html`<p class="subtitle">${by}</p>`}
      <p class="card-title">${url ? html`<${Link} url=${url} label=${plain(title)} />` : plain(title)}</p>
      ${description && html`<p>${plain(description)}</p>`}
    </figcaption>
    <${Image} image=${{ image_url: block.thumbnail_url, alt_text: block.alt_text }} />
  </figure>`;
}

/** A file block: a remote file. */
export function File({ block }) {
  return html`<p class="block file"><${Icon} name="file" /> ${block.file?.title ?? block.external_id}</p>`;
}

/** An alert block of a modal. */
export function Alert({ block }) {
  return html`<div class="block alert ${block.level ?? "default"}" role="note"><${Text} text=${block.text} /></div>`;
}
