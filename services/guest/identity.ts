// The identity of rounds that a host shows in other words than its model had. Most hosts rewrite
// arguments in their histories and keep the ids of calls. A live answer has the model's own words.
// test/models/guests_rewrites.py has a counterexample for each of the first three rules.
//
// A round of a history is the known round with its words. Otherwise it is the one
// known round with its call ids.
// Ids in two rounds of the history or the turn identify none. Neither do ids at a
// place with two requests, nor those of a round before a message of the user: ids may be fixed.
// A live answer is a round from a history only at the same place, because its own
// record may come later.
// A request with the rounds of the former request and one more shows the outstanding
// answer to the former one, if the words or the call ids are the same.
// Only fronts that hide rounds need the last rule: their live answers count on where their history
// does not.

import { limits } from '../../shared/contract/limits.ts'
import type { GuestResults, GuestRound } from '../../shared/contract/messages.ts'
import { touch } from '../../shared/lib/recency.ts'
import { hashOfKey, idsOfKey } from '../../shared/transcript/round-key.ts'

/** Keys of a turn's rounds in other words than the log has. More than one request names. */
export const guestAliasesMax = 256

export type Identities = {
  /** The round that a key names, for the newest keys in other words. */
  aliases: Map<string, string>
  /** The request at each of the newest places: the key of the last round in its history. */
  asked: Map<string, string>
  /** The places of rounds that were taken from a history. */
  taken: Map<string, string>
  /**
   * The known round with these call ids. Undefined: several have them, or a message of the user came
   * after it, so no later history has it in other words.
   */
  twins: Map<string, string | undefined>
  /** The newest request of the guest. */
  newest: AskedRequest | undefined
}

export type AskedRequest = {
  name: string
  /** The visible rounds, as its front counts them. */
  keys: readonly string[]
  /** The last round in it. */
  place: string
  /** Another request has come with the same rounds. */
  isRepeated: boolean
}

type Known = ReadonlyMap<string, unknown>

/** `asked` at a place that two requests had. */
const severalRequests = ''

export function noIdentities(): Identities {
  return {
    aliases: new Map(),
    asked: new Map(),
    taken: new Map(),
    twins: new Map(),
    newest: undefined,
  }
}

/**
 * Notes a request of the guest. The front's own repeats of it have the same name before the dot.
 * `shown`: its rounds in the turn. `counted`: those that its front counts, without the ones before a
 * message of the user.
 */
export function noteRequest(
  identities: Identities,
  { shown, counted }: Record<'shown' | 'counted', readonly string[]>,
  { requestId, keys }: Pick<GuestResults, 'requestId' | 'keys'>,
): void {
  const { asked } = identities
  const [request = ''] = requestId.split('.')
  noteNewest(identities, { request, keys, place: counted.at(-1) ?? '' }, shown !== counted)
  const place = shown.at(-1) ?? ''
  const before = asked.get(place)
  const isOne = before === undefined || before === request
  touch(asked, place, isOne ? request : severalRequests, limits.guestKeysMax)
}

/** `isFirst`: a message of the user came before it, so it repeats no other request. */
function noteNewest(
  identities: Identities,
  { request, keys, place }: { request: string; keys: readonly string[]; place: string },
  isFirst: boolean,
): void {
  const { newest } = identities
  const isSame = newest?.place === place && areEqual(newest.keys, keys)
  if (newest === undefined || !isSame || (isFirst && newest.name !== request))
    identities.newest = { name: request, keys, place, isRepeated: false }
  else if (newest.name !== request) newest.isRepeated = true
}

/** Finds the known rounds that a history shows in other words. Its keys are oldest first. */
export function recogniseShown(
  identities: Identities,
  known: Known,
  keys: readonly string[],
): void {
  if (!keys.some((key) => isStrange(identities, known, key))) return
  const shown = countsOf(keys)
  for (const [at, key] of keys.entries()) {
    if (!isStrange(identities, known, key)) continue
    const former = withoutIds(key)
    if (former !== key && known.has(former)) addAlias(identities, key, former)
    const ids = idsOfKey(key)
    if (identities.aliases.has(key) || ids === '' || shown.get(ids) !== 1) continue
    const twin = identities.twins.get(ids)
    if (twin !== undefined && !isAskedTwice(identities, keys[at - 1] ?? ''))
      addAlias(identities, key, twin)
  }
}

/** Whether a request shows the answer to the one before it. */
export function showsAnswer(
  { keys: before, isRepeated }: AskedRequest,
  answer: string,
  keys: readonly string[],
): boolean {
  const last = keys.at(-1)
  if (isRepeated || last === undefined) return false
  const isFull = keys.length === limits.guestKeysMax && before.length === keys.length
  if (!areEqual(isFull ? before.slice(1) : before, keys.slice(0, -1))) return false
  const ids = idsOfKey(answer)
  return hashOfKey(last) === hashOfKey(answer) || (ids !== '' && idsOfKey(last) === ids)
}

/** A key that means another round already keeps its meaning for other requests. */
export function recogniseAnswer(
  identities: Identities,
  known: Known,
  { key, own }: { key: string; own: string },
): void {
  if (isStrange(identities, known, key)) identities.aliases.set(key, own)
}

/** Finds the known round that a record of a front means. */
export function recogniseRound(
  identities: Identities,
  known: Known,
  { key, isShown, after, hides }: Pick<GuestRound, 'key' | 'isShown' | 'after' | 'hides'>,
): void {
  const ids = idsOfKey(key)
  if (after === null || hides || ids === '' || !isStrange(identities, known, key)) return
  const twin = identities.twins.get(ids)
  if (twin === undefined || isAskedTwice(identities, after)) return
  if (isShown || identities.taken.get(twin) === after) addAlias(identities, key, twin)
}

/** Notes a round that becomes known. */
export function noteKnown({ twins }: Identities, key: string): void {
  const ids = idsOfKey(key)
  twins.set(ids, twins.has(ids) ? undefined : key)
}

/** A message of the user came after all known rounds. */
export function noteUserMessage({ twins }: Identities): void {
  for (const ids of twins.keys()) twins.set(ids, undefined)
}

/** A host may write its history anew for each request. A forgotten alias is found again. */
function addAlias({ aliases }: Identities, key: string, round: string): void {
  touch(aliases, key, round, guestAliasesMax)
}

/** The key under which the turn knows the round. */
export function ownKey({ aliases }: Identities, key: string): string {
  return aliases.get(key) ?? key
}

/** The key as a front of an older version made it, in a turn that is open across the upgrade. */
function withoutIds(key: string): string {
  return key.replace(`${idsOfKey(key)}.`, '.')
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, at) => key === other[at])
}

function isStrange({ aliases }: Identities, known: Known, key: string): boolean {
  return !known.has(key) && !aliases.has(key)
}

function isAskedTwice({ asked }: Identities, place: string): boolean {
  return asked.get(place) === severalRequests
}

function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(idsOfKey(key), (counts.get(idsOfKey(key)) ?? 0) + 1)
  return counts
}
