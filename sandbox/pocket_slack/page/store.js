// The state of the page, and the one function that makes the next state. It has no side effects.

/** @typedef {{type: string, data: any}} Event  An event from the server (stream.py) or on the page. */

const FIRST = {
  link: "connecting", // or "live", "lost"
  place: {},
  team: { name: "", url: "" },
  app: { commands: [], shortcuts: [] },
  me: null,
  users: {},
  channels: {},
  view: null,
  home: null,
  steps: [], // what a visitor may try: {text, is_done}
  entries: [],
  drafts: {}, // texts that are typed but not sent, by channel or thread
  notice: null,
  editing: null, // the message whose author is editing it: {channel, message}
  reacting: null, // the message to react to: {channel, message}
  seen: {}, // the newest message that was in sight, by person and channel
  since: null, // the newest message when the page was opened; it and all before it count as seen
  question: null, // the confirmation to ask for: {confirm, proceed}
};

const MOST_ENTRIES = 500;

/** A notice that goes away as soon as the server answers again. */
export const NO_ANSWER = "The sandbox does not answer. Is it still running?";

const REDUCERS = {
  link: (state, link) => ({
    ...state,
    link,
    notice: link === "live" && state.notice === NO_ANSWER ? null : state.notice,
  }),
  place: (state, place) =>
    // Another person sees other things: the state of the person before must go.
    place.as === state.place.as ? { ...state, place } : { ...FIRST, seen: state.seen, since: state.since, place },
  draft: (state, { key, text }) => ({ ...state, drafts: { ...state.drafts, [key]: text } }),
  snapshot: (state, data) => {
    const channels = data.channels.map(taken);
    const newest = channels.map(newestOf).sort().at(-1) ?? "";
    return {
      ...state,
      ...data,
      users: byId(data.users),
      channels: byId(channels),
      since: state.since ?? newest,
    };
  },
  user: (state, user) => ({ ...state, users: { ...state.users, [user.id]: user } }),
  channel: (state, channel) => withChannel(state, taken(channel)),
  unseen: (state, { channel }) => {
    const { [channel]: _, ...channels } = state.channels;
    return { ...state, channels };
  },
  message: (state, { channel, message }) => {
    const where = state.channels[channel];
    return where ? withChannel(state, { ...where, messages: upserted(where.messages, message) }) : state;
  },
  gone: (state, { channel, ts }) => {
    const where = state.channels[channel];
    const messages = where?.messages.filter((message) => message.ts !== ts);
    return where ? withChannel(state, { ...where, messages }) : state;
  },
  thread: (state, { channel, ts, thread }) => {
    const where = state.channels[channel];
    return where ? withChannel(state, { ...where, threads: { ...where.threads, [ts]: thread } }) : state;
  },
  seen: (state, channel) => {
    const [key, newest] = [seenKey(state, channel), newestOf(channel)];
    return state.seen[key] === newest ? state : { ...state, seen: { ...state.seen, [key]: newest } };
  },
  entry: (state, entry) => ({ ...state, entries: [...state.entries, entry].slice(-MOST_ENTRIES) }),
};

/** The state after an event; pure. The data of an event without a reducer become the value of the key `type`. */
export function reduce(state, { type, data }) {
  return REDUCERS[type] ? REDUCERS[type](state, data) : { ...state, [type]: data };
}

function createStore() {
  const listeners = [];
  const store = {
    state: FIRST,
    /** @param {Event} event */
    dispatch(event) {
      const next = reduce(store.state, event);
      if (next === store.state) return;
      store.state = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => listeners.push(listener),
  };
  return store;
}

export const store = createStore();

/** The messages of a channel's own pane: no replies, except those that were sent to the channel too. */
export function topLevel(channel) {
  return channel.messages.filter((m) => !isReply(m) || m.subtype === "thread_broadcast");
}

/** A thread: its parent, then the replies; without the parent if that is deleted. */
export function thread(channel, ts) {
  return channel.messages.filter((m) => m.ts === ts || m.thread_ts === ts);
}

/** The replies of all threads of a channel, by the parent's ts. */
export function repliesByParent(channel) {
  const replies = new Map();
  for (const message of channel.messages) {
    if (!isReply(message)) continue;
    if (!replies.has(message.thread_ts)) replies.set(message.thread_ts, []);
    replies.get(message.thread_ts).push(message);
  }
  return replies;
}

/** The id of a message's author; a webhook's message has no user, but a bot id. */
export function authorOf(message) {
  return message.user ?? message.bot_id;
}

export function isReply(message) {
  return Boolean(message.thread_ts) && message.thread_ts !== message.ts;
}

/** How many messages of others have arrived in a channel since the person last looked at it. */
export function unread(state, channel) {
  const from = state.seen[seenKey(state, channel)] ?? state.since;
  return channel.messages.filter((message) => message.ts > from && message.user !== state.me.id).length;
}

/** The direct messages with the app; undefined if there are none yet. */
export function directMessages({ channels }) {
  return Object.values(channels).find((channel) => channel.is_im);
}

function seenKey({ place }, channel) {
  return `${place.as} ${channel.id}`;
}

/** The ts of the newest of these messages; without any, "", which sorts before every ts. */
export function newestOf({ messages }) {
  return messages.at(-1)?.ts ?? "";
}

function withChannel(state, channel) {
  return { ...state, channels: { ...state.channels, [channel.id]: channel } };
}

function taken({ ephemerals, ...channel }) {
  return { ...channel, messages: [...channel.messages, ...ephemerals].sort(byTs) };
}

function upserted(messages, message) {
  const index = messages.findLastIndex((known) => known.ts === message.ts);
  if (index >= 0) return messages.with(index, message);
  const last = messages.at(-1);
  return !last || last.ts < message.ts ? [...messages, message] : [...messages, message].sort(byTs);
}

function byTs(one, other) {
  return one.ts < other.ts ? -1 : 1;
}

function byId(things) {
  return Object.fromEntries(things.map((thing) => [thing.id, thing]));
}
