// Moving through messages by keyboard. One message at a time is in the tab order; arrows go on from there.

export const KEYS = [
  ["Tab", "to the messages, and on"],
  ["↑ ↓", "the message before, the message after"],
  ["Home, End", "the first and the last message"],
  ["m", "the menu of the message"],
  ["t", "the thread of the message"],
  ["Enter", "send what is typed; Shift+Enter begins a new line"],
  ["Esc", "close the menu or the window in front"],
];

/** Handles keys on a list of messages, while one of them is in focus. */
export function moveFocus(event) {
  const message = event.target;
  if (!message.matches("li.message") || event.ctrlKey || event.metaKey || event.altKey) return;
  const isDone = MOVES[event.key]?.(message) || SHORTCUTS[event.key]?.(message);
  if (isDone) event.preventDefault();
}

const MOVES = {
  ArrowUp: (message) => focus(sibling(message, "previousElementSibling")),
  ArrowDown: (message) => focus(sibling(message, "nextElementSibling")),
  Home: (message) => focus(message.parentElement.querySelector("li.message")),
  End: (message) => focus(message.parentElement.querySelector("li.message:last-child")),
};

const SHORTCUTS = {
  m: (message) => press(message.querySelector(".message-menu [aria-haspopup]")),
  ContextMenu: (message) => press(message.querySelector(".message-menu [aria-haspopup]")),
  t: (message) => press(message.querySelector(".open-thread")),
};

function sibling(message, direction) {
  const next = message[direction];
  return next?.matches("li.message") ? next : null;
}

function focus(message) {
  if (!message) return false;
  for (const other of message.parentElement.querySelectorAll("li.message[tabindex='0']")) other.tabIndex = -1;
  message.tabIndex = 0;
  message.focus();
  return true;
}

function press(control) {
  control?.click();
  return Boolean(control);
}
