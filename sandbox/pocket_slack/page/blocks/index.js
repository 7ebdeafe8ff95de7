// A renderer for each block that the sandbox accepts; any other block is shown as JSON.
// https://docs.slack.dev/reference/block-kit/blocks

import { Component, html } from "../vendor/preact.js";
import { Alert, Card, Carousel, File, Plan, TaskCard, Video } from "./cards.js";
import { Chart } from "./charts.js";
import { Element, IconButton } from "./elements.js";
import { FeedbackButtons } from "./feedback.js";
import { Image } from "./image.js";
import { Input } from "./input.js";
import { Markdown } from "./markdown.js";
import { Mrkdwn, Text, plain } from "./mrkdwn.js";
import { RichText } from "./rich_text.js";
import { own } from "./lookup.js";
import { DataTable, Table } from "./tables.js";

const BLOCKS = {
  section: Section,
  header: ({ block }) => html`<p class="block header" role="heading" aria-level="2">${plain(block.text)}</p>`,
  context: Context,
  divider: () => html`<hr class="block" />`,
  actions: Actions,
  image: ({ block }) =>
    html`<div class="block"><${Image} image=${block} title=${block.title && plain(block.title)} /></div>`,
  input: Input,
  rich_text: ({ block }) => html`<div class="block"><${RichText} block=${block} /></div>`,
  markdown: ({ block }) => html`<div class="block"><${Markdown} text=${block.text} /></div>`,
  context_actions: ContextActions,
  table: Table,
  data_table: DataTable,
  data_visualization: Chart,
  alert: Alert,
  card: Card,
  carousel: Carousel,
  container: Container,
  file: File,
  plan: Plan,
  task_card: TaskCard,
  video: Video,
};

/** The blocks of a message, modal or home tab. */
export function Blocks({ blocks }) {
  return blocks.map((block) => html`<${Block} key=${block.block_id} block=${block} />`);
}

/** One block; if it cannot be drawn, the rest of the page still is. */
class Block extends Component {
  componentDidCatch(error) {
    console.warn("a block could not be drawn:", error);
    this.setState({ broken: this.props.block });
  }

  render({ block }, { broken }) {
    const Kind = (broken !== block && own(BLOCKS, block.type)) || Unknown;
    return html`<${Kind} block=${block} />`;
  }
}

function Section({ block }) {
  const { text, fields = [], accessory } = block;
  return html`<div class="block section">
    <div class="section-body">
      ${text && html`<div><${Text} text=${text} /></div>`}
      ${
        fields.length > 0 &&
        html`<div class="fields">${fields.map((field) => html`<div><${Text} text=${field} /></div>`)}</div>`
      }
    </div>
    ${accessory && html`<div class="accessory"><${Element} element=${accessory} block=${block} /></div>`}
  </div>`;
}

function Context({ block }) {
  const one = (element) =>
    element.type === "image" ? html`<${Image} image=${element} isSmall />` : html`<${Text} text=${element} />`;
  return html`<div class="block context">${block.elements.map((element) => html`<span>${one(element)}</span>`)}</div>`;
}

/** A container block; it opens and closes if the app wants that. */
function Container({ block }) {
  const { title, rich_text_title: rich, subtitle, icon, child_blocks: children } = block;
  const head = html`${icon && html`<${Image} image=${icon} isIcon />`}
    <span>
      <strong>${rich ? html`<${RichText} block=${rich} />` : plain(title)}</strong>
      ${subtitle && html`<span class="subtitle"><${Text} text=${subtitle} /></span>`}
    </span>`;
  const look = `block container ${block.width ?? "standard"} ${block.has_header_divider ? "divided" : ""}`;
  return block.is_collapsible
    ? html`<details class=${look} open=${!block.default_collapsed}>
        <summary>${head}</summary>
        <${Blocks} blocks=${children} />
      </details>`
    : html`<div class=${look}>
        <div class="container-head">${head}</div>
        <${Blocks} blocks=${children} />
      </div>`;
}

function Actions({ block }) {
  const elements = block.elements.map(
    (element) => html`<${Element} key=${element.action_id} element=${element} block=${block} />`,
  );
  return html`<div class="block actions">${elements}</div>`;
}

function ContextActions({ block }) {
  const kinds = { feedback_buttons: FeedbackButtons, icon_button: IconButton };
  const elements = block.elements.map(
    (element) => html`<${own(kinds, element.type) ?? Unknown} element=${element} block=${block} />`,
  );
  return html`<div class="block actions">${elements}</div>`;
}

function Unknown({ block, element }) {
  const json = element ?? block;
  return html`<details class="block unknown">
    <summary>A ${json.type} block, which this page does not draw</summary>
    <pre>${JSON.stringify(json, null, 2)}</pre>
  </details>`;
}
