// Moving through messages by keyboard. One message at a time is in the tab order; the arrow keys move on from there.

export const KEYS = [
  ["Tab", "to the messages; from one of them to its menu, and on"],
  ["↑ ↓", "the message before, the message after"],
  ["Home, End", "the first and the last message"],
  ["m", "the menu of the message"],
  ["t", "the thread of the message"],
  ["Enter", "send what is typed; Shift+Enter begins a new line"],
  ["Esc", "close the menu or the window in front"],
];

/** Handles keys on a list of messages, while one of them has the focus. */
export function moveFocus(event) {
  const message = event.target;
  if (!message.matches("li.message") || event.ctrlKey || event.metaKey || event.altKey) return;
  const isDone = MOVES[event.key]?.(message) || SHORTCUTS[event.key]?.(message);
  if (isDone) event.preventDefault();
}

/** Moves the focus to the first message that is drawn. */
export function focusFirst(list) {
  return focus(list.querySelector("li.message"));
}

/** Moves the focus to the newest message. */
export function focusLast(list) {
  return focus(list.querySelector("li.message:last-child"));
}

/** Moves the focus to the message after or before one that is about to be removed. */
export function focusNeighbour(message) {
  focus(sibling(message, "nextElementSibling") ?? sibling(message, "previousElementSibling"));
}

/** Makes the message that gets the focus the only one in the tab order, with its menu. */
export function putInTabOrder({ target }) {
  const current = target.closest("li.message");
  if (!current) return;
  for (const message of current.parentElement.querySelectorAll("li.message")) {
    const stops = [message, ...message.querySelectorAll(".message-menu [aria-haspopup], .open-thread")];
    for (const stop of stops) stop.tabIndex = message === current ? 0 : -1;
  }
}

const MOVES = {
  ArrowUp: (message) => focus(sibling(message, "previousElementSibling")),
  ArrowDown: (message) => focus(sibling(message, "nextElementSibling")),
  Home: (message) => focusFirst(message.parentElement),
  End: (message) => focusLast(message.parentElement),
};

const SHORTCUTS = {
  m: (message) => press(message.querySelector(".message-menu [aria-haspopup]")),
  ContextMenu: (message) => press(message.querySelector(".message-menu [aria-haspopup]")),
  t: (message) => press(message.querySelector(".open-thread")),
};

function sibling(message, direction) {
  let next = message[direction];
  while (next && !next.matches("li.message")) next = next[direction];
  return next;
}

function focus(message) {
  message?.focus();
  return Boolean(message);
}

function press(control) {
  control?.click();
  return Boolean(control);
}
