// Where this tab is: who acts, which channel and thread are open. It stands in the address, so that a reload or the
// back button finds everything as it was, and every tab may be somebody else.

/** @typedef {{as: string, channel?: string, thread?: string, at?: string, inspector?: string}} Place */

const NAMES = ["as", "channel", "thread", "at", "inspector"];

/** The address of a place. @param {Place} place */
export function toHash(place) {
  const given = NAMES.filter((name) => place[name]).map((name) => [name, place[name]]);
  return `#${new URLSearchParams(given)}`;
}

/** The place that an address names. @returns {Place} */
export function fromHash(hash) {
  const params = new URLSearchParams(hash.slice(1));
  return Object.fromEntries(NAMES.filter((name) => params.get(name)).map((name) => [name, params.get(name)]));
}

/** Go somewhere else; what is not named is left. @param {Place} place */
export function go(place) {
  location.hash = toHash({ as: current().as, inspector: current().inspector, ...place });
}

/** Where this tab is now. */
export function current() {
  return fromHash(location.hash);
}

/** Lets somebody of this workspace act: the person in the address, or else the first one. @returns who is not there */
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

/** The permalink of a message, as chat.getPermalink gives it. */
export function toPermalink(team, channel, message) {
  const link = `${team.url}/archives/${channel.id}/p${message.ts.replace(".", "")}`;
  const isReply = message.thread_ts && message.thread_ts !== message.ts;
  return isReply ? `${link}?thread_ts=${message.thread_ts}&cid=${channel.id}` : link;
}
