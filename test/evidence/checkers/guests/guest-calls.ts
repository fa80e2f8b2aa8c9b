// The rounds of guests in the log, and their calls by mark. A mark is unique in a run, so it names
// the call that a guest ran.

import {
  callKey,
  type Evidence,
  type Logged,
  type LoggedMessage,
  recordsOf,
} from '../../evidence.ts'

/** `round`: the record of its round. `key`: as callKey. */
export type GuestCall = { key: string; ordinal: number; round: LoggedMessage<'round-proposed'> }

const prefix = 'guest:'

export function isGuestRecord({ key }: Pick<Logged, 'key'>): boolean {
  return key.startsWith(prefix)
}

/** The evidence with the records of guests only, or without them. */
export function withRecords(evidence: Evidence, { ofGuests }: { ofGuests: boolean }): Evidence {
  const records = evidence.records.filter((record) => isGuestRecord(record) === ofGuests)
  return { ...evidence, records }
}

/** By mark. More than one place: the log judged one call twice. */
export function guestCalls(evidence: Evidence): Map<string, GuestCall[]> {
  const calls = new Map<string, GuestCall[]>()
  for (const round of recordsOf(evidence, 'round-proposed'))
    for (const { ordinal, raw } of round.message.response.calls) {
      const mark = /"mark":"([^"]+)"/.exec(raw)?.[1]
      if (!isGuestRecord(round) || mark === undefined) continue
      const key = callKey(round.message, ordinal)
      calls.set(mark, [...(calls.get(mark) ?? []), { key, ordinal, round }])
    }
  return calls
}
