// Slack's dates: https://docs.slack.dev/messaging/formatting-message-text#date-formatting

import { own } from "./lookup.js";

const DAY_MS = 24 * 60 * 60 * 1000;

const FORMATS = {
  date_num: { year: "numeric", month: "2-digit", day: "2-digit" },
  date: { year: "numeric", month: "long", day: "numeric" },
  date_short: { year: "numeric", month: "short", day: "numeric" },
  date_long: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  day_divider_pretty: { weekday: "long", month: "long", day: "numeric" },
  time: { hour: "numeric", minute: "2-digit" },
  time_secs: { hour: "numeric", minute: "2-digit", second: "2-digit" },
};

/** The text of a `<!date^…>`, or its fallback if the timestamp is invalid. */
export function formatDate(timestamp, format, fallback) {
  const date = new Date(Number(timestamp) * 1000);
  if (Number.isNaN(date.getTime())) return fallback ?? format;
  return format.replace(/\{(\w+)\}/g, (token, name) => {
    const options = own(FORMATS, name) ?? own(FORMATS, name.replace(/_pretty$/, ""));
    if (!options) return token;
    return (name.endsWith("_pretty") && nearDay(date)) || new Intl.DateTimeFormat(undefined, options).format(date);
  });
}

/** The day of a message, for the divider above the first message of that day. */
export function dayOf(ts) {
  const day = formatDate(ts, "{day_divider_pretty}");
  return day.charAt(0).toLocaleUpperCase() + day.slice(1);
}

/** Whether two messages are from the same day, in the reader's time zone. */
export function isSameDay(ts, otherTs) {
  return new Date(ts * 1000).toDateString() === new Date(otherTs * 1000).toDateString();
}

/** "yesterday", "today" or "tomorrow"; empty for all other days. */
function nearDay(date) {
  const days = Math.round((new Date(date).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / DAY_MS);
  return Math.abs(days) > 1 ? "" : new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(days, "day");
}

/** The time of day of a message. */
export function clockTime(ts) {
  return formatDate(ts, "{time}");
}

/** The full date and time of a message. */
export function fullTime(ts) {
  return formatDate(ts, "{date_long} {time_secs}");
}
