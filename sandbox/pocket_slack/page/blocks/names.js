// The names behind ids, for everything that renders texts.

import { createContext } from "../vendor/preact.js";

/** @type {{users: Object, channels: Object, team: {url: string}, as: string}} */
export const Names = createContext({ users: {}, channels: {}, team: { url: "" }, as: "" });

export function userName(names, id) {
  return names.users[id]?.profile.display_name ?? id;
}

export function channelName(names, id) {
  return names.channels[id]?.name ?? id;
}

/** A channel's name in lists and headings. */
export function channelTitle(names, channel) {
  if (channel.is_im) return userName(names, channel.user);
  return channel.name;
}
