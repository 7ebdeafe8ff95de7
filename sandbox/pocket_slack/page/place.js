// The state of this tab: who acts, which channel and thread are open. It is kept in the URL, so that a reload or the
// back button restores it, and each tab can act as another person.

/**
 * `assistant` is the thread with the app that is open beside the channel.
 * @typedef {{as: string, channel?: string, thread?: string, assistant?: string, at?: string, inspector?: string}} Place
 */

const NAMES = ["as", "channel", "thread", "assistant", "at", "inspector"];

/** The URL's hash for a place. @param {Place} place */
export function toHash(place) {
  const given = NAMES.filter((name) => place[name]).map((name) => [name, place[name]]);
  return `#${new URLSearchParams(given)}`;
}

/** The place that a URL's hash names. @returns {Place} */
export function fromHash(hash) {
  const params = new URLSearchParams(hash.slice(1));
  return Object.fromEntries(NAMES.filter((name) => params.get(name)).map((name) => [name, params.get(name)]));
}

/** Goes to another place, which keeps the person and the inspector. @param {Place} place */
export function go(place) {
  location.hash = toHash({ as: current().as, inspector: current().inspector, ...place });
}

/** The place of this tab now. */
export function current() {
  return fromHash(location.hash);
}

/**
 * Makes sure that the person in the URL exists; if not, the first person of the workspace acts instead.
 * @returns the name that does not exist, or null
 */
export async function settle() {
  const response = await fetch("/sandbox/people");
  const people = await response.json();
  const { as, inspector } = current();
  if (people.includes(as)) return null;
  history.replaceState(null, "", toHash({ as: people[0], inspector }));
  return as;
}

/** The place that a permalink of this workspace names; null for any other link. */
export function fromPermalink(url, team, as) {
  if (!team.url || !url.startsWith(`${team.url}/archives/`)) return null;
  const link = new URL(url);
  const [, , channel, message] = link.pathname.split("/");
  const at = message?.replace(/^p(\d+)(\d{6})$/, "$1.$2");
  return { as, channel, at, thread: link.searchParams.get("thread_ts") ?? undefined };
}

/** The permalink of a message, as chat.getPermalink returns it. */
export function toPermalink(team, channel, message) {
  const link = `${team.url}/archives/${channel.id}/p${message.ts.replace(".", "")}`;
  const isReply = message.thread_ts && message.thread_ts !== message.ts;
  return isReply ? `${link}?thread_ts=${message.thread_ts}&cid=${channel.id}` : link;
}
