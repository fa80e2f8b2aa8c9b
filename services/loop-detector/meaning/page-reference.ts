// References of elements in the snapshot of a page: `[ref=e17]`, `[ref=s1e2]`, `uid=4_12`. Tools of
// browsers number them again with each snapshot.

import { limits } from '../../../shared/contract/limits.ts'

const form = String.raw`(?:(?:s\d{1,6})?e\d{1,6}|\d{1,6}_\d{1,6})`
const inResult = new RegExp(String.raw`\b(ref|uid)=(${form})\b`, 'g')
const inArguments = new RegExp(String.raw`(?<=["'=@\s])${form}(?=["'\s]|$)`)
const alone = new RegExp(`^${form}$`)

/** Whether the text is a reference, and nothing else. */
export function isReference(text: string): boolean {
  return alone.test(text)
}

/** The references of a result, in order. Bounded. */
export function referencesIn(text: string): string[] {
  if (!mayHaveReferences(text)) return []
  const found = text.slice(0, limits.loopMaskedCharsMax).matchAll(inResult)
  return [...found].map(([, , reference = '']) => reference)
}

/** The first reference in the text of arguments. */
export function referenceIn(raw: string): string | undefined {
  return inArguments.exec(raw)?.[0]
}

/** The result with one reference for all. */
export function withoutReferences(text: string): string {
  return mayHaveReferences(text) ? text.replace(inResult, '$1=<*>') : text
}

export function mayHaveReferences(text: string): boolean {
  return text.includes('=') && (text.includes('ref=') || text.includes('uid='))
}
