// Admission: refuses a record of a front that no turn can take. The front gets the reason at once.

import { limits } from '../../shared/contract/limits.ts'
import type {
  GuestClaim,
  GuestResults,
  GuestRound,
  Policy,
} from '../../shared/contract/messages.ts'
import { settingsFault } from '../../shared/contract/turn/settings-fault.ts'

/** The reason to refuse the record. Undefined: none. */
export function faultOf(message: GuestRound | GuestResults): string | undefined {
  return (
    sizeFault('turnKey', message.turnKey, 1, limits.guestKeyBytesMax) ??
    sizeFault('agent', message.agent, 1, limits.agentNameBytesMax) ??
    policyFault(message.policy) ??
    (message.type === 'guest-round' ? roundFault(message) : resultsFault(message))
  )
}

/** Whether a claim is one that a front writes. Another one gets no answer. */
export function isClaim({ ordinals, owner, claim }: GuestClaim): boolean {
  return (
    ordinals.length <= limits.responseCallsMax &&
    sizeFault('owner', owner, 1, limits.guestKeyBytesMax) === undefined &&
    sizeFault('claim', claim, 1, limits.guestKeyBytesMax) === undefined
  )
}

function roundFault({ key, response }: GuestRound): string | undefined {
  const { calls } = response
  if (calls.length > limits.responseCallsMax)
    return `the response has ${calls.length} calls; it may have ${limits.responseCallsMax}`
  const misplaced = calls.findIndex(({ ordinal }, place) => ordinal !== place)
  if (misplaced >= 0)
    return `the call at place ${misplaced} has the ordinal ${calls[misplaced]?.ordinal}; it must be its place`
  return keyFault('key', key)
}

function resultsFault({
  keys,
  hiddenKeys,
  results,
  former,
  requestId,
  reached,
  unjudged,
}: GuestResults): string | undefined {
  if (unjudged.length > limits.unjudgedKindsMax + 1)
    return `unjudged has ${unjudged.length} kinds; it may have ${limits.unjudgedKindsMax + 1}`
  for (const { kind, count } of unjudged) {
    if (count < 1) return `unjudged has the count ${count}; it must be 1 or more`
    const fault = sizeFault('unjudged', kind, 1, limits.unjudgedKindBytesMax)
    if (fault !== undefined) return fault
  }
  if (reached.length > limits.budgetsMax)
    return `reached has ${reached.length} budgets; it may have ${limits.budgetsMax}`
  const shown = former === null ? keys : [...keys, ...former.keys]
  if (Math.max(keys.length, former?.keys.length ?? 0) > limits.guestKeysMax)
    return `keys has ${shown.length} rounds; it may have ${limits.guestKeysMax}: name the newest`
  if (hiddenKeys.length > limits.guestKeysMax)
    return `hiddenKeys has ${hiddenKeys.length} rounds; it may have ${limits.guestKeysMax}`
  for (const key of shown) {
    const fault = keyFault('keys', key)
    if (fault !== undefined) return fault
  }
  const [negative] = [...results, ...(former?.results ?? [])].filter(({ nth }) => nth < 0)
  if (negative !== undefined) return `results has nth ${negative.nth}; it must be 0 or more`
  return sizeFault('requestId', requestId, 0, limits.guestKeyBytesMax)
}

/** `<hash>.<n>`, as the count of hidden rounds is added to n. */
function keyFault(field: string, key: string): string | undefined {
  // Such a key has one byte a character.
  if (key.length <= limits.guestKeyBytesMax && keyShape.test(key)) return undefined
  return (
    sizeFault(field, key, 1, limits.guestKeyBytesMax) ??
    `${field} has ${JSON.stringify(key)}; it must be a hash, a dot and a count from 1`
  )
}

const keyShape = /^[0-9a-zA-Z]+\.[1-9][0-9]{0,8}$/

/** The policy's bounds are those of an agent's settings. */
function policyFault(policy: Policy): string | undefined {
  const others = { fallback: '', attempts: 1, stallMs: 1, firstByteMs: null }
  return settingsFault({
    ...others,
    system: null,
    output: null,
    context: null,
    afterTurn: null,
    contents: [],
    policy,
  })
}

function sizeFault(field: string, text: string, min: number, max: number): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes >= min && bytes <= max) return undefined
  return `${field} has ${bytes} bytes; it must have ${min} to ${max}`
}
