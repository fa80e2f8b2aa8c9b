// Pages of a browser: the address that a call opens, and the references of elements in a snapshot,
// `[ref=e17]`, `[ref=s1e2]`, `[ref=f2e5]`, `uid=4_12`. Tools of browsers number them again with each
// snapshot.

import { limits } from '../../../shared/contract/limits.ts'
import { refusesCredentials } from '../evidence/failure-kind.ts'

const form = String.raw`(?:(?:[sf]\d{1,6})?e\d{1,6}|\d{1,6}_\d{1,6})`
const inResult = new RegExp(String.raw`\b(ref|uid)=(${form})\b`, 'g')
const inArguments = new RegExp(String.raw`(?<=["'=@\s])${form}(?=["'\s]|$)`, 'g')
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

/** The text of arguments with another text for each reference. */
export function withReferences(raw: string, textFor: (reference: string) => string): string {
  return raw.replace(inArguments, textFor)
}

/** The result with one reference for all. */
export function withoutReferences(text: string): string {
  return mayHaveReferences(text) ? text.replace(inResult, '$1=<*>') : text
}

export function mayHaveReferences(text: string): boolean {
  return text.includes('=') && (text.includes('ref=') || text.includes('uid='))
}

/** The address that a call opens, and its host. Empty: it opens no page. `raw`: its arguments as sent. */
export function openedAddress(tool: string, raw: string): string[] {
  if (raw.length > charsMax) return []
  const [, address = '', host = ''] = addressed.exec(raw) ?? []
  return address !== '' && (opens.test(tool) || opens.test(raw)) ? [address, host] : []
}

/** The page that a call names, without query and fragment. Undefined: it names no page. */
export function pageIn(raw: string): string | undefined {
  const [, address = ''] = raw.length > charsMax ? [] : (addressed.exec(raw) ?? [])
  return address.replace(/[?#].*$|\/+$/g, '') || undefined
}

/**
 * The arguments as sent, without the values of parameters in addresses. Other values are other
 * questions to one page, other names are not. The place in a list is no question, so that value stays.
 * Undefined: no address has a parameter.
 */
export function withoutParameters(raw: string): string | undefined {
  if (!mayHaveParameters(raw)) return undefined
  return raw.replace(query, (whole) => whole.replace(parameter, '$1'))
}

/** The parameters of addresses, without places in lists. Empty: there are none. */
export function parametersIn(raw: string): string {
  if (!mayHaveParameters(raw)) return ''
  return (raw.match(query) ?? []).map((whole) => whole.replace(placeInList, '$1')).join()
}

function mayHaveParameters(raw: string): boolean {
  return raw.length <= charsMax && raw.includes('?') && raw.includes('://')
}

const query = /\?[^\s"'#<>?]{1,1024}/g
const places = '(?:p|page\\w{0,8}|offset|start|skip|limit|per_page|size|cursor|after)='
const parameter = new RegExp(`([?&;](?!${places})[^=&;?]{1,64}=)[^&;]*`, 'gi')
const placeInList = new RegExp(`([?&;]${places})[^&;]*`, 'gi')

/** Whether the page itself forbids the visit, and no policy: other addresses may not. */
export function isRefusedPage(raw: string, error: string): boolean {
  return (
    addressed.test(raw.slice(0, charsMax)) &&
    refused.test(error) &&
    !ownRefusal.test(error) &&
    !refusesCredentials(error)
  )
}

/** The text of a page without the address that it states of itself. A page may forward to another. */
export function withoutOwnAddress(text: string): string {
  return text.replace(ownAddress, '$1')
}

const ownAddress = /\b((?:url|title|location|address)["']? ?: ?["']?)https?:\/\/[^\s"']{1,2048}/gi
const charsMax = 2_048
const addressed = /"(?:url|uri|href|address|link|target)" ?: ?"(https?:\/\/([^\s"/?#]+)[^\s"]*)"/i
const refused = /\b403\b|\bforbidden\b|\baccess denied\b/i
const ownRefusal = /polic|egress|proxy|sandbox|(?:allow|white)-?list/i
const opens = /navigat|go_?to|brows|visit|(?:^|[_"])open|"launch"/i
