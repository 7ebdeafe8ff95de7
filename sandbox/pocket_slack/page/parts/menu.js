// A menu button: https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

const MENU_PX = 220; // about the height of a menu; with less room below, it opens upwards

/** A button that opens a menu of `items`: {label, note, run}. */
export function Menu({ label, items, tabIndex, children }) {
  const [isOpen, setOpen] = useState(false);
  const [isUp, setUp] = useState(false);
  const root = useRef(null);
  const close = (hasFocus) => {
    setOpen(false);
    if (hasFocus) root.current.querySelector("button").focus();
  };
  // At once: a later effect could take the focus away from where a fast user has gone meanwhile.
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    root.current.querySelector("[role=menuitem]").focus();
    const outside = (event) => root.current.contains(event.target) || setOpen(false);
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [isOpen]);
  const toggle = (event) => {
    setUp(innerHeight - event.currentTarget.getBoundingClientRect().bottom < MENU_PX);
    setOpen(!isOpen);
  };
  const choose = (item) => {
    close(true);
    item.run();
  };
  return html`<span class="menu" ref=${root} onKeyDown=${isOpen ? (event) => onKey(event, close) : undefined}>
    <button
      class="button quiet"
      type="button"
      aria-label=${label}
      title=${label}
      tabindex=${tabIndex}
      aria-haspopup="menu"
      aria-expanded=${String(isOpen)}
      onClick=${toggle}
    >
      ${children}
    </button>
    ${
      isOpen &&
      html`<div role="menu" aria-label=${label} class=${isUp ? "up" : ""}>
        ${items.map(
          (item) =>
            html`<button role="menuitem" type="button" tabindex="-1" onClick=${() => choose(item)}>
              ${item.label}${item.note && html` <small>${item.note}</small>`}
            </button>`,
        )}
      </div>`
    }
  </span>`;
}

function onKey(event, close) {
  const items = [...event.currentTarget.querySelectorAll("[role=menuitem]")];
  const index = items.indexOf(document.activeElement);
  const targets = {
    ArrowDown: (index + 1) % items.length,
    ArrowUp: (index - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  if (event.key === "Escape") close(true);
  else if (event.key === "Tab") close(false);
  else if (event.key in targets) items[targets[event.key]].focus();
  else return;
  event.stopPropagation();
  if (event.key !== "Tab") event.preventDefault();
}
