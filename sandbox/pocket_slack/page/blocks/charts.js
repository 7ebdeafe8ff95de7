// https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block, as inline SVG. Screen readers get
// the numbers as a table.

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

const WIDEST = 480;
const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 34;
const TOP = 10;
const CHARACTER_PX = 7; // a little more than the width of a label's character
const LABEL_LINE = 13;

/** A bar, line, area or pie chart. */
export function Chart({ block: { title, chart } }) {
  const drawing = useRef(null);
  const [width, setWidth] = useState(WIDEST);
  useLayoutEffect(() => {
    // Drawn at the available width, not scaled, so that labels are as large as other texts. A hidden pane has no
    // width, and its bars would get a negative one.
    const observer = new ResizeObserver(([{ contentRect }]) => contentRect.width && setWidth(contentRect.width));
    observer.observe(drawing.current);
    return () => observer.disconnect();
  }, []);
  const names =
    chart.type === "pie" ? chart.segments.map((segment) => segment.label) : chart.series.map((one) => one.name);
  return html`<figure class="block chart">
    <figcaption>${title}</figcaption>
    <svg ref=${drawing} height=${HEIGHT} aria-hidden="true">
      ${chart.type === "pie" ? pie(chart, width) : axes(chart, width)}
    </svg>
    ${(names.length > 1 || chart.type === "pie") && html`<${Legend} names=${names} />`}
    <${Numbers} title=${title} chart=${chart} />
  </figure>`;
}

function Legend({ names }) {
  return html`<ul class="legend" aria-hidden="true">
    ${names.map((name, index) => html`<li><i class="series-${index}"></i>${name}</li>`)}
  </ul>`;
}

function axes({ type, series, axis_config: axis }, width) {
  const { categories } = axis;
  const values = series.flatMap((one) => one.data.map((point) => point.value));
  const [low, high] = [Math.min(0, ...values), roundUp(Math.max(0, ...values)) || 1];
  const step = (width - LEFT - 8) / categories.length;
  const { labels, every, lines } = fitted(categories, step);
  const bottom = BOTTOM + (lines - 1) * LABEL_LINE;
  const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - bottom);
  const x = (index) => LEFT + step * (index + 0.5);
  const isCount = values.every(Number.isInteger);
  const ticks = [low, (low + high) / 2, high].filter((tick) => !isCount || Number.isInteger(tick));
  return [
    ticks.map(
      (tick) =>
        html`<line class="tick" x1=${LEFT} x2=${width} y1=${y(tick)} y2=${y(tick)} />
          <text x=${LEFT - 6} y=${y(tick) + 4} text-anchor="end">${shortNumber(tick)}</text>`,
    ),
    labels.map(
      (label, index) =>
        index % every === 0 && html`<${Label} label=${label} x=${x(index)} y=${HEIGHT - bottom + 16} />`,
    ),
    axis.x_label && html`<text x=${(width + LEFT) / 2} y=${HEIGHT - 4} text-anchor="middle">${axis.x_label}</text>`,
    series.map((one, index) =>
      (type === "bar" ? bars : line)(one, index, { categories, x, y, step, count: series.length, type }),
    ),
  ];
}

/** Labels as lines of words: two if one is too wide; if that is not enough, only some of the labels. */
function fitted(categories, step) {
  const room = Math.floor(step / CHARACTER_PX);
  const isWide = categories.some((name) => name.length > room);
  const labels = categories.map((name) => (isWide ? name.split(/ (?=\S+$)/) : [name]));
  const longest = Math.max(...labels.flat().map((line) => line.length));
  return {
    labels,
    every: Math.ceil((longest * CHARACTER_PX) / step),
    lines: Math.max(...labels.map((label) => label.length)),
  };
}

function Label({ label, x, y }) {
  const line = (words, index) => html`<tspan x=${x} dy=${index * LABEL_LINE}>${index ? " " : ""}${words}</tspan>`;
  return html`<text x=${x} y=${y} text-anchor="middle">${label.map(line)}</text>`;
}

function bars({ data }, index, { categories, x, y, step, count }) {
  const width = (step * 0.7) / count;
  return data.map((point) => {
    const left = x(categories.indexOf(point.label)) - (width * count) / 2 + width * index;
    const [top, bottom] = [y(Math.max(0, point.value)), y(Math.min(0, point.value))];
    return html`<rect
      class="series-${index}"
      x=${left}
      y=${top}
      width=${width}
      height=${Math.max(1, bottom - top)}
      rx="2"
    />`;
  });
}

function line({ data }, index, { categories, x, y, type }) {
  const points = data.map((point) => [x(categories.indexOf(point.label)), y(point.value)]);
  const path = `M${points.map((point) => point.join(" ")).join("L")}`;
  const under = `${path}L${points.at(-1)[0]} ${y(0)}L${points[0][0]} ${y(0)}Z`;
  return html`<g class="series-${index}">
    ${type === "area" && html`<path class="area" d=${under} />`}
    <path class="stroke" d=${path} />${points.map(([cx, cy]) => html`<circle cx=${cx} cy=${cy} r="3" />`)}
  </g>`;
}

function pie({ segments }, width) {
  const total = segments.reduce((sum, { value }) => sum + value, 0) || 1;
  const [cx, cy, radius] = [width / 2, HEIGHT / 2, HEIGHT / 2 - 10];
  const at = (turn) => `${cx + radius * Math.sin(2 * Math.PI * turn)} ${cy - radius * Math.cos(2 * Math.PI * turn)}`;
  let from = 0;
  return segments.map(({ value }, index) => {
    const share = value / total;
    const [start, end] = [from, (from += share)];
    if (share >= 1) return html`<circle class="series-${index}" cx=${cx} cy=${cy} r=${radius} />`;
    const arc = `A${radius} ${radius} 0 ${share > 0.5 ? 1 : 0} 1 ${at(end)}`;
    return html`<path class="series-${index} slice" d="M${cx} ${cy}L${at(start)}${arc}Z" />`;
  });
}

function Numbers({ title, chart }) {
  const lists = chart.type === "pie" ? [{ name: "Value", data: chart.segments }] : chart.series;
  const labels = chart.type === "pie" ? chart.segments.map((one) => one.label) : chart.axis_config.categories;
  const value = ({ data }, label) => data.find((point) => point.label === label)?.value ?? "";
  // The box is hidden, not the table: a table does not get smaller than its rows, and would lengthen the page.
  return html`<div class="sr-only">
    <table>
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          <td></td>
          ${lists.map((list) => html`<th scope="col">${list.name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${labels.map(
          (label) =>
            html`<tr>
              <th scope="row">${label}</th>
              ${lists.map((list) => html`<td>${value(list, label)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** The next round number whose half is round too: the end of an axis with a tick in the middle. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].map((each) => each * power).find((each) => each >= value);
}

function shortNumber(value) {
  return new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 }).format(value);
}
