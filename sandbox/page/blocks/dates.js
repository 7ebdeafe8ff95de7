// Slack's dates: https://docs.slack.dev/messaging/formatting-message-text#date-formatting

import { own } from "./lookup.js";

const FORMATS = {
  date_num: { year: "numeric", month: "2-digit", day: "2-digit" },
  date: { year: "numeric", month: "long", day: "numeric" },
  date_short: { year: "numeric", month: "short", day: "numeric" },
  date_long: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  day_divider_pretty: { weekday: "long", month: "long", day: "numeric" },
  time: { hour: "numeric", minute: "2-digit" },
  time_secs: { hour: "numeric", minute: "2-digit", second: "2-digit" },
};

/** The text of a `<!date^…>`; the fallback where the timestamp is none. */
export function formatDate(timestamp, format, fallback) {
  const date = new Date(Number(timestamp) * 1000);
  if (Number.isNaN(date.getTime())) return fallback ?? format;
  return format.replace(/\{(\w+)\}/g, (token, name) => {
    const options = own(FORMATS, name) ?? own(FORMATS, name.replace(/_pretty$/, ""));
    return options ? new Intl.DateTimeFormat(undefined, options).format(date) : token;
  });
}

/** The time of day of a message. */
export function clockTime(ts) {
  return formatDate(ts, "{time}");
}

/** The full date and time of a message. */
export function fullTime(ts) {
  return formatDate(ts, "{date_long} {time_secs}");
}
