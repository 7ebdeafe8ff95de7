// The traffic between Slack and the app, newest first, and buttons that cause failures.

import { html, useState } from "../vendor/preact.js";
import { attempt, send } from "../actions.js";
import { fullTime } from "../blocks/dates.js";
import { current, go } from "../place.js";
import { Icon } from "./icon.js";

const SHOWN = 100;

const TROUBLE = [
  ["429", "The next post is answered 429, to be tried again after 2 s", () => fault({ retry_after_s: 2 })],
  ["500", "The next post is answered 500", () => fault({ status: 500 })],
  ["Posted, but error", "The next post appears, and is answered 500", () => fault({ status: 500, is_applied: true })],
  ["Slow network", "The next ten calls take a second longer", () => fault({ method: "*", delay_s: 1, times: 10 })],
  ["Drop socket", "All connections of the app are closed", () => send("sockets/drop", {})],
  ["No more trouble", "Forget the faults that still wait", () => send("faults", {}, "DELETE")],
];

/** The drawer. */
export function Inspector({ entries }) {
  const [filter, setFilter] = useState("");
  const found = entries.filter(
    (entry) => !filter || JSON.stringify(entry).toLowerCase().includes(filter.toLowerCase()),
  );
  const envelopes = new Map(entries.filter((entry) => entry.kind === "envelope").map((one) => [one.envelope_id, one]));
  const latest = [...envelopes.values()].at(-1);
  const waiting = entries.findLast((entry) => "waiting_calls" in entry)?.waiting_calls ?? 0;
  return html`<section class="inspector" aria-label="Inspector">
    <header>
      <h2>Inspector</h2>
      <input
        type="search"
        aria-label="Filter"
        placeholder="Filter"
        value=${filter}
        onInput=${(event) => setFilter(event.target.value)}
      />
      <span class="trouble" role="group" aria-label="Trouble">
        ${TROUBLE.map(
          ([name, what, run]) =>
            html`<button class="button" type="button" title=${what} onClick=${() => attempt(run)}>${name}</button>`,
        )}
        <button
          class="button"
          type="button"
          title="Send the newest envelope once more"
          disabled=${!latest}
          onClick=${() => redeliver(latest)}
        >
          Redeliver
        </button>
      </span>
      <span role="status">${waiting > 0 && `Trouble waits for ${waiting} ${waiting === 1 ? "call" : "calls"}`}</span>
      <button
        class="button quiet close"
        type="button"
        aria-label="Close the inspector"
        onClick=${() => go({ ...current(), inspector: "" })}
      >
        <${Icon} name="close" />
      </button>
    </header>
    <ol class="entries" tabindex="0" aria-label="Traffic, newest first">
      ${found
        .slice(-SHOWN)
        .reverse()
        .map((entry) => html`<${Entry} key=${entry.id} entry=${entry} envelope=${envelopes.get(entry.envelope_id)} />`)}
      ${found.length === 0 && html`<li key="none">${filter ? `Nothing has "${filter}" in it.` : "Nothing was said yet."}</li>`}
    </ol>
  </section>`;
}

function Entry({ entry, envelope }) {
  const [isOpen, setOpen] = useState(false);
  const { id, at, kind, ...data } = entry;
  const { text, isBad } = SUMMARIES[kind](data, envelope);
  return html`<li>
    <details onToggle=${(event) => setOpen(event.target.open)}>
      <summary title=${fullTime(at)}>
        <span class="kind ${kind}">${kind.replace("_", " ")}</span> <span class=${isBad ? "bad" : ""}>${text}</span>
      </summary>
      ${
        isOpen &&
        html`<pre tabindex="0">${JSON.stringify(readable(data), null, 2)}</pre>
          ${
            kind === "envelope" &&
            html`<button class="button" type="button" onClick=${() => redeliver(entry)}>Redeliver</button>`
          }`
      }
    </details>
  </li>`;
}

const SUMMARIES = {
  connection: (data) => ({ text: data.closed ? `closed, ${data.open} open` : `opened, ${data.open} open` }),
  envelope: (data) => ({
    text: `${subject(data)}${data.redelivered ? " (once more)" : ""}${data.connection ? "" : " (nobody connected)"}`,
    isBad: !data.connection,
  }),
  ack: (data, envelope) => ({
    text: [
      data.ignored ? `ignored: ${data.ignored}` : `${data.ms} ms`,
      subject(envelope),
      data.payload?.response_action,
    ]
      .filter(Boolean)
      .join(" · "),
    isBad: Boolean(data.ignored),
  }),
  failure: (data, envelope) => ({ text: [data.error, subject(envelope)].filter(Boolean).join(" · "), isBad: true }),
  call: (data) => ({
    text: `${data.method} → ${outcome(data)}`,
    isBad: data.status !== 200 || data.answer?.ok === false,
  }),
  response_url: (data) => ({ text: `→ ${outcome(data)}`, isBad: data.status !== 200 }),
  execution: (data) => ({
    text: [`${data.callback_id} ${data.status}`, data.error].filter(Boolean).join(" · "),
    isBad: data.status === "failed",
  }),
  fault: (data) => ({ text: data.sockets ? `sockets ${data.sockets}` : FAULTS[data.event](data) }),
};

const FAULTS = {
  waits: ({ method }) => `waits for ${method === "*" ? "any call" : method}`,
  met: ({ method }) => `met by ${method}`,
  forgotten: () => "no more: those that waited are forgotten",
};

/** What an envelope is about; empty if there is none. */
function subject({ type, payload } = {}) {
  if (!payload) return "";
  if (type === "slash_commands") return `${payload.command} ${payload.text}`;
  if (type === "events_api") return `event ${payload.event.type}`;
  const what = payload.actions?.[0].action_id ?? payload.callback_id ?? payload.view?.callback_id ?? "";
  return `${payload.type} ${what}`;
}

function outcome({ status, answer }) {
  if (status === null) return "connection dropped";
  if (status !== 200) return `HTTP ${status}`;
  return answer?.ok ? "ok" : (answer?.error ?? "ok");
}

/** The entry with its body as JSON if possible; posts to a response_url are recorded as text. */
function readable(data) {
  try {
    return { ...data, body: JSON.parse(data.body) };
  } catch {
    return data;
  }
}

function redeliver(entry) {
  return attempt(() => send(`envelopes/${entry.envelope_id}/redeliver`, {}));
}

function fault(body) {
  return send("faults", { method: "chat.postMessage", ...body });
}
