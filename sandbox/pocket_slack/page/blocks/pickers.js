// Controls to type into or to choose from a list.

import { html, useContext } from "../vendor/preact.js";
import { plain } from "./mrkdwn.js";
import { Names, channelTitle } from "./names.js";
import { initialValue, plainOfRichText } from "./values.js";

const DATE_TIME = {
  read: (value) => (value ? Math.floor(new Date(value).getTime() / 1000) : null),
  write: (seconds) =>
    seconds ? new Date(seconds * 1000 - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "",
};

const TYPED = {
  number_input: "number",
  email_text_input: "email",
  url_text_input: "url",
  datepicker: "date",
  timepicker: "time",
  datetimepicker: "datetime-local",
};

/** A control for `element`; `field` holds its id, aria attributes and first state. */
export function Pick({ element, field: { state, ...field }, onInput, onDone }) {
  const value = initialValue(element, state);
  const props = { element, field, value, onInput, onDone };
  if (element.type === "plain_text_input") return html`<${Line} ...${props} />`;
  if (element.type === "rich_text_input") {
    return html`<${Line} ...${props} element=${{ ...element, multiline: true }} value=${plainOfRichText(value)} />`;
  }
  if (element.type in TYPED) return html`<${Typed} ...${props} />`;
  if (element.type.endsWith("_select")) return html`<${Select} ...${props} />`;
  return html`<pre class="unknown">${JSON.stringify(element, null, 2)}</pre>`;
}

function Line({ element, field, value, onInput, onDone }) {
  const props = {
    ...field,
    defaultValue: value ?? "",
    placeholder: placeholderOf(element),
    autofocus: element.focus_on_load,
    onInput: (event) => onInput(event.target.value),
    onChange: (event) => onDone(event.target.value),
  };
  return element.multiline ? html`<textarea rows="4" ...${props}></textarea>` : html`<input type="text" ...${props} />`;
}

function Typed({ element, field, value, onInput, onDone }) {
  const isMoment = element.type === "datetimepicker";
  const read = (event) => (isMoment ? DATE_TIME.read(event.target.value) : event.target.value || null);
  return html`<input
    ...${field}
    type=${TYPED[element.type]}
    placeholder=${placeholderOf(element)}
    step=${element.is_decimal_allowed ? "any" : undefined}
    min=${element.min_value}
    max=${element.max_value}
    defaultValue=${isMoment ? DATE_TIME.write(value) : (value ?? "")}
    onInput=${(event) => onInput(read(event))}
    onChange=${(event) => onDone(read(event))}
  />`;
}

function Select({ element, field, value, onInput, onDone }) {
  const names = useContext(Names);
  const isMany = element.type.startsWith("multi_");
  const read = ({ target }) =>
    isMany ? [...target.selectedOptions].map((option) => option.value) : target.value || null;
  const isChosen = (one) => (isMany ? (value ?? []).includes(one) : value === one);
  const option = ([one, text]) => html`<option value=${one} selected=${isChosen(one)}>${text}</option>`;
  const groups = groupsOf(element, names);
  // All options are shown, because a list that scrolls inside a window that scrolls is hard to use.
  const rows = groups.reduce((sum, { label, options }) => sum + options.length + (label ? 1 : 0), 0);
  return html`<select
    ...${field}
    multiple=${isMany}
    size=${isMany ? rows : undefined}
    onChange=${(event) => {
      onInput(read(event));
      onDone(read(event));
    }}
  >
    ${!isMany && html`<option value="">${placeholderOf(element) ?? "Choose…"}</option>`}
    ${groups.map(({ label, options }) =>
      label ? html`<optgroup label=${label}>${options.map(option)}</optgroup>` : options.map(option),
    )}
  </select>`;
}

function groupsOf(element, names) {
  const pair = (option) => [option.value, plain(option.text)];
  const channels = Object.values(names.channels);
  switch (element.type.replace("multi_", "")) {
    case "users_select":
      return [{ options: Object.values(names.users).map((user) => [user.id, user.real_name]) }];
    case "channels_select":
      return [{ options: channels.filter((c) => c.is_channel && !c.is_private).map((c) => [c.id, `#${c.name}`]) }];
    case "conversations_select":
      return [{ options: channels.map((c) => [c.id, channelTitle(names, c)]) }];
    default:
      if (element.option_groups) {
        return element.option_groups.map((group) => ({ label: plain(group.label), options: group.options.map(pair) }));
      }
      return [{ options: (element.options ?? []).map(pair) }];
  }
}

function placeholderOf(element) {
  return element.placeholder && plain(element.placeholder);
}
