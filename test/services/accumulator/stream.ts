// A round's records for tests of the accumulator, from the events of a stream.

import { accumulator, type OpenRound } from '../../../services/accumulator/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type {
  ModelFinished,
  ModelOpened,
  Part,
  PartEvent,
  RoundProposed,
} from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'

const place = { conversation: 'c', turn: 7, round: 2 }

export function opened(fields: Partial<ModelOpened> = {}): ModelOpened {
  return {
    type: 'model-opened',
    ...place,
    offered: ['read', 'write'],
    expiresAt: 60_000,
    ...fields,
  }
}

export function part(i: number, ...events: PartEvent[]): Part {
  return { type: 'part', ...place, attempt: 'a1', i, events }
}

export function finished(fields: Partial<ModelFinished> = {}): ModelFinished {
  return {
    type: 'model-finished',
    ...place,
    attempt: 'a1',
    parts: 1,
    finish: 'tool_use',
    stop: 'calls',
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
    declarations: [],
    agent: 'agent',
    policy: defaultPolicy,
    callsLeft: 3,
    expiresAt: 60_000,
    callsAsText: false,
    textCalls: 'run',
    echoOf: null,
    rest: [],
    failure: null,
    ...fields,
  }
}

export function event(kind: PartEvent['kind'], text = '', index = 0): PartEvent {
  return { kind, index, id: null, name: null, text }
}

export function callStart(fields: Partial<PartEvent> = {}): PartEvent {
  return { kind: 'call_start', index: 0, id: 'id1', name: 'read', text: '', ...fields }
}

/** The accumulator's proposal for these events, sent as one part. */
export function proposedFor(
  events: PartEvent[],
  fields: Partial<ModelFinished> = {},
): RoundProposed {
  const [record] = given(accumulator, opened(), part(0, ...events), finished(fields)).to('next')
  if (record?.type !== 'round-proposed') throw new Error('no round was proposed')
  return record
}

/**
 * Like proposedFor, with one part for each list of events. `twice`: each part comes again, right
 * after itself and once more at the end.
 */
export function proposedInParts(
  lists: PartEvent[][],
  { twice }: { twice: boolean },
): RoundProposed {
  const parts = lists.map((events, i) => part(i, ...events))
  const sent = twice ? [...parts.flatMap((one) => [one, one]), ...parts] : parts
  const open: OpenRound = {
    offered: ['read', 'write'],
    expiresAt: 60_000,
    bytes: 0,
    attempts: new Map(),
  }
  for (const message of sent)
    accumulator.react(open, { message, offset: 0, previous: undefined, time: 0 })
  const last = {
    message: finished({ parts: parts.length }),
    offset: 0,
    previous: undefined,
    time: 0,
  }
  return accumulator.react(open, last).records?.[0]?.message as RoundProposed
}
