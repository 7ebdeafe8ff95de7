// The server's events, while the page is open. EventSource reconnects by itself and sends the id of its last event.

const KINDS = "snapshot message gone thread user channel unseen view home steps entry".split(" ");
const RETRY_MS = 1000;

/**
 * Passes on the events for one person's page; returns a function that stops this.
 * @param {string} as  The person's name.
 * @param {(event: {type: string, data: any}) => void} dispatch
 * @param {() => void} onRefused  Called when the server refuses the connection, as it does for an unknown person.
 */
export function follow(as, dispatch, onRefused) {
  let source, timer;
  const connect = () => {
    source = new EventSource(`/sandbox/stream?as=${encodeURIComponent(as)}`);
    source.onopen = () => dispatch({ type: "link", data: "live" });
    source.onerror = () => {
      dispatch({ type: "link", data: "lost" });
      if (source.readyState !== EventSource.CLOSED) return;
      // Refused with an error, as by a server that is just starting: EventSource gives up, but this keeps trying.
      timer = setTimeout(connect, RETRY_MS);
      onRefused();
    };
    for (const type of KINDS) {
      source.addEventListener(type, (event) => dispatch({ type, data: JSON.parse(event.data) }));
    }
  };
  const end = () => {
    clearTimeout(timer);
    source.close();
  };
  // A page in the browser's back/forward cache would keep its connection, and a browser has only six per server.
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
