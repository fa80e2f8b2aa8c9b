// The formats of records: the sets of schemas that builds of Weir share. A format is closed when the
// list names its last schema. Later schemas belong to the next format.
// Schema ids grow, so a format knows exactly the schemas up to its last one.

/** `commit`: the tree that has this format, and no schema of the next one. */
export type ClosedFormat = { format: number; lastSchema: number; commit: string }

/** A release that adds schemas adds a line. */
export const closedFormats: readonly ClosedFormat[] = [
  { format: 1, lastSchema: 163, commit: 'a04e12a7a5225a43601b0ee3a8a5ac1242893efb' },
]

/** The first format that knows the schema: 1 or more. */
export function formatOf(schema: number): number {
  const closed = closedFormats.find(({ lastSchema }) => schema <= lastSchema)
  return closed?.format ?? closedFormats.length + 1
}
