import { describe, expect, it } from '@jest/globals'
import { conversation } from '../../../services/conversation/reducer.ts'
import { intake } from '../../../services/intake/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { codec, decode, encode, hold } from '../../../shared/codec/codec.ts'
import type { RecordToAppend, StoredRecord } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  AttemptFailed,
  AttemptStarted,
  Cancel,
  Carried,
  Message,
  ModelRequest,
  Response,
  RoundOutcome,
  Tick,
} from '../../../shared/contract/messages.ts'
import { partitionOf, partitionsOf } from '../../../shared/contract/partition.ts'
import { closed, type Received, type Stage } from '../../../shared/contract/stage.ts'
import { keyOf } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Marks } from '../../../shared/runtime/derived-id.ts'
import { type Applied, createFold } from '../../../shared/runtime/fold.ts'
import type { Judge } from '../../../shared/runtime/log/refusals.ts'
import { refusedKeptMax } from '../../../shared/runtime/log/refusals.ts'
import { cancel, modelRequest, responseWith, userMessage } from '../../support/messages.ts'

// A toy stage in the gateway's place. A request opens a unit and counts failed attempts in place,
// and a cancel closes it and writes the count. It changes its state and then throws on an attempt
// whose reason is 'throw'. A tick moves its due unless the count is 13.
type Count = { request: ModelRequest; failed: number; due: number }
type In = ModelRequest | Cancel | AttemptFailed | AttemptStarted | Tick

const counter: Stage<Count, In> = {
  name: 'llm-gateway',
  unit: (message) =>
    'round' in message ? `${message.conversation}/${message.turn}/${message.round}` : '',
  react(state, { message }) {
    switch (message.type) {
      case 'model-request':
        return state ? { state } : { state: { request: message, failed: 0, due: 5_000 } }
      case 'attempt-failed':
        if (state === undefined) return closed
        state.failed += 1
        if (message.reason === 'throw') throw new Error('it threw on purpose')
        if (message.reason === 'too large')
          return {
            state,
            records: [{ to: 'response', message: opened('x'.repeat(limits.recordBytesMax)) }],
          }
        if (message.reason === 'not mine') return { state, records: [{ to: 'activity', message }] }
        return { state }
      case 'cancel':
        return state === undefined
          ? closed
          : { records: [{ to: 'response', message: opened(`failed ${state.failed}`) }] }
      case 'attempt-started':
        return state === undefined
          ? closed
          : { state: { ...state, due: state.due + 1 }, anew: true }
      case 'tick':
        if (state && state.failed !== 13) state.due += 1_000
        return { state }
    }
  },
  wants: () => [],
  due: (state) => state.due,
  failed: (state, _record, reason) => ({
    records: [
      { to: 'response', message: opened(`failed ${state?.failed ?? 'nothing'}: ${reason}`) },
    ],
  }),
}

function opened(name: string): Message {
  return {
    type: 'model-opened',
    conversation: 'c',
    turn: 0,
    round: 1,
    offered: [name],
    expiresAt: 1,
  }
}

const request = modelRequest()
const tick: Tick = { type: 'tick', conversation: 'c', unit: 'c/0/1' }
const failedWith = (reason: string): AttemptFailed => ({
  type: 'attempt-failed',
  conversation: 'c',
  turn: 0,
  round: 1,
  attempt: 'a',
  reason,
  class: 'transient',
  retryable: true,
  retryAfterMs: 0,
  historyRefused: false,
  historyShortened: false,
  toolsRefused: false,
  reasoningRefused: 'none',
})

/** The answer of the first round of the turn that record 0 opens. */
function answered(): RoundOutcome {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const response: Response = responseWith({ text: 'done', stop: 'end', finish: 'end_turn', usage })
  return {
    type: 'round-outcome',
    conversation: 'c',
    turn: 0,
    round: 1,
    response,
    failure: null,
    results: [],
    intervention: null,
    policy: defaultPolicy,
  }
}

function watched(see: (record: Received<In>) => void): Stage<Count, In> {
  return {
    ...counter,
    react(state, record) {
      see(record)
      return counter.react(state, record)
    },
  }
}

/** An inbox of messages as in the log: those with an id are derived. */
function inbox(
  ...messages: (Message | { id: string; message: Message } | Partial<StoredRecord>)[]
): StoredRecord[] {
  return messages.map((given, offset) => {
    const record = {
      topic: 'weir.model-requests',
      partition: 0,
      key: 'c',
      value: null,
      offset,
      time: 1_000 + offset,
    }
    if ('type' in given)
      return { ...record, key: keyOf(given), value: encode(given), id: undefined }
    if ('message' in given) return { ...record, value: encode(given.message), id: given.id }
    return { ...record, ...given }
  })
}

const id = (offset: number, n = 0) => `conversation/0/${offset}/${n}`

function fold(records: StoredRecord[], marks: Marks = {}) {
  const options = {
    ...codec,
    stage: counter,
    partition: 0,
    topicPrefix: 'weir.',
    marks,
    async *readBack(from: number, to: number) {
      yield records.filter((record) => record.offset >= from && record.offset < to)
    },
  }
  return createFold(options)
}

async function run(records: StoredRecord[], from = 0, marks: Marks = {}) {
  const folded = fold(records, marks)
  const written: RecordToAppend[] = []
  for (const record of records.slice(from)) written.push(...(await folded.apply(record)).records)
  return { folded, written, messages: written.map((record) => decode(record.value as Uint8Array)) }
}

describe('the fold', () => {
  it("writes the reducer's records under an id of stage, partition, offset of the input and n", async () => {
    const { written } = await run(
      inbox({ id: id(7), message: request }, { id: id(8), message: cancel() }),
    )
    expect(written.map(({ topic, partition, key, id }) => ({ topic, partition, key, id }))).toEqual(
      [{ topic: 'weir.model-deltas', partition: 0, key: 'c', id: 'llm-gateway/0/1/0' }],
    )
  })

  it('drops a derived record that is not above the mark of its writer', async () => {
    const records = inbox(
      { id: id(7), message: request },
      { id: id(8), message: cancel() },
      { id: id(7), message: request },
      { id: id(8), message: cancel() },
    )
    const { folded, written } = await run(records)
    expect(written).toHaveLength(1)
    expect(folded.units.size).toBe(0)
  })

  it('applies records of one input in the order of n', async () => {
    const records = inbox({ id: id(7, 1), message: request }, { id: id(7, 0), message: cancel() })
    expect((await run(records)).folded.units.size).toBe(1)
  })

  it('commits the first record of the oldest open unit with the marks before it', async () => {
    const other = modelRequest({ turn: 9 })
    const records = inbox(
      { id: id(3), message: cancel({ turn: 5 }) },
      { id: id(7), message: request },
      { id: id(8), message: other },
      failedWith('x'),
    )
    const { folded } = await run(records)
    expect(folded.position(4)).toEqual({ done: 4, from: 1, marks: { 'conversation/0': [3, 0] } })
    await folded.apply(
      inbox(...new Array(4).fill(failedWith('x')), {
        id: id(9),
        message: cancel(),
      })[4] as StoredRecord,
    )
    expect(folded.position(5)).toEqual({ done: 5, from: 2, marks: { 'conversation/0': [7, 0] } })
  })

  it('reaches the same state from the committed position as from the beginning', async () => {
    const records = inbox(
      { id: id(3), message: cancel({ turn: 5 }) },
      { id: id(7), message: request },
      failedWith('x'),
      failedWith('y'),
    )
    const { folded } = await run(records)
    const { from, marks } = folded.position(4)
    expect([...(await run(records, from, marks)).folded.units]).toEqual([...folded.units])
  })

  it('folds from a record that begins its unit anew', async () => {
    const started: AttemptStarted = {
      type: 'attempt-started',
      conversation: 'c',
      turn: 0,
      round: 1,
      attempt: 'a',
      owner: 'o',
      weir: '',
    }
    const records = inbox(
      { id: id(7), message: request },
      { id: id(8), message: modelRequest({ turn: 9 }) },
      started,
    )
    const { folded } = await run(records)
    expect([...folded.units.keys()]).toEqual(['c/9/1', 'c/0/1'])
    expect(folded.position(3)).toMatchObject({ from: 1, marks: { 'conversation/0': [7, 0] } })
  })

  it("opens no unit outside the conversation's partition, where it would run a second time", async () => {
    const open = async (partition: number) => {
      const readBack = async function* () {}
      const folded = createFold({
        ...codec,
        stage: watched(() => {}),
        partition,
        partitions: partitionsOf(2),
        topicPrefix: '',
        marks: {},
        readBack,
      })
      const [record] = inbox({ id: id(7), message: request })
      const { records } = await folded.apply({ ...(record as StoredRecord), partition })
      return {
        units: [...folded.units.keys()],
        written: records.map(({ value }) => decode(value as Uint8Array)),
      }
    }
    const home = partitionOf(request.conversation, 2)
    expect(await open(home)).toMatchObject({ units: ['c/0/1'], written: [] })
    expect(await open(1 - home)).toMatchObject({
      units: [],
      written: [
        {
          type: 'dead-letter',
          reason: expect.stringContaining(`its key "c" belongs to ${home} of 2`),
        },
      ],
    })
  })

  it('never moves the time of a unit back', async () => {
    const times: number[] = []
    const watching = watched((record) => times.push(record.time))
    const folded = createFold({
      ...codec,
      stage: watching,
      partition: 0,
      topicPrefix: '',
      marks: {},
      readBack: async function* () {},
    })
    const records = inbox({ id: id(7), message: request }, failedWith('x'), failedWith('y'))
    for (const [i, time] of [500, 300, 700].entries())
      await folded.apply({ ...(records[i] as StoredRecord), time })
    expect(times).toEqual([500, 500, 700])
  })

  it('passes the offset of the previous record of the unit to the reducer, after any kind of record', async () => {
    const seen: unknown[] = []
    const watching = watched((record) => seen.push(record.previous))
    const folded = createFold({
      ...codec,
      stage: watching,
      partition: 0,
      topicPrefix: '',
      marks: {},
      readBack: async function* () {},
    })
    for (const record of inbox(
      { id: id(7), message: request },
      failedWith('x'),
      { id: id(8), message: modelRequest({ turn: 3 }) },
      failedWith('x'),
    ))
      await folded.apply(record)
    expect(seen).toEqual([undefined, 0, undefined, 1])
  })
})

describe('a unit that begins anew', () => {
  const says = (messageId: string) => userMessage({ messageId })
  const carried = (from: number): Carried => ({
    type: 'carried',
    conversation: 'c',
    from,
    state: { queue: [], recentMessageIds: ['m1'] },
  })
  const wallTick: Tick = { type: 'tick', conversation: 'c', unit: 'c' }
  const outcome = answered()

  async function foldConversation(records: StoredRecord[], from = 0, marks: Marks = {}) {
    const folded = createFold({
      ...codec,
      stage: conversation,
      partition: 0,
      topicPrefix: '',
      marks,
      readBack: async function* () {},
    })
    for (const record of records.slice(from)) await folded.apply(record)
    return folded
  }

  it("does so only if its carried names the unit's last record, even if that is an early tick", async () => {
    const own = (offset: number) => `conversation/0/${offset}/9`
    const records = inbox(
      says('m1'),
      { id: 'loop-detector/0/1/0', message: outcome },
      wallTick,
      { id: own(1), message: carried(1) },
      { id: own(3), message: carried(2) },
    )
    const folded = await foldConversation(records.slice(0, 4))
    expect(folded.units.get('c')?.state.phase).toBe('carrying')
    expect(folded.units.get('c')).toMatchObject({ first: 0, last: 3 })
  })

  it('has its own time, because a fold that begins there knows no earlier one', async () => {
    const records = inbox(
      says('m1'),
      { id: 'loop-detector/0/1/0', message: outcome },
      { id: 'conversation/0/1/9', message: carried(1) },
    )
    const times = [1_000, 5_000, 3_000]
    const timed = records.map((record, i) => ({ ...record, time: times[i] as number }))
    const whole = await foldConversation(timed)
    const { from, marks } = whole.position(3)
    expect(from).toBe(2)
    expect([...(await foldConversation(timed, from, marks)).units]).toEqual([...whole.units])
  })
})

describe('a tick', () => {
  it('reaches the reducer only when the unit is due', async () => {
    const records = inbox({ id: id(7), message: request }, tick, tick)
    const folded = fold(records)
    await folded.apply(records[0] as StoredRecord)
    await folded.apply({ ...(records[1] as StoredRecord), time: 4_999 })
    expect(folded.units.get('c/0/1')?.state.due).toBe(5_000)
    await folded.apply({ ...(records[2] as StoredRecord), time: 5_000 })
    expect(folded.units.get('c/0/1')?.state.due).toBe(6_000)
  })

  it('of a unit that is not open is dropped', async () => {
    const { folded, written } = await run(inbox(tick))
    expect(folded.units.size).toBe(0)
    expect(written).toEqual([])
  })

  it("that leaves the unit due is a reducer's error and fails the turn", async () => {
    const records = inbox(
      { id: id(7), message: request },
      ...new Array(13).fill(failedWith('x')),
      tick,
    ).map((record) => ({
      ...record,
      time: 9_000,
    }))
    const { messages } = await run(records)
    expect(messages.map((message) => message.type)).toEqual([
      'model-opened',
      'turn-failed',
      'dead-letter',
    ])
    expect(messages[1]).toMatchObject({
      reason: expect.stringContaining('left unit c/0/1 due at 5000'),
    })
  })
})

describe('a record that makes the reducer throw', () => {
  it('fails the turn from the state before it, even if the reducer changed that state in place', async () => {
    const { messages, folded } = await run(
      inbox({ id: id(7), message: request }, failedWith('x'), failedWith('throw')),
    )
    expect(messages).toMatchObject([
      { type: 'model-opened', offered: ['failed 1: it threw on purpose'] },
      { type: 'turn-failed', turn: 0, stage: 'llm-gateway', reason: 'it threw on purpose' },
      {
        type: 'dead-letter',
        topic: 'weir.model-requests',
        offset: 2,
        code: 'runtime.assertion',
        key: 'c',
      },
    ])
    expect(folded.units.size).toBe(0)
  })

  it('does not change the other units', async () => {
    const other = modelRequest({ turn: 9 })
    const { folded } = await run(
      inbox({ id: id(7), message: other }, { id: id(8), message: request }, failedWith('throw')),
    )
    expect([...folded.units.keys()]).toEqual(['c/9/1'])
  })

  it('also fails the turn if an output exceeds the size limit of a record', async () => {
    const { messages } = await run(inbox({ id: id(7), message: request }, failedWith('too large')))
    expect(messages[1]).toMatchObject({
      type: 'turn-failed',
      reason: expect.stringContaining('over the limit'),
    })
    expect(messages[2]).toMatchObject({ type: 'dead-letter', code: 'bus.record-too-large' })
  })

  it('also fails the turn if an output goes to a port of another stage', async () => {
    const { messages } = await run(inbox({ id: id(7), message: request }, failedWith('not mine')))
    expect(messages[2]).toMatchObject({
      reason: expect.stringContaining('may not write attempt-failed to its port activity'),
    })
  })

  it('has the same outputs when it is folded again', async () => {
    const records = inbox({ id: id(7), message: request }, failedWith('throw'), {
      id: id(8),
      message: modelRequest({ turn: 4 }),
    })
    expect((await run(records)).written).toEqual((await run(records)).written)
  })
})

describe('a record that cannot be applied', () => {
  const cases: [string, Partial<StoredRecord>, string][] = [
    ['is not a message', { value: Buffer.from('garbage') }, 'codec.bad-frame'],
    [
      'has an unknown schema',
      { value: Buffer.from([0, 0, 15, 66, 63, 1]) },
      'codec.unknown-schema',
    ],
    ['belongs to another inbox', { value: encode(opened('x')) }, 'codec.bad-message'],
    ['is a tombstone', { value: null }, 'codec.bad-message'],
    ['stands under a foreign key', { value: encode(tick), key: 'd' }, 'codec.bad-message'],
    ['is a derived record without an id', { value: encode(request) }, 'codec.bad-message'],
    [
      'is a derived record of a stage that may not write it',
      { value: encode(request), id: 'executor/0/3/0' },
      'codec.bad-message',
    ],
    [
      'is an observed record under a derived id',
      { value: encode(failedWith('x')), id: 'conversation/0/3/0' },
      'codec.bad-message',
    ],
    [
      'has an invalid id',
      { value: encode(failedWith('x')), id: 'conversation/0' },
      'codec.bad-message',
    ],
  ]
  it.each(cases)(
    'because it %s goes to dead-letters with its origin, and the position moves on',
    async (_, record, code) => {
      const { messages, folded } = await run(inbox(record, { id: id(7), message: request }))
      expect(messages).toMatchObject([
        {
          type: 'dead-letter',
          topic: 'weir.model-requests',
          partition: 0,
          offset: 0,
          time: 1_000,
          stage: 'llm-gateway',
          code,
        },
      ])
      expect(folded.units.size).toBe(1)
    },
  )

  it('because the key of its conversation was deleted is skipped without a dead letter', async () => {
    const value = Uint8Array.of(1, 2, 3)
    const deleted = { value, id: id(6), conversationKey: 'deleted' } as const
    const { messages, folded } = await run(inbox(deleted, { id: id(7), message: request }))
    expect(messages).toEqual([])
    expect(folded.units.size).toBe(1)
    expect(folded.position(2).done).toBe(2)
  })

  it("moves no mark, so a stranger's record under an id hides no other record", async () => {
    const { folded } = await run(
      inbox({ value: Buffer.from('garbage'), id: id(999) }, { id: id(7), message: request }),
    )
    expect(folded.units.size).toBe(1)
  })

  it('keeps its bytes up to the limit', async () => {
    const { messages } = await run(inbox({ value: Buffer.alloc(2 * 1024 * 1024, 1) }))
    const [letter] = messages
    expect(
      letter?.type === 'dead-letter' && [letter.value.length, letter.value[0], letter.value.at(-1)],
    ).toEqual([1024 * 1024, 1, 1])
  })
})

describe('a unit that outlives many records that made its reducer throw', () => {
  it('is folded again in time linear in their number', async () => {
    let reacted = 0
    const surviving: Stage<Count, In> = {
      ...watched(() => {
        reacted += 1
      }),
      failed: (state) => ({ state }),
    }
    const records = inbox(
      { id: id(7), message: request },
      ...new Array(10).fill(failedWith('throw')),
      failedWith('x'),
    )
    const folded = createFold({
      ...codec,
      stage: surviving,
      partition: 0,
      topicPrefix: '',
      marks: {},
      async *readBack(from: number, to: number) {
        yield records.filter((record) => record.offset >= from && record.offset < to)
      },
    })
    for (const record of records) await folded.apply(record)
    expect(folded.units.get('c/0/1')?.state.failed).toBe(1)
    // each record once, and the opening one again for each that threw
    expect(reacted).toBeLessThanOrEqual(12 + 10)
  })
})

describe('a record that the runtime refuses', () => {
  const far = id(900_000_000_000_000)
  const forged = inbox(
    { id: id(7), message: request },
    { id: far, message: modelRequest({ turn: 9 }) },
    { id: id(8), message: cancel() },
  )
  /** Refuses ids beyond this end of the inbox of the conversation. */
  const endsAt =
    (end: number): Judge =>
    (_, derived) =>
      derived !== undefined && derived.offset >= end
        ? new WeirError('record.forged-id', 'no such input')
        : undefined
  const options = (judge: Judge | undefined, marks: Marks = {}) => ({
    ...codec,
    stage: counter,
    partition: 0,
    topicPrefix: 'weir.',
    marks,
    judge,
    async *readBack() {},
  })

  it('goes to dead-letters, moves no mark and hides no later record', async () => {
    const folded = createFold(options(endsAt(9)))
    const outputs = forged.flatMap((record) => (folded.apply(record) as Applied).outputs)
    expect(outputs.map(({ message }) => message)).toMatchObject([
      { type: 'dead-letter', offset: 1, code: 'record.forged-id', reason: 'no such input' },
      { type: 'model-opened' },
    ])
    expect(folded.position(3).marks).toEqual({ 'conversation/0': [8, 0] })
  })

  it('would hide all later records of its writer without the check', async () => {
    const folded = createFold(options(undefined))
    const applied = forged.map((record) => folded.apply(record) as Applied)
    expect(applied[2]).toMatchObject({ isRepeat: true, outputs: [] })
  })

  it('is refused again by the next owner, although its input exists by then', async () => {
    const first = createFold(options(endsAt(9)))
    for (const record of forged.slice(0, 2)) await first.apply(record)
    const { from, marks, refused } = first.position(2)
    expect({ from, refused }).toEqual({ from: 0, refused: { offsets: [1], forgottenTo: 0 } })
    const next = createFold({
      ...codec,
      ...options(endsAt(Number.MAX_SAFE_INTEGER), marks),
      judged: { to: 2, refused },
    })
    for (const record of forged) await next.apply(record)
    expect(next.position(3).marks).toEqual({ 'conversation/0': [8, 0] })
  })

  it('is judged again if the commit has forgotten it', async () => {
    const judged = { to: 2, refused: { offsets: [], forgottenTo: 2 } }
    const folded = createFold({ ...options(endsAt(9)), judged })
    for (const record of forged) await folded.apply(record)
    expect(folded.position(3).marks).toEqual({ 'conversation/0': [8, 0] })
  })

  it('stays refused when its unit is folded again after the reducer threw', async () => {
    const records = inbox(
      { id: id(7), message: request },
      { id: far, message: cancel() },
      failedWith('throw'),
      { id: id(8), message: cancel() },
    )
    let isThere = false
    const folded = createFold({
      ...codec,
      ...options((record, derived) => (isThere ? undefined : endsAt(9)(record, derived))),
      async *readBack(from, to) {
        yield records.slice(from, to)
      },
    })
    await folded.apply(records[0] as StoredRecord)
    await folded.apply(records[1] as StoredRecord)
    isThere = true
    const { outputs } = await folded.apply(records[2] as StoredRecord)
    expect(outputs[0]?.message).toMatchObject({ offered: [expect.stringMatching(/^failed 0: /)] })
  })

  it('is named in the commit up to a limit, and the oldest are forgotten', async () => {
    const many = Array.from({ length: refusedKeptMax + 2 }, (_, at) => ({
      id: id(1_000_000 + at),
      message: modelRequest({ turn: at }),
    }))
    const records = inbox({ id: id(7), message: request }, ...many)
    const folded = createFold(options(endsAt(9)))
    for (const record of records) await folded.apply(record)
    const { refused } = folded.position(records.length)
    expect(refused).toMatchObject({ forgottenTo: 3 })
    expect(refused?.offsets).toHaveLength(refusedKeptMax)
    expect(JSON.stringify(folded.position(records.length)).length).toBeLessThan(4096)
  })
})

it('an output of a type that begins after the format in force is written, because its input proves that the format was in force', async () => {
  const title = { type: 'title-given', conversation: 'c', title: 'Rivers' } as const
  const [record] = inbox(title) as [StoredRecord]
  const holder = {}
  hold(holder, 1)
  try {
    const options = { ...codec, stage: intake, partition: 0, topicPrefix: 'weir.', marks: {} }
    const { records } = await createFold({ ...options, async *readBack() {} }).apply({
      ...record,
      topic: 'weir.client-messages',
    })
    expect(records.map(({ value }) => decode(value as Uint8Array).type)).toEqual([
      'conversation-titled',
    ])
  } finally {
    hold(holder, undefined)
  }
})
