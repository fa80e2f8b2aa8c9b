// Why an answer stopped, from the provider's word.

import type { Stop } from '../contract/messages.ts'
import { meaningOf } from '../transcript/finish-reasons.ts'

/** `word`: empty if the provider gives none. */
export function stopOfWord(word: string): Stop {
  const meaning = meaningOf(word)
  return meaning === undefined || meaning === 'failed' ? 'other' : meaning
}
