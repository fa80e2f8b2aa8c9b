// The sentence of a report: its texts, and foreign texts as code.

import type { Child } from '../../../page/kit/html.ts'
import { code } from '../../../page/kit/texts.ts'
import type { Phrase } from '../data.ts'

export function phrases(sentence: Phrase[]): Child[] {
  return sentence.map((phrase) => (typeof phrase === 'string' ? phrase : code(phrase.code)))
}
