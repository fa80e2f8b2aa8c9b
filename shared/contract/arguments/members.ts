// Finds faults of a JSON text that JSON.parse hides: names that a reader may merge or cut, and
// nesting without a bound.
//
// JSON.parse keeps the last of two members with the same name. RFC 8259 does not define
// which one counts, so the validator could judge one value and the tool read the other.
// Go, Jackson and .NET match names in any case, and Swift compares them canonically. Two
// names that one of them merges are a fault. No reader merges compatible forms (m², m2).
// Readers in C end a name at U+0000.

import { closingQuote, nextMark, spaceEnd, stringValue, unit } from '../../lib/json/tokens.ts'
import { quoted } from './name-text.ts'

const { closeBrace, closeBracket, colon, openBrace, openBracket, quote } = unit

/**
 * `repeated`: the first name that occurs twice in one object. `alike`: the first name that some
 * reader merges with an earlier one. `nul`: a name with U+0000. `too-deep`: more than `depthMax`
 * arrays and objects are open at once.
 */
export type MembersFault =
  | { kind: 'repeated'; name: string }
  | { kind: 'alike'; name: string; other: string }
  | { kind: 'nul'; name: string }
  | { kind: 'too-deep' }

/** `text` must be JSON. Undefined: every reader finds the same members. */
export function membersFault(text: string, depthMax: number): MembersFault | undefined {
  /** The open arrays and objects, innermost last: for an object, its names so far by merged form. */
  const open: (Map<string, string> | undefined)[] = []
  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, at + 1)) {
    switch (text.charCodeAt(at)) {
      case openBrace:
        open.push(new Map())
        if (open.length > depthMax) return { kind: 'too-deep' }
        break
      case openBracket:
        open.push(undefined)
        if (open.length > depthMax) return { kind: 'too-deep' }
        break
      case closeBrace:
      case closeBracket:
        open.pop()
        break
      case quote: {
        const end = closingQuote(text, at + 1)
        // Only names are followed by a colon.
        if (text.charCodeAt(spaceEnd(text, end + 1)) === colon) {
          const fault = nameFault(stringValue(text, at + 1, end), open.at(-1))
          if (fault !== undefined) return fault
        }
        at = end
      }
    }
  }
  return undefined
}

/** The fault in words for the model. */
export function membersFaultWords(fault: MembersFault): string {
  switch (fault.kind) {
    case 'repeated':
      return `field ${quoted(fault.name)} is given twice`
    case 'alike':
      return `fields ${quoted(fault.other)} and ${quoted(fault.name)} differ only in their letters' case or form`
    case 'nul':
      return `the name of field ${quoted(fault.name)} has U+0000`
    case 'too-deep':
      return 'the arguments are nested too deep'
  }
}

function nameFault(name: string, names: Map<string, string> | undefined): MembersFault | undefined {
  if (name.includes('\0')) return { kind: 'nul', name }
  const form = mergedForm(name)
  const other = names?.get(form)
  if (other === name) return { kind: 'repeated', name }
  if (other !== undefined) return { kind: 'alike', name, other }
  names?.set(form, name)
  return undefined
}

/**
 * One text for all names that some reader merges. Lower case and then upper case folds
 * all of K and U+212A, s and U+017F, the three sigmas, ß and SS.
 */
export function mergedForm(name: string): string {
  if (ascii.test(name)) return name.toLowerCase()
  const normal = (text: string, form: 'NFC' | 'NFD') =>
    name.length > normalizedMax ? text : text.normalize(form)
  const upper = normal(name, 'NFD')
    .replaceAll('I\u0307', 'I') // Java lowers U+0130 to i
    .toLowerCase()
    .toUpperCase()
  return normal(upper, 'NFC').toLowerCase()
}

/** Normalizing takes the square of the length for a name of combining marks. */
const normalizedMax = 128

const ascii = /^[ -~]*$/
