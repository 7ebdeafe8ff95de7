// Parts of the pages of `judge view` and `judge label`.
// Texts come from anywhere: they are put into the page as text alone, never as markup.
const FOLDED = 3000;
const UNSEEN = /[\p{Cc}\p{Cf}]/gu, MEANT = "\n\r\t\u200c\u200d";
const at = (id) => document.getElementById(id);

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The text with a name in the place of each character that nobody sees, or that turns the line round. */
function seen(text) {
  return text.replace(UNSEEN, (each) =>
    MEANT.includes(each) ? each : `⟦U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`);
}

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

function text(title, value) {
  if (value === undefined) return [make("h3", {}, title), make("p", { className: "rest" }, "Not stored.")];
  const shown = seen(value), box = make("div", { className: "text", dir: "auto" });
  const parts = [make("h3", {}, title), box];
  box.textContent = shown.slice(0, FOLDED);
  if (shown.length > FOLDED) {
    box.append("…");
    const more = make("button", { type: "button", className: "plain" }, `Show all ${count(value.length, "character", "characters")}`);
    more.addEventListener("click", () => { box.textContent = shown; box.tabIndex = -1; box.focus(); more.remove(); });
    parts.push(more);
  }
  return parts;
}

