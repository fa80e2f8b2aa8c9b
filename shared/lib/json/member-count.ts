// The members of a JSON text: reading millions of small ones blocks a process for seconds.

import { closingQuote, unit } from './tokens.ts'

const { comma, openBrace, openBracket, quote } = unit

/** Whether its lists and objects have more members together. Linear. The text needs not be JSON. */
export function hasMoreMembers(text: string, membersMax: number): boolean {
  if (text.length <= membersMax) return false
  let members = 0
  for (let at = 0; at < text.length; at += 1) {
    const found = text.charCodeAt(at)
    if (found === openBracket || found === openBrace || found === comma) {
      members += 1
      if (members > membersMax) return true
    } else if (found === quote) at = closingQuote(text, at + 1)
  }
  return false
}
