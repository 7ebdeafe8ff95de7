// Looking something up by a name that somebody else chose: `constructor` is no block.

/** What a table holds under a name of its own; undefined otherwise. */
export function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
