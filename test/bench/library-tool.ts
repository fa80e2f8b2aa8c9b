// The tool of the compared libraries: a function in the process, with the arguments that
// agent-loop-server.ts streams. Each library checks them against the same schema.

import { z } from 'zod'

export const parameters = z.object({ hall: z.int(), article: z.string(), note: z.string() })

export function countArticles({ hall }: { hall: number }): string {
  return `There are ${17 + hall * 12} of them in hall ${hall}; the shelves were last counted on Monday.`
}
