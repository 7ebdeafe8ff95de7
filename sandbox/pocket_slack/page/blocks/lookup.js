// Safe lookups by names from outside: an inherited name such as `constructor` must not be found.

/** The table's own value under a name, or undefined. */
export function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
