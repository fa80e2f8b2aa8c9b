// The ids that a service gives to each new message, ticket or order. Two answers that differ only in
// them are one answer to one message that was sent twice.
//
// NEW-IDS-1. Counts, places, codes and states stay, because they may be progress. A number is an id
//     only by its name or its form.
// NEW-IDS-2. Each pattern is linear in the text, because output of tools is untrusted.

import { limits } from '../../../shared/contract/limits.ts'

/** The answer without members and words named as ids, `OPS-881`, `#881`, and numbers of addresses. */
export function withoutNewIds(answer: string): string {
  return answer
    .slice(0, limits.loopMaskedCharsMax)
    .replace(address, (url) => url.replace(/\d+/g, '<id>'))
    .replace(idMember, '$1<id>')
    .replace(ticket, '<id>')
    .replace(namedId, '$1<id>')
}

const address = /\bhttps?:\/\/[^\s"'<>]{1,300}/gi
const idMember =
  /("(?:\w{0,30}id|key|ts|ref|reference|receipt|(?:ticket|issue|sequence|message|confirmation|tracking)_?(?:number|no))" ?: ?)(?:"[^"]{1,120}"|\d{1,40})/gi
const ticket = /\b[A-Z][A-Z\d]{1,9}-\d{1,12}\b|#\d{1,12}\b(?! ?(?:\/|of\b))/g
const namedId =
  /\b((?:id|ref(?:erence)?|receipt|ticket|issue|queued as)[ :=]{1,3})(?=\w*\d)[\w-]{1,60}\b(?! ?(?:\/|of\b))/gi
