// Stamps: arguments that change with each call and mean nothing, such as the time, an attempt
// number or a cache buster. Calls that are equal without their stamps are nearly equal.
//
// A time is a stamp only if it looks like now: with seconds that nobody would choose. Free
// slots, days and full minutes are questions.
// A value with the name of a bound (`from`, `until`) is a question too, with any seconds:
// windows are counted back from now.
// A remark on a command (`description`) is a stamp, because the command is complete
// without it.
// The id of a message is a stamp only next to a text and a recipient. The id of a request
// (an idempotency key) needs no recipient, because it names no object.
// Any other number or id is a stamp only by its name, never by its look: 4101 may be the
// next customer.

import { limits } from '../../../shared/contract/limits.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { isReference } from '../meaning/page-reference.ts'

/** Whether the argument text may hold a stamp. Most texts cannot, so they skip the search. */
export function mayBeStamped(raw: string): boolean {
  return stampLike.test(raw)
}

const stampLike =
  /1[5-9]\d{8}|:\d\d:\d\d|nonce|now|cb|bust|id"|Id"|ID"|key"|Key"|attempt|retr|try|tries|iteration|[?&]_=|(?:command|cmd)"|ref"/i

/**
 * The arguments without their stamps, as one text. Undefined: they have none. `isView`: the result
 * shows a page with references.
 */
export function withoutStamps(value: unknown, isView = false): string | undefined {
  let found = false
  const plain = (key: string, member: unknown, depth: number): unknown => {
    if (stampName.test(plainNameOf(key)) && typeof member !== 'object') {
      found = true
      return null
    }
    if (boundName.test(plainNameOf(key)) && typeof member !== 'object') return String(member)
    if (typeof member === 'string') {
      if (isElement(key, member)) {
        found = true
        return member.replace(snapshot, '')
      }
      const text = member.length > limits.loopMaskedCharsMax ? member : unstamped(member)
      if (text !== member) found = true
      return text
    }
    if (typeof member === 'number' && isNow(member)) {
      found = true
      return null
    }
    if (typeof member !== 'object' || member === null || depth > limits.argumentDepthMax)
      return typeof member === 'bigint' ? String(member) : member
    if (Array.isArray(member)) return member.map((item) => plain('', item, depth + 1))
    return plainMembers(member as Record<string, unknown>, depth)
  }
  const plainMembers = (members: Record<string, unknown>, depth: number): unknown => {
    const names = Object.keys(members).sort()
    const kept = names.some((name) => isCommand.test(name))
      ? names.filter((name) => !aboutCommand.test(name))
      : names
    const isNamed = isView && names.some((name) => elementName.test(name))
    const used = isNamed ? kept.filter((name) => !isElement(name, members[name])) : kept
    if (used.length < names.length) found = true
    return used.map((name) => [name, plain(name, members[name], depth + 1)])
  }
  const text = JSON.stringify(plain('', value, 0))
  return found ? text : undefined
}

/**
 * The arguments of a sent message without its ids, and these ids. Undefined: no such message. It
 * has a text and a recipient, so it stays the same message under another id. Without a recipient,
 * only an id of the request may differ, next to a text for people.
 */
export function withoutMessageId(value: unknown): { text: string; ids: string[] } | undefined {
  if (!isObject(value)) return undefined
  const members = Object.entries(value)
  const isSent = hasRecipient(members)
  const isId = ([name, member]: Member) =>
    typeof member !== 'object' &&
    (isRequestId(name) || (isSent && messageId.test(plainNameOf(name))))
  const ids = members.filter(isId)
  const others = members.filter((member) => !isId(member))
  if (ids.length === 0 || !hasText(others, isSent)) return undefined
  const text = withoutStamps(Object.fromEntries(others))
  return {
    text: text ?? JSON.stringify(others.sort(byName), (_, member: unknown) => plainNumber(member)),
    ids: ids.map(([, id]) => String(id)).filter((id) => id.length > 0),
  }
}

/** Whether the arguments are a message or a report: a text for people, or any text and a recipient. */
export function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false
  const members = Object.entries(value)
  return hasText(members, hasRecipient(members))
}

type Member = [string, unknown]

function hasRecipient(members: Member[]): boolean {
  return members.some(([name]) => recipient.test(name))
}

function hasText(members: Member[], isSent: boolean): boolean {
  return members.some(
    ([name, member]) =>
      typeof member === 'string' &&
      !recipient.test(name) &&
      member.length >= messageCharsMin &&
      (isSent || messageText.test(name)),
  )
}

/** The default order would make a text of the member too, and a model writes any member. */
function byName([one]: Member, [other]: Member): number {
  return one < other ? -1 : 1
}

function plainNumber(member: unknown): unknown {
  return typeof member === 'bigint' ? String(member) : member
}

function plainNameOf(name: string): string {
  return name.slice(0, stampNameCharsMax).replace(/[_-]/g, '').toLowerCase()
}

const messageId =
  /^(?:id|uuid|guid|ref|reference|(?:message|msg|mail|event|notification)(?:id|ref|key))$/
/** The text of a message or a report, for people. */
const messageText =
  /^(?:text|body|message|content|title|subject|summary|description|comment|note|headline)$/i

/** The id of a request, by which its receiver knows a repetition. It is never that of an object. */
function isRequestId(name: string): boolean {
  return stampName.test(plainNameOf(name)) || requestId.test(plainNameOf(name))
}

const requestId =
  /^(?:client(?:message|msg|request|mutation)?(?:id|ref|key|token|no)|(?:message)?dedup(?:e|lication)?(?:id|ref|key|token)|idempotencytoken|randomid)$/
const recipient =
  /^(?:to|cc|recipients?|receiver|channel|room|chat|topic|email|phone|address|webhook)$/i
/** A shorter text is a word that many calls share, such as a state. */
const messageCharsMin = 12

const stampNameCharsMax = 32
const stampName =
  /^(?:nonce|now|cb|cachebust(?:er|ing)?|(?:request|trace|span|correlation|idempotency)(?:id|key)|(?:attempt|retry|try|iteration)(?:s|no|number|count|index)?|retries|tries)$/

/** `from`, `end_time`, `startDate`, `sinceTs`. */
const boundName =
  /^(?:from|to|since|until|till|before|after|start|end|begin|first|last|min|max|gte?|lte?)(?:at|ts|time|timestamp|date|ms|seconds)?$/

const isCommand = /^(?:command|cmd)$/
const aboutCommand =
  /^(?:description|explanation|reason|purpose|comment|rationale|justification|thoughts?|intent|summary)$/i

/** The words for an element of a page, and its reference, which is new in each snapshot. */
const elementName = /^(?:element|description|label)$/
const referenceName = /^(?:ref|uid)$/
/** The number of the snapshot or frame in front of that of the element: `s1e2`, `f2e5`, `4_12`. */
const snapshot = /^[sf]\d+(?=e\d+$)|^\d+(?=_\d+$)/

/** The `ref` of a branch and the `uid` of a user have other forms. */
function isElement(name: string, value: unknown): boolean {
  return referenceName.test(name) && typeof value === 'string' && isReference(value)
}

/** Seconds or milliseconds since the epoch, from 2017 to 2033, and not a full minute. */
function isNow(number: number): boolean {
  const seconds = number >= 1e12 ? number / 1000 : number
  return seconds >= 1.5e9 && seconds < 2e9 && seconds % 60 !== 0
}

const clock =
  /\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:(?!00(?:\.0+)?(?!\d))\d{2}(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?/g
const epoch = /\b1[5-9]\d{8}(?:\d{3})?\b/g
/** A query parameter of an address. */
const parameter = /([?&])(?:_|cb|nonce|now|cachebust\w{0,8})=[^&#\s]*/g
const attempt = /\b(attempt|retry|try) ?#?\d+\b/gi

function unstamped(text: string): string {
  if (!/\d/.test(text)) return text
  return text
    .replace(parameter, '$1')
    .replace(clock, '<now>')
    .replace(epoch, (digits) => (isNow(Number(digits)) ? '<now>' : digits))
    .replace(attempt, '$1')
}

/**
 * The answer to a new message, ticket or order without members and words named as ids, `OPS-881`,
 * `#881`, and numbers of addresses. Counts, places, codes and states stay: they may be progress.
 */
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
