// The speed of the conversation's reducer and its memory. Run alone: node
// test/bench/conversation.ts
//
// Not measured: the runtime's work (reading, encoding, sending, committing, and decoding beyond the
// baseline), long texts, and a cold process.

import { conversation } from '../../services/conversation/reducer.ts'
import { decode, encode } from '../../shared/codec/codec.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { carriedIn, outcome, says, settingsWith, tick } from '../services/conversation/samples.ts'
import type { Row } from './row.ts'

type State = NonNullable<Parameters<typeof conversation.react>[0]>
type Inbound = Parameters<typeof conversation.react>[1]

const rounds = 25
const secondsEach = 1
const conversations = 10_000

/** Runs all measurements, in a few seconds. */
export function benchConversation(): Row[] {
  const turn = oneTurn('c')
  const bytes = turn.map(({ message }) => encode(message))
  const decoding = perSecond(bytes.length, () => {
    for (const each of bytes) decode(each)
  })
  const folding = perSecond(turn.length, () => {
    let state: State | undefined
    for (const record of turn) state = conversation.react(state, record).state
  })
  const { open, idle, left } = growth()
  return [
    {
      name: `conversation: records folded, turns of ${rounds} rounds`,
      value: folding,
      unit: 'records/s',
      baseline: 'decoding the same records',
      ratio: folding / decoding,
    },
    {
      name: `conversation: state with ${conversations} turns open in their last round, each`,
      value: open,
      unit: 'bytes as JSON',
    },
    {
      name: `conversation: state with ${conversations} conversations idle, each`,
      value: idle,
      unit: 'bytes as JSON',
    },
    {
      name: `conversation: units left of ${conversations} after their idle time`,
      value: left,
      unit: 'units',
    },
  ]
}

/** A message, rounds with a call each, an answer, and the carried record that returns. */
function oneTurn(key: string): Inbound[] {
  const settings = settingsWith({ rounds: limits.turnRoundsMax, calls: limits.turnCallsMax })
  const calling = Array.from({ length: rounds - 1 }, (_, i) =>
    outcome(0, i + 1, { conversation: key, calls: 1, caps: settings.policy.caps }),
  )
  const last = outcome(0, rounds, { conversation: key, text: 'done', caps: settings.policy.caps })
  const messages = [says('m1', { conversation: key, settings }), ...calling, last]
  const at = (message: Inbound['message'], offset: number): Inbound => ({
    message,
    offset,
    previous: offset === 0 ? undefined : offset - 1,
    time: offset,
  })
  const records = messages.map(at)
  const carried: Message = carriedIn(
    records.reduce(reactTo, { state: undefined, records: [] }).records,
  )
  return [...records, at(carried, records.length)]
}

type Folded = { state: State | undefined; records: Parameters<typeof carriedIn>[0] }

function reactTo({ state }: Folded, record: Inbound): Folded {
  const reaction = conversation.react(state, record)
  return { state: reaction.state, records: reaction.records ?? [] }
}

/**
 * Bytes of the state of each conversation, in the last round of a turn and when idle, and the
 * number of states left after the idle time.
 */
function growth(): { open: number; idle: number; left: number } {
  let [open, idle, left] = [0, 0, 0]
  for (let i = 0; i < conversations; i++) {
    const key = `conversation-${i}`
    let folded: Folded = { state: undefined, records: [] }
    for (const record of oneTurn(key)) {
      folded = reactTo(folded, record)
      if (record.offset === rounds - 1) open += JSON.stringify(folded.state).length
    }
    idle += JSON.stringify(folded.state).length
    const later = rounds + 1
    const ticked = reactTo(folded, {
      message: tick(key),
      offset: later,
      previous: later - 1,
      time: later + limits.conversationIdleMs,
    })
    const carried = carriedIn(ticked.records)
    const over = reactTo(ticked, {
      message: carried,
      offset: later + 1,
      previous: later,
      time: later + 1 + limits.conversationIdleMs,
    })
    if (over.state !== undefined) left++
  }
  return { open: open / conversations, idle: idle / conversations, left }
}

/** The rate per second of `count` items per run. The first second warms up. */
function perSecond(count: number, run: () => void): number {
  for (let warm = performance.now(); performance.now() - warm < secondsEach * 1000; ) run()
  const began = performance.now()
  let runs = 0
  do {
    run()
    runs++
  } while (performance.now() - began < secondsEach * 1000)
  return (count * runs * 1000) / (performance.now() - began)
}

if (import.meta.main) console.table(benchConversation())
