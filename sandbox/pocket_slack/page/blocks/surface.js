// What contains blocks: a message, a modal or the home tab. It knows how a click in it reaches the app.

import { createContext } from "../vendor/preact.js";

/**
 * @typedef {Object} Surface
 * @property {string} id  Unique on the page; the ids of its fields begin with it.
 * @property {(block: Object, element: Object, value: any) => void} click  A click or a choice outside of inputs.
 * @property {(block: Object, element: Object, value: any, isDone: boolean) => void} type  A change inside an input.
 * @property {Object} values  `state.values` in Slack's form.
 * @property {Object<string, string>} errors  The errors under inputs, by block id.
 */

/** @type {Surface} */
export const Surface = createContext({ id: "", click() {}, type() {}, values: {}, errors: {} });
