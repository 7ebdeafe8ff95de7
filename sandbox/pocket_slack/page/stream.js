// The server's events, for as long as the page is open. EventSource connects again by itself and says what it saw last.

const EVENTS = ["snapshot", "message", "gone", "user", "channel", "unseen", "view", "home", "entry"];
const RETRY_MS = 1000;

/**
 * Passes on what one person's page has to know; returns what ends that.
 * @param {string} as  The person's name.
 * @param {(event: {type: string, data: any}) => void} dispatch
 * @param {() => void} onRefused  Called when the server will not have it, as for a person whom it does not know.
 */
export function follow(as, dispatch, onRefused) {
  let source, timer;
  const connect = () => {
    source = new EventSource(`/sandbox/stream?as=${encodeURIComponent(as)}`);
    source.onopen = () => dispatch({ type: "link", data: "live" });
    source.onerror = () => {
      dispatch({ type: "link", data: "lost" });
      if (source.readyState !== EventSource.CLOSED) return;
      // Refused for good, as by a server that is just starting: EventSource gives up, we do not.
      timer = setTimeout(connect, RETRY_MS);
      onRefused();
    };
    for (const type of EVENTS) {
      source.addEventListener(type, (event) => dispatch({ type, data: JSON.parse(event.data) }));
    }
  };
  const end = () => {
    clearTimeout(timer);
    source.close();
  };
  // A page that is kept for the way back would hold its connection, and a browser has six of them for a server.
  const back = (event) => event.persisted && connect();
  connect();
  addEventListener("pagehide", end);
  addEventListener("pageshow", back);
  return () => {
    removeEventListener("pagehide", end);
    removeEventListener("pageshow", back);
    end();
  };
}
