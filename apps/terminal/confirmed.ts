// A question that a person answers with y or n before a command changes something.

import { createInterface } from 'node:readline/promises'
import type { Streams } from './streams.ts'

/** False for every other answer than yes. */
export async function isConfirmed(
  question: string,
  { input, errors }: Pick<Streams, 'input' | 'errors'>,
): Promise<boolean> {
  const prompt = createInterface({ input, output: errors, terminal: true, historySize: 0 })
  try {
    return /^\s*y(es)?\s*$/i.test(await prompt.question(`${question} y or n: `))
  } finally {
    prompt.close()
  }
}
