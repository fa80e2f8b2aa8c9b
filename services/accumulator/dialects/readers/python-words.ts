// Python's words for values of JSON.

/** JSON's spelling of each word. */
export const pythonWords: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])
