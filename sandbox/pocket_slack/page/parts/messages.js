// A list of messages that stays fast when it is long: the newest are drawn, older ones when the person scrolls up.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { dayOf, isSameDay } from "../blocks/dates.js";
import { newestOf, store } from "../store.js";
import { Message } from "./message.js";
import { focusFirst, focusLast, moveFocus, putInTabOrder } from "./keyboard.js";

const AT_FIRST = 60;
const MORE = 100;
const NEAR_PX = 80;
const EMPTY = "Nothing here yet. Say something!";

/** The messages, newest at the bottom; stays at the bottom if it is there, and goes there when `sent` changes. */
export function Messages({ state, channel, messages, replies = new Map(), label, isThread = false, at, sent }) {
  const list = useRef(null);
  const [room, setRoom] = useState(AT_FIRST);
  const [inSight, setInSight] = useState(newestOf({ messages }));
  const below = messages.filter((message) => message.ts > inSight).length;
  const wanted = at ? messages.findIndex((message) => message.ts === at) : -1;
  const start = Math.max(0, Math.min(messages.length - room, wanted < 0 ? Infinity : wanted - 5));
  const isAtEnd = useRef(wanted < 0);
  const fromEnd = useRef(null); // how far the list was from its end before older messages were added above
  const isGoingHome = useRef(false);

  const look = () => {
    const { scrollHeight, scrollTop, clientHeight } = list.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    if (isAtEnd.current) setInSight(newestOf({ messages }));
  };
  const goToEnd = () => {
    list.current.scrollTop = list.current.scrollHeight;
    look();
  };
  useLayoutEffect(() => {
    // Also after a reply, which lengthens its parent.
    if (isAtEnd.current) goToEnd();
  }, [channel.messages]);
  useLayoutEffect(() => {
    if (sent) goToEnd();
  }, [sent]);
  useLayoutEffect(() => {
    const isShown = list.current.clientHeight > 0; // false on a small screen, behind another pane
    if (isShown) store.dispatch({ type: "seen", data: channel });
  }, [channel.messages, state.place]);
  useLayoutEffect(() => {
    // The browser keeps the scroll position by itself, but not at the very top, where scrolling up ends.
    if (fromEnd.current !== null) list.current.scrollTop = list.current.scrollHeight - fromEnd.current;
    if (isGoingHome.current) focusFirst(list.current);
    fromEnd.current = null;
    isGoingHome.current = false;
  }, [start]);
  useEffect(() => {
    // When the inspector opens or the window shrinks, the newest message stays visible.
    const observer = new ResizeObserver(([{ target }]) => {
      if (isAtEnd.current) target.scrollTop = target.scrollHeight;
    });
    observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (wanted < 0) return;
    list.current.querySelector(`[data-ts="${at}"]`)?.scrollIntoView({ block: "center" });
    look();
  }, [at, wanted >= 0]);

  const drawEarlier = (count) => {
    fromEnd.current = list.current.scrollHeight - list.current.scrollTop;
    setRoom(messages.length - start + count);
  };
  const onKeyDown = (event) => {
    isGoingHome.current = start > 0 && event.key === "Home" && event.target.matches("li.message");
    if (isGoingHome.current) drawEarlier(start);
    else moveFocus(event);
  };
  const onScroll = ({ target }) => {
    look();
    if (target.scrollTop < NEAR_PX && start > 0) drawEarlier(MORE);
  };
  const showNew = () => {
    goToEnd();
    focusLast(list.current);
  };
  return html`<ol
      class="messages"
      ref=${list}
      aria-label=${label}
      onScroll=${onScroll}
      onKeyDown=${onKeyDown}
      onFocusCapture=${putInTabOrder}
    >
      ${
        start > 0 &&
        html`<li key="earlier" class="earlier">
          <button class="button quiet" type="button" onClick=${() => drawEarlier(MORE)}>
            ${start} earlier messages
          </button>
        </li>`
      }
      ${messages.length === 0 && html`<li key="empty" class="earlier">${isThread ? "This thread is gone." : EMPTY}</li>`}
      ${messages
        .slice(start)
        .flatMap((message, index, shown) => [
          !isSameDay(message.ts, shown[index - 1]?.ts) &&
            html`<li key="day-${message.ts}" class="day"><span>${dayOf(message.ts)}</span></li>`,
          html`<${Message}
            key=${message.ts}
            state=${state}
            channel=${channel}
            message=${message}
            replies=${replies.get(message.ts)}
            isThread=${isThread}
            isLast=${index === shown.length - 1}
            isWanted=${message.ts === at}
          />`,
        ])}
    </ol>
    ${
      below > 0 &&
      html`<button class="button primary new-below" type="button" onClick=${showNew}>
        ${below} new ${below === 1 ? "message" : "messages"} below
      </button>`
    }`;
}
