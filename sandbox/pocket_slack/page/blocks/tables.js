// https://docs.slack.dev/reference/block-kit/blocks/table-block and data-table-block; the first row is the heading.

import { html } from "../vendor/preact.js";
import { RichText } from "./rich_text.js";

/** A table block. */
export function Table({ block }) {
  return html`<${Grid} rows=${block.rows} columns=${block.column_settings ?? []} name="Table" />`;
}

/** A data_table block: columns of numbers are aligned right, and one column may contain the row headings. */
export function DataTable({ block }) {
  const isNumber = (index) => block.rows.slice(1).every((row) => row[index].type === "raw_number");
  const columns = block.rows[0].map((_, index) => ({ align: isNumber(index) ? "right" : "left" }));
  return html`<${Grid}
    rows=${block.rows}
    columns=${columns}
    name=${block.caption}
    caption=${block.caption}
    rowHeader=${block.row_header_column_index}
  />`;
}

function Grid({ rows: [head, ...rows], columns, name, caption, rowHeader }) {
  const look = (index) => `align-${columns[index]?.align ?? "left"} ${columns[index]?.is_wrapped ? "wrapped" : ""}`;
  return html`<div class="block grid" role="group" aria-label=${name} tabindex="0">
    <table>
      ${
        caption &&
        html`<caption>
          ${caption}
        </caption>`
      }
      <thead>
        <tr>
          ${head.map((cell, index) => html`<th scope="col" class=${look(index)}><${Cell} cell=${cell} /></th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, index) =>
                index === rowHeader
                  ? html`<th scope="row" class=${look(index)}><${Cell} cell=${cell} /></th>`
                  : html`<td class=${look(index)}><${Cell} cell=${cell} /></td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function Cell({ cell }) {
  if (cell.type === "rich_text") return html`<${RichText} block=${cell} />`;
  return cell.type === "raw_number" ? (cell.text ?? String(cell.value)) : cell.text;
}
