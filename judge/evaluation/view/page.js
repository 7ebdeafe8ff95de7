const data = JSON.parse(document.getElementById("data").textContent);
const ROW_PX = 72, MARGIN_ROWS = 6, BEGINNING = 200;
const GIVEN = new Map([[true, "blind"], [false, "after seeing the judge's"]]);
const list = at("list"), panes = at("panes"), detail = at("reply");
let found = data.replies, active = 0, opened = null;

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const round = (number) => String(Math.round(number * 100) / 100);
const scored = (reply) => (reply.score === undefined ? "–" : round(reply.score));
const topic = (reply) => (reply.facts ?? []).find(([name]) => name === "Topic")?.[1];
const people = (reply) => reply.labels.reduce((sum, label) => sum + label.score, 0) / reply.labels.length;

// ---- figures

function bar(each, most) {
  const width = Math.max((100 * each.count) / most, each.count ? 0.5 : 0);
  const chart = draw("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { width, height: 14 }));
  const button = make("button", { type: "button", value: each.name }, make("span", {}, each.name), chart,
    make("span", {}, each.count.toLocaleString("en")));
  const name = each.name === "unscored" ? "Unscored" : `Score ${each.name}`;
  button.setAttribute("aria-label", `${name}: ${count(each.count, "reply", "replies")}`);
  return button;
}

function card(version, number) {
  const most = Math.max(1, ...version.bars.map((each) => each.count));
  const bars = make("div", { className: "bars" }, ...version.bars.map((each) => bar(each, most)));
  bars.setAttribute("role", "group");
  bars.setAttribute("aria-label", "Replies by score");
  bars.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (chosen) choose(chosen, number);
  });
  return make("section", { className: "card" }, make("h3", {}, data.versions.length > 1 ? `${number + 1}. ${seen(version.name)}` : seen(version.name)),
    ...version.notes.map((note) => make("p", { className: "note" }, note)), bars, ...table("", data.titles, version.topics).slice(1));
}

// ---- trend: a line for each judge version, since figures of two are not to be joined

function path(points, x, y, number, isNumbered) {
  const line = `line-${number % 4}`;
  const marked = points[Math.min(number, points.length - 1)]; // a place of its own where two lines begin together
  const middle = points.map((point) => `${x(point)},${y(point.mean)}`).join(" ");
  return [
    ...points.filter((point) => point.low !== null).map((point) =>
      draw("line", { class: `range-line ${line}`, x1: x(point), x2: x(point), y1: y(point.low), y2: y(point.high) })),
    draw("polyline", { class: `trend ${line}`, points: middle }),
    ...points.map((point) => draw("circle", { class: line, cx: x(point), cy: y(point.mean), r: 3 })),
    ...(isNumbered ? [draw("text", { x: x(marked), y: y(marked.high ?? marked.mean) - 6, "text-anchor": "middle" }, String(number + 1))] : []),
  ];
}

function chart(lines, [low, high], width) {
  const height = 200, left = 40, right = width - 24, top = 20, bottom = height - 24;
  const starts = lines.flatMap(({ trend }) => trend.map((point) => point.start)).sort();
  const [from, to] = [starts[0], starts.at(-1)].map(Date.parse);
  const x = (point) => (to === from ? (left + right) / 2 : left + 8 + ((Date.parse(point.start) - from) / (to - from)) * (right - left - 16));
  const y = (score) => bottom - ((score - low) / (high - low)) * (bottom - top);
  const levels = [low, (low + high) / 2, high];
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    ...levels.map((level) => draw("line", { class: "grid", x1: left, x2: right, y1: y(level), y2: y(level) })),
    ...levels.map((level) => draw("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end" }, round(level))),
    draw("text", { x: left, y: height - 4 }, starts[0]),
    ...(to === from ? [] : [draw("text", { x: right, y: height - 4, "text-anchor": "end" }, starts.at(-1))]),
    ...lines.flatMap(({ trend, number }) => path(trend, x, y, number, lines.length > 1)));
}

function trends() {
  const numbered = data.versions.map((version, number) => ({ ...version, number })).filter((version) => version.trend.length);
  const scales = [...new Set(numbered.map((version) => version.scale.join()))];
  return scales.map((scale) => {
    const lines = numbered.filter((version) => version.scale.join() === scale);
    const rows = lines.flatMap(({ number, trend }) => trend.map((point) => [String(number + 1), point.start, round(point.mean),
      point.low === null ? "unknown" : `${round(point.low)} to ${round(point.high)}`, point.n.toLocaleString("en")]));
    const [, box] = table("", ["Judge", "Week of", "Mean", "95%", "Scores"], rows);
    const figure = make("figure", {}, make("figcaption", {}, "The judge's own mean, week by week"));
    new ResizeObserver(([{ contentRect }]) => {
      figure.querySelector("svg")?.remove();
      figure.children[0].after(chart(lines, lines[0].scale, Math.round(contentRect.width)));
    }).observe(figure);
    const note = "A bar is how far other replies like these may move the mean.";
    const numbers = lines.length > 1 ? " No line joins two judges; the number is that of the judge above." : "";
    figure.append(make("p", { className: "note" }, note + numbers),
      make("details", {}, make("summary", {}, "As a table"), box));
    return figure;
  });
}

/** Shows the replies of a bar, or all again where it was chosen before. */
function choose(button, version) {
  const isChosen = button.getAttribute("aria-pressed") === "true";
  at("score").value = isChosen ? "" : button.value;
  if (data.versions.length > 1) at("version").value = isChosen ? "" : String(version);
  refresh();
}

// ---- the list: only the rows in sight are there

function option(index) {
  const reply = found[index];
  const [question, response] = [reply.question, reply.response].map((text) => seen((text ?? "text not stored").slice(0, BEGINNING)));
  const marks = [...(reply.differs ? [`people ${round(people(reply))}`] : []), ...(reply.flags ?? []).map(seen)];
  const row = make("div", { className: "option", id: `option-${index}` }, make("span", { className: "score" }, scored(reply)),
    make("span", { className: "first" }, ...marks.map((mark) => make("span", { className: "warn" }, `${mark} · `)), question),
    make("span", { className: "rest" }, response));
  const label = [seen(reply.name), reply.score === undefined ? "unscored" : `score ${scored(reply)}`, ...marks, question, response];
  const said = { role: "option", posinset: index + 1, setsize: found.length, selected: index === active, label: label.join(", ") };
  for (const [name, value] of Object.entries(said)) row.setAttribute(name === "role" ? name : `aria-${name}`, value);
  row.style.top = `${index * ROW_PX}px`;
  return row;
}

function paint() {
  const first = Math.max(Math.floor(list.scrollTop / ROW_PX) - MARGIN_ROWS, 0);
  const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / ROW_PX) + MARGIN_ROWS, found.length);
  const rows = [];
  for (let index = first; index < last; index += 1) rows.push(option(index));
  const end = make("div", { className: "end" });
  end.style.height = `${found.length * ROW_PX}px`;
  end.setAttribute("role", "presentation");
  list.replaceChildren(end, ...rows);
  if (active >= first && active < last) list.setAttribute("aria-activedescendant", `option-${active}`);
  else list.removeAttribute("aria-activedescendant");
}

function move(to) {
  if (!found.length) return;
  active = Math.max(0, Math.min(to, found.length - 1));
  const top = active * ROW_PX;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_PX > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_PX - list.clientHeight;
  paint();
  show(found[active]);
}

// ---- one reply

function table(title, names, rows) {
  if (!rows.length) return [];
  const used = names.map((_, column) => rows.some((row) => row[column] !== ""));
  const cells = (kind, values) => make("tr", {},
    ...values.filter((_, column) => used[column]).map((value) => make(kind, { dir: "auto" }, typeof value === "string" ? seen(value) : value)));
  const body = make("table", {}, make("thead", {}, cells("th", names)), make("tbody", {}, ...rows.map((row) => cells("td", row))));
  return [make("h3", {}, title), make("div", { className: "scroll" }, body)];
}

function show(reply) {
  if (reply === opened) return;
  opened = reply;
  const back = make("button", { type: "button", className: "plain", id: "back" }, "Back to the list");
  back.addEventListener("click", leave);
  const version = data.versions[reply.version];
  const verdict = reply.score === undefined ? "Unscored" : `Score ${round(reply.score)} of ${version.scale[1]}`;
  const labels = reply.labels ?? [];
  const marks = [...(reply.flags ?? []).map((flag) => `The ${flag}`),
    ...(reply.differs ? [`Judge and people differ by ${round(reply.miss)}`] : [])];
  detail.replaceChildren(
    make("div", { className: "head" }, back, make("h3", {}, seen(reply.name)), make("strong", {}, verdict)),
    ...marks.map((mark) => make("p", { className: "warn" }, seen(mark))),
    ...(reply.before ? [make("details", {}, make("summary", {}, `${count(reply.before.length, "message", "messages")} before the question`),
      ...reply.before.flatMap(([role, words]) => text(role ? seen(role) : "Left out", words)))] : []),
    ...text("Question", reply.question), ...(reply.reference ? text("Reference", reply.reference) : []),
    ...text("Response", reply.response),
    ...(reply.unscored ? text("Why there is no score", reply.unscored) : []),
    ...(reply.justification ? text("Justification", reply.justification) : []),
    ...table("Ratings", ["Model", "Score", "What it said"],
      (reply.ratings ?? []).map((each) => [each.model, each.score === null ? "–" : round(each.score), each.words])),
    ...table("Labels", ["Score", "Given", "Why"],
      labels.map((each) => [round(each.score), GIVEN.get(each.blind) ?? "", each.reason])),
    make("h3", {}, "More"),
    make("dl", { className: "facts-list" }, ...[["Judge", version.name], ...(reply.facts ?? [])].flatMap(
      ([name, value]) => [make("dt", {}, name), make("dd", {}, seen(value))])));
  detail.scrollTop = 0;
}

function read() {
  if (!found.length) return;
  panes.classList.add("reading");
  detail.focus();
}

function leave() {
  panes.classList.remove("reading");
  paint();
  list.focus();
}

// ---- search, filters, order

function words(reply) {
  reply.words ??= [reply.name, reply.question, reply.response, reply.justification, reply.unscored,
    ...(reply.before ?? []).map(([, said]) => said), ...(reply.labels ?? []).map((each) => each.reason)].filter(Boolean).join("\n").toLowerCase();
  return reply.words;
}

const ORDERS = {
  low: (one, other) => (one.score ?? Infinity) - (other.score ?? Infinity),
  high: (one, other) => (other.score ?? -Infinity) - (one.score ?? -Infinity),
  miss: (one, other) => (other.miss ?? -1) - (one.miss ?? -1),
};

function refresh() {
  const [score, version, flag, subject, order] = ["score", "version", "flag", "topic", "order"].map((id) => at(id).value);
  const wanted = at("search").value.toLowerCase().split(/\s+/).filter(Boolean), differs = at("differs").checked;
  found = data.replies.filter((reply) =>
    (!score || reply.bar === score) && (!version || reply.version === Number(version)) &&
    (!flag || reply.flags?.includes(flag)) && (!subject || topic(reply) === subject) && (!differs || reply.differs) &&
    wanted.every((word) => words(reply).includes(word)));
  if (order) found = [...found].sort(ORDERS[order]);
  at("found").textContent = found.length === data.replies.length
    ? count(found.length, "reply", "replies") : `${found.length.toLocaleString("en")} of ${count(data.replies.length, "reply", "replies")}`;
  for (const button of document.querySelectorAll(".bars button")) {
    button.setAttribute("aria-pressed", button.value === score);
  }
  panes.hidden = !found.length;
  panes.classList.remove("reading");
  list.scrollTop = 0;
  move(0);
}

function offer(id, values) {
  at(id).append(...values.map(([value, words]) => make("option", { value }, seen(words))));
  at(id).parentElement.hidden = values.length < 2 && id !== "flag" || !values.length;
}

function onKey(event) {
  const isTyping = event.target.matches("input, select"), inList = event.target === list;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(Math.floor(list.clientHeight / ROW_PX), 1);
  const moves = { j: 1, k: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }) };
  if (event.key === "Escape") {
    if (event.target === at("search")) { at("search").value = ""; refresh(); }
    leave();
  } else if (event.key === "Enter" && event.target === at("search")) list.focus();
  else if (isTyping) return;
  else if (event.key === "/") at("search").select();
  else if (event.key in moves) move(active + moves[event.key]);
  else if (event.key === "Enter" && inList) read();
  else return;
  event.preventDefault();
}

at("figures").append(...data.versions.map(card));
at("trend").append(...trends());
at("scope").textContent = [count(data.replies.length, "reply", "replies"),
  data.left_out ? `the last of the file; ${count(data.left_out, "row", "rows")} before them left out, also of the figures` : ""].filter(Boolean).join(", ");
offer("score", [...new Set(data.versions.flatMap((version) => version.bars.map((each) => each.name)))].map((name) => [name, name]));
offer("version", data.versions.map((version, number) => [String(number), version.name]));
offer("flag", [...new Set(data.replies.flatMap((reply) => reply.flags ?? []))].map((flag) => [flag, flag]));
offer("topic", [...new Set(data.replies.map(topic))].filter(Boolean).sort().map((name) => [name, name]));
const limits = new Set(data.versions.map((version) => version.differs));
at("differs-words").textContent = `judge and people differ by ${[...limits].map(round).join(" or ")} or more`;
at("differs").parentElement.hidden = !data.replies.some((reply) => reply.labels);
at("filters").addEventListener("input", refresh);
at("filters").addEventListener("submit", (event) => event.preventDefault());
list.addEventListener("scroll", () => requestAnimationFrame(paint));
list.addEventListener("click", (event) => {
  const row = event.target.closest(".option");
  if (row) { move(Number(row.id.slice("option-".length))); if (matchMedia("(max-width: 50rem)").matches) read(); }
});
document.addEventListener("keydown", onKey);
new ResizeObserver(paint).observe(list);
refresh();
