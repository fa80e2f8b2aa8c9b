import { describe, expect, it } from '@jest/globals'
import { defaultPolicy } from '../../../../shared/agents/policy/policy.ts'
import { decode, encode } from '../../../../shared/codec/codec.ts'
import type { Commit, StoredRecord } from '../../../../shared/contract/bus.ts'
import type {
  AnyGuard,
  EndedCall,
  ExternalGuard,
  Guard,
} from '../../../../shared/contract/guard/guard.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  CallResult,
  GuardInForce,
  GuardVerdict,
  Message,
  RoundCleared,
} from '../../../../shared/contract/messages.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { readGuardPartition } from '../../../../shared/runtime/guards/guard-partition.ts'
import { createTimeLimit, type WithinLimit } from '../../../../shared/runtime/guards/time-limit.ts'
import { callWith, declarationWith, resultWith } from '../../../support/messages.ts'

const inForce: GuardInForce = {
  name: 'counter',
  version: '1',
  deadlineMs: 5_000,
  onTimeout: 'deny',
  rules: null,
  tools: [
    { pattern: 'pay', mode: 'enforce' },
    { pattern: 'look', mode: 'shadow' },
  ],
}

/** Its verdict contains the number of earlier calls of the conversation. */
const counter: Guard<number> = {
  name: 'counter',
  version: '1',
  tools: ['pay', 'look'],
  deadlineMs: 5_000,
  onTimeout: 'deny',
  stateKeptMs: 10_000,
  judge: (seen = 0, { calls }) => ({
    state: seen + calls.length,
    verdicts: calls.map(({ ordinal }) => ({
      ordinal,
      verdict: 'deny',
      code: 'seen',
      text: `${seen} before`,
    })),
  }),
}

function cleared(names: string[], fields: Partial<RoundCleared> = {}): RoundCleared {
  const call = (name: string, ordinal: number) =>
    callWith({ ordinal, id: '', name, raw: '{"a":1}' })
  const declaration = (name: string) => declarationWith({ name, timeoutMs: 1 })
  return {
    type: 'round-cleared',
    conversation: 'c',
    turn: 0,
    round: 1,
    agent: 'agent',
    policy: { ...defaultPolicy, guards: [inForce] },
    calls: names.map(call),
    decided: [],
    declarations: [...new Set(names)].map(declaration),
    expiresAt: 1e9,
    extendedTo: null,
    ...fields,
  }
}

/** The records as in the log, from offset 0 on, one second apart. */
function logOf(...messages: Message[]): StoredRecord[] {
  return messages.map((message, offset) => ({
    topic: 'weir.rounds-cleared',
    partition: 0,
    key: 'conversation' in message ? message.conversation : '',
    value: encode(message),
    offset,
    time: 1_000 * (offset + 1),
    id: `loop-detector/0/${offset}/0`,
  }))
}

function reader(
  guard: Guard<never> | AnyGuard,
  {
    committed,
    begin = 0,
    end = 100,
    stopping = new AbortController().signal,
    within,
  }: {
    committed?: Commit
    begin?: number
    end?: number
    stopping?: AbortSignal
    within?: WithinLimit
  } = {},
) {
  const lines: string[] = []
  const partition = readGuardPartition({
    guard: guard as AnyGuard,
    stopping,
    assignment: { topic: 'weir.rounds-cleared', ends: { partition: 0, begin, end }, committed },
    topic: 'weir.guard-verdicts.counter',
    clock: systemClock,
    ...(within && { within }),
    log: createLog({ level: 'trace', destination: { write: (line: string) => lines.push(line) } }),
  })
  const read = async (records: StoredRecord[]) => {
    const { outputs, commit } = await partition.read(records)
    return {
      outputs,
      commit,
      verdicts: outputs.map(({ value }) => decode(value as Uint8Array) as GuardVerdict),
    }
  }
  return { partition, read, lines }
}

/** Its verdict has the ends that its rounds named. */
const follower: Guard<object> = {
  ...counter,
  seesEnds: true,
  stateKeptMs: 1e9,
  judge: (state = {}, { calls, ended }) => ({
    state,
    verdicts: calls.map(({ ordinal, name }) =>
      name === 'look'
        ? { ordinal, verdict: 'deny', code: 'ends', text: ended.map(shownEnd).join() || 'none' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}
const shownEnd = ({ conversation, round, ordinal, status, text }: EndedCall) =>
  `${conversation}/${round}/${ordinal} ${status} ${text.slice(0, 12)}`

describe('a guard that sees ends', () => {
  const at = { conversation: 'c', turn: 0, round: 1, ordinal: 0 }
  const claim = (fields = {}): Message => ({ type: 'claim', ...at, try: 1, owner: 'a', ...fields })
  const outcome = (fields: object, result: CallResult | null): Message => ({
    type: 'outcome',
    ...at,
    try: 1,
    owner: 'a',
    goesOn: false,
    ...fields,
    result,
  })
  const result = (status: CallResult['status'], text: string) =>
    resultWith({ ordinal: 0, status, text })
  const look = cleared(['look'], { round: 2 })
  const cancel: Message = { type: 'cancel', conversation: 'c', turn: 0, round: 1, expiresAt: 1e9 }
  const ofGuest = (message: Message): Message =>
    ({ ...message, conversation: 'guest:g/c' }) as Message
  const denial = (fields: Partial<GuardVerdict> = {}): Message => ({
    type: 'guard-verdict',
    ...at,
    guard: 'other',
    version: '1',
    intervention: null,
    clearedAt: 0,
    judgedMs: 0,
    enforces: [0],
    deadlineMs: 5_000,
    ...fields,
    verdicts: [{ ordinal: 0, verdict: 'deny', code: 'no', text: 'No.', evidence: null }],
  })

  /** The text of the verdict on the last round. */
  async function ends(...messages: Message[]): Promise<string> {
    const log = logOf(...messages).map((record, at) =>
      ['round-cleared'].includes(messages[at]!.type) ? record : { ...record, id: undefined },
    ) as StoredRecord[]
    const { verdicts } = await reader(follower).read(log)
    return verdicts.at(-1)!.verdicts[0]!.text
  }

  it.each([
    ['no claim: it never ran', [], 'c/1/0 skipped This call wa'],
    ['a claim without a result: it may have run', [claim()], 'c/1/0 unknown No result of'],
    ['the result of its claim', [claim(), outcome({}, result('ok', 'paid'))], 'c/1/0 ok paid'],
    ['a failure', [claim(), outcome({}, result('error', 'down'))], 'c/1/0 error down'],
    [
      'a result of a claim that lost',
      [claim(), claim({ owner: 'b' }), outcome({ owner: 'b' }, result('ok', 'x'))],
      'c/1/0 unknown No result of',
    ],
    ['a try that was given back', [claim(), outcome({}, null)], 'c/1/0 skipped This call wa'],
    [
      'a try that was given back while its agent goes on',
      [claim(), outcome({ goesOn: true }, null)],
      'c/1/0 unknown No result of',
    ],
    [
      'a second try after one without a result, which fails',
      [claim(), claim({ try: 2 }), outcome({ try: 2 }, result('error', 'x'))],
      'c/1/0 unknown No result of',
    ],
    [
      'a result of a client',
      [
        claim({ owner: 'client' }),
        { type: 'result-sent', ...at, resultId: 'r', isError: false, text: 'sent' },
      ],
      'c/1/0 ok sent',
    ],
    ['a denial by another guard, before any claim', [denial()], 'c/1/0 skipped This call wa'],
    ['a cancel, before any claim', [cancel], 'c/1/0 skipped This call wa'],
    [
      'a cancel of a claimed call, and its result',
      [claim(), cancel, outcome({}, result('ok', 'late'))],
      'c/1/0 ok late',
    ],
  ] as [string, Message[], string][])('gets %s', async (_, records, expected) => {
    expect(await ends(cleared(['pay']), ...records, look)).toBe(expected)
  })

  it.each([
    ['no result: it may have run', [], 'unknown No result of'],
    ['the result', [outcome({ owner: 'guest' }, result('ok', 'paid'))], 'ok paid'],
    ['a denial by another guard in time', [denial()], 'denied No.'],
    ['a denial after the deadline', [denial({ deadlineMs: 1_000 })], 'unknown No result of'],
    ['a denial of a shadow', [denial({ enforces: [] })], 'unknown No result of'],
    [
      'a result that claims it never ran',
      [outcome({ owner: 'guest' }, result('denied', 'x'))],
      'unknown No result of',
    ],
  ] as [string, Message[], string][])('gets, of a guest, %s', async (_, records, expected) => {
    const all = [cleared(['pay']), ...records, look].map(ofGuest)
    expect(await ends(...all)).toBe(`guest:g/c/1/0 ${expected}`)
  })

  it('gets each end once, and none of a denied call', async () => {
    const again = cleared(['look'], { round: 3 })
    const paid = [cleared(['pay']), claim(), outcome({}, result('ok', 'paid')), look]
    expect(await ends(...paid, again)).toBe('c/2/0 skipped This call wa')
    const tools = [{ pattern: '*', mode: 'enforce' as const }]
    const policy = { ...defaultPolicy, guards: [{ ...inForce, tools }] }
    expect(await ends(cleared(['look'], { policy }), look)).toBe('none')
  })

  it('gets no result of a client for a call that the client does not run', async () => {
    const sent: Message = { type: 'result-sent', ...at, resultId: 'r', isError: true, text: 'no' }
    expect(await ends(cleared(['pay']), claim(), sent, look)).toBe('c/1/0 unknown No result of')
  })

  it('gets no end from a record whose signature is wrong, and judges no such round', async () => {
    const records = [cleared(['pay']), claim(), outcome({}, result('error', 'forged')), look]
    const forged = (record: StoredRecord) => ({ ...record, refused: 'it has no signature' })
    const log = logOf(...records).map((record, at) => {
      if (at === 2) return forged({ ...record, id: undefined })
      return at === 1 ? { ...record, id: undefined } : record
    }) as StoredRecord[]
    const { verdicts } = await reader(follower).read(log)
    expect(verdicts.at(-1)?.verdicts[0]?.text).toBe('c/1/0 unknown No result of')
    const round = logOf(cleared(['pay'])).map(forged)
    expect((await reader(follower).read([...round, ...logOf(look)])).verdicts).toHaveLength(1)
  })

  it('gets the ends of the agents that calls ask', async () => {
    const called = { conversation: 'call/c/0/1/0' }
    const ofCalled = [cleared(['pay'], called), { ...claim(), ...called } as Message]
    expect(
      await ends(...ofCalled, { ...outcome({}, result('ok', 'paid')), ...called } as Message, look),
    ).toBe('call/c/0/1/0/1/0 ok paid')
  })

  it('gets the same ends after a restart, which folds the rounds again', async () => {
    const log = logOf(cleared(['pay']), claim(), outcome({}, result('ok', 'paid')), look).map(
      (record, at) => (at === 0 || at === 3 ? record : { ...record, id: undefined }),
    ) as StoredRecord[]
    const { commit } = await reader(follower).read(log.slice(0, 2))
    const { partition, read } = reader(follower, { committed: commit! })
    const { verdicts } = await read(log.slice(partition.position))
    expect(verdicts.map(({ verdicts: [one] }) => one?.text)).toEqual(['c/1/0 ok paid'])
  })
})

/** A quarter of each limit, for tests that only wait for it. */
function quarterOfLimit(): WithinLimit {
  const within = createTimeLimit()
  return (work, limitMs) => within(work, limitMs / 4)
}

const textsOf = (verdicts: GuardVerdict[]) =>
  verdicts.map(({ verdicts }) =>
    verdicts.map(({ ordinal, text }) => `${ordinal}: ${text}`).join(', '),
  )

describe('a guard on its partition', () => {
  it('has one memory for a conversation and the agents that its calls ask, however deep', async () => {
    const { read } = reader(counter)
    const { verdicts } = await read(
      logOf(
        cleared(['pay']),
        cleared(['pay', 'look'], { conversation: 'call/c/0/1/0~2', turn: 5 }),
        cleared(['pay'], { conversation: 'call/call/c/0/1/0~2/5/1/0', turn: 7 }),
        cleared(['pay'], { round: 2 }),
        cleared(['pay'], { conversation: 'call/d/0/1/0', turn: 8 }),
      ),
    )
    const seen = verdicts.map(({ verdicts: [first] }) => first?.text)
    expect(seen).toEqual(['0 before', '1 before', '3 before', '4 before', '0 before'])
  })

  it("answers each round in which it is in force, under an id of the round's position", async () => {
    const { read } = reader(counter)
    const { outputs, verdicts } = await read(logOf(cleared(['pay', 'exec', 'look'])))
    expect(outputs).toMatchObject([
      { topic: 'weir.guard-verdicts.counter', partition: 0, key: 'c', id: 'guard.counter/0/0/0' },
    ])
    expect(verdicts).toMatchObject([
      {
        conversation: 'c',
        turn: 0,
        round: 1,
        guard: 'counter',
        clearedAt: 1_000,
        enforces: [0],
        deadlineMs: 5_000,
      },
    ])
    expect(textsOf(verdicts)).toEqual(['0: 0 before, 2: 0 before'])
  })

  it('gets no decided call, no call of another tool, and no round without it in force', async () => {
    const decided = [resultWith({ status: 'denied' as const, text: '', durationMs: 0 })]
    const { read } = reader(counter)
    const { outputs } = await read(
      logOf(
        cleared(['pay'], { decided }),
        cleared(['exec'], { round: 2 }),
        cleared(['pay'], { round: 3, policy: defaultPolicy }),
        {
          type: 'turn-ended',
          conversation: 'c',
          turn: 0,
        },
      ),
    )
    expect(outputs).toEqual([])
  })

  it('keeps a memory for each conversation, and judges no round twice', async () => {
    const { read } = reader(counter)
    const log = logOf(
      cleared(['pay', 'pay']),
      cleared(['pay'], { conversation: 'other' }),
      cleared(['pay'], { round: 2 }),
    )
    expect(textsOf((await read([...log, ...log])).verdicts)).toEqual([
      '0: 0 before, 1: 0 before',
      '0: 0 before',
      '0: 2 before',
    ])
  })

  it('restores its memory after a restart, and repeats no answer', async () => {
    const log = logOf(
      cleared(['pay']),
      cleared(['look'], { round: 2 }),
      cleared(['pay'], { round: 3 }),
      cleared(['pay'], { round: 4 }),
    )
    const first = reader(counter)
    const { commit } = await first.read(log.slice(0, 3))
    expect(commit).toMatchObject({ offset: 3 })
    const second = reader(counter, { committed: commit! })
    expect(second.partition.position).toBe(0)
    const silent = await second.read(log.slice(0, 2))
    expect([silent.outputs, silent.commit]).toEqual([[], undefined])
    expect(textsOf((await second.read(log.slice(2))).verdicts)).toEqual(['0: 3 before'])
  })

  it('needs no earlier record without memory, and drops long idle conversations', async () => {
    const stateless: Guard = {
      ...(counter as unknown as Guard),
      judge: (_, { calls }) => ({
        state: undefined,
        verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
      }),
    }
    const log = logOf(cleared(['pay']), cleared(['pay'], { conversation: 'other' }))
    expect(JSON.parse((await reader(stateless).read(log)).commit!.metadata)).toMatchObject({
      from: 2,
    })
    const remembering = reader(counter)
    expect(JSON.parse((await remembering.read(log)).commit!.metadata)).toMatchObject({ from: 0 })
    const later = { ...logOf(cleared(['exec'], { round: 9 }))[0]!, offset: 2, time: 12_500 }
    expect(
      JSON.parse(
        (await remembering.read([{ ...later, id: 'loop-detector/0/2/0' }])).commit!.metadata,
      ),
    ).toMatchObject({ from: 3 })
  })

  it('continues with the remaining records if retention deleted its earlier ones', async () => {
    const committed = { offset: 8, metadata: JSON.stringify({ from: 1, marks: {} }) }
    const { partition, lines } = reader(counter, { committed, begin: 5 })
    expect(partition.position).toBe(5)
    expect(lines.join()).toContain('no longer holds all')
    expect(() => reader(counter, { committed, end: 7 })).toThrow('outside the log')
  })

  it.each<[string, unknown, RegExp]>([
    ['no object', 'yes', /judge returned string/],
    ['a promise', Promise.resolve({}), /a promise/],
    [
      'a promise that rejects',
      async () => {
        throw new Error('later')
      },
      /a promise/,
    ],
    ['no verdicts', { verdicts: 5 }, /its verdicts are not an array/],
    ['no verdict for a call', { verdicts: [] }, /it has no verdict for call 0/],
    [
      'one call twice',
      { verdicts: [0, 0].map((ordinal) => ({ ordinal, verdict: 'allow' })) },
      /it names call 0 twice/,
    ],
    [
      'a call of another round',
      { verdicts: [{ ordinal: 3, verdict: 'allow' }] },
      /call 3, which is not in its round/,
    ],
    [
      'an unknown verdict',
      { verdicts: [{ ordinal: 0, verdict: 'maybe' }] },
      /none of allow, deny and ask/,
    ],
    [
      'a denial without a code',
      { verdicts: [{ ordinal: 0, verdict: 'deny', text: 'no' }] },
      /the code of call 0/,
    ],
    [
      'a denial without a text',
      { verdicts: [{ ordinal: 0, verdict: 'deny', code: 'no', text: ' ' }] },
      /denial of call 0 has no text/,
    ],
    [
      'a state that JSON cannot hold',
      { state: () => 1, verdicts: [{ ordinal: 0, verdict: 'allow' }] },
      /its state is a function; must be data/,
    ],
    [
      'a state that is too large',
      { state: 'x'.repeat(70_000), verdicts: [{ ordinal: 0, verdict: 'allow' }] },
      /its state has 70002 bytes/,
    ],
  ])(
    'rejects the calls of a round if it answers with %s, and logs the reason',
    async (_, answer, evidence) => {
      const { read, lines } = reader({
        ...(counter as unknown as Guard),
        judge: () => (typeof answer === 'function' ? answer() : answer) as never,
      })
      const { verdicts } = await read(logOf(cleared(['pay'])))
      expect(verdicts[0]?.verdicts).toMatchObject([
        { verdict: 'deny', code: 'guard.unusable', evidence: expect.stringMatching(evidence) },
      ])
      expect(lines.join()).toContain('the guard failed on a round')
    },
  )

  it('denies the original calls of a round if the guard changed the round', async () => {
    const emptying: Guard = {
      ...(counter as unknown as Guard),
      judge(_, round) {
        ;(round.calls as unknown[]).splice(0)
        return { state: undefined, verdicts: [] }
      },
    }
    const { verdicts } = await reader(emptying).read(logOf(cleared(['pay'])))
    expect(verdicts[0]?.verdicts).toMatchObject([{ verdict: 'deny', code: 'guard.unusable' }])
  })

  it('answers within the limits if its text has 100 MB', async () => {
    const huge = Buffer.alloc(100 * 1024 * 1024, 'x').toString('latin1')
    const wordy: Guard = {
      ...(counter as unknown as Guard),
      judge: (_, { calls }) => ({
        state: undefined,
        verdicts: calls.map(({ ordinal }) => ({
          ordinal,
          verdict: 'deny',
          code: 'wordy',
          text: huge,
          evidence: huge,
        })),
        intervention: { reason: huge, text: huge },
      }),
    }
    const { outputs, verdicts } = await reader(wordy).read(logOf(cleared(['pay'])))
    expect(verdicts[0]?.verdicts).toMatchObject([{ verdict: 'deny', code: 'wordy' }])
    expect(outputs[0]?.value?.length).toBeLessThan(
      3 * limits.guardTextBytesMax + limits.reasonBytesMax + 1_024,
    )
  })

  it('keeps its memory if it throws or loops for ever in between', async () => {
    const moody: Guard<number> = {
      ...counter,
      judge(seen, round) {
        if (round.round === 2) throw new Error('no idea')
        if (round.round === 3) for (;;);
        return counter.judge(seen, round)
      },
    }
    const rounds = [1, 2, 3, 4].map((round) => cleared(['pay'], { round }))
    const { verdicts } = await reader(moody).read(logOf(...rounds))
    expect(verdicts.map(({ verdicts }) => verdicts[0]?.code)).toEqual([
      'seen',
      'guard.threw',
      'guard.stuck',
      'seen',
    ])
    expect(textsOf(verdicts).at(-1)).toBe('0: 1 before')
    expect(verdicts[2]?.verdicts[0]?.evidence).toBe(
      `judge took longer than ${limits.guardJudgeMsMax} ms`,
    )
  })

  it('gives a round its time once more after a pause of the process, but only once', async () => {
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    let tries = 0
    const still: Guard<number> = {
      ...counter,
      judge(seen, round) {
        tries += 1
        if (tries === 1 || round.round > 1) Atomics.wait(nothing, 0, 0, 2 * limits.guardJudgeMsMax)
        return counter.judge(seen, round)
      },
    }
    const { verdicts } = await reader(still, { within: quarterOfLimit() }).read(
      logOf(cleared(['pay']), cleared(['pay'], { round: 2 })),
    )
    expect(verdicts.map(({ verdicts }) => verdicts[0]?.code)).toEqual(['seen', 'guard.stuck'])
  })

  it('gives a round its whole time even if other rounds delayed it', async () => {
    let tries = 0
    const slowedDown: Guard<number> = {
      ...counter,
      judge(seen, round) {
        if (round.round === 2) {
          tries += 1
          if (tries === 1) for (;;);
        }
        return counter.judge(seen, round)
      },
    }
    const { verdicts } = await reader(slowedDown, { within: quarterOfLimit() }).read(
      logOf(...[1, 2].map((round) => cleared(['pay'], { round }))),
    )
    expect(textsOf(verdicts)).toEqual(['0: 0 before', '0: 1 before'])
  })
})

describe('an external guard', () => {
  const asked: number[] = []
  const external = (judge: ExternalGuard['judge']): ExternalGuard => ({
    name: 'counter',
    version: '1',
    tools: ['pay', 'look'],
    deadlineMs: 5_000,
    onTimeout: 'deny',
    external: true,
    judge,
  })
  const passing = external(async (_state, { round, calls }) => {
    asked.push(round)
    return {
      state: undefined,
      verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
    }
  })
  const rounds = (...numbers: number[]) =>
    logOf(...numbers.map((round) => cleared(['pay'], { round, conversation: `c${round}` })))

  it('answers when its promise resolves', async () => {
    const { verdicts } = await reader(passing).read(rounds(1, 2))
    expect(verdicts.map(({ round, verdicts }) => [round, verdicts[0]?.verdict])).toEqual([
      [1, 'allow'],
      [2, 'allow'],
    ])
  })

  it('is called for several rounds at once, within a bound', async () => {
    let open = 0
    let most = 0
    const counting = external(async (_state, { calls }) => {
      open += 1
      most = Math.max(most, open)
      await new Promise(setImmediate)
      open -= 1
      return {
        state: undefined,
        verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
      }
    })
    const many = Array.from({ length: 3 * limits.guardExternalCallsMax }, (_, at) => at + 1)
    // A call after its deadline makes room for another one, while it still runs.
    const patient = { ...counting, deadlineMs: 600_000 }
    const { verdicts } = await reader(patient).read(rounds(...many))
    expect(verdicts.map(({ round }) => round)).toEqual(many)
    expect(most).toBe(limits.guardExternalCallsMax)
  })

  it('is not called again for a round that it answered before a restart', async () => {
    asked.length = 0
    const log = rounds(1, 2, 3)
    const first = await reader(passing).read(log.slice(0, 2))
    const again = reader(passing, { committed: first.commit as Commit })
    const { verdicts } = await again.read(log.slice(again.partition.position))
    expect(verdicts.map(({ round }) => round)).toEqual([3])
    expect(asked).toEqual([1, 2, 3])
  })

  it.each<[string, ExternalGuard['judge'], string, string]>([
    [
      'rejects',
      () => Promise.reject(new Error('connection refused')),
      'guard.threw',
      'judge threw: connection refused',
    ],
    ['resolves to nonsense', async () => 'yes' as never, 'guard.unusable', 'judge returned string'],
    [
      'returns a state',
      async () => ({ state: 1 as never, verdicts: [{ ordinal: 0, verdict: 'allow' }] }),
      'guard.unusable',
      'an external guard keeps none',
    ],
    [
      'gives no answer before its deadline',
      (_state, _round, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
      'guard.stuck',
      'judge gave no answer within',
    ],
  ])(
    'fails on a round if its promise %s, and its calls are rejected',
    async (_, judge, code, why) => {
      const { verdicts } = await reader(external(judge)).read(rounds(1))
      expect(verdicts[0]?.verdicts).toMatchObject([
        { verdict: 'deny', code, evidence: expect.stringContaining(why) },
      ])
    },
  )

  it('logs that onTimeout allows the calls if it fails after its deadline', async () => {
    const failing = reader(external(() => Promise.reject(new Error('down'))))
    const guards = [{ ...inForce, onTimeout: 'allow' as const }]
    await failing.read(logOf(cleared(['pay'], { policy: { ...defaultPolicy, guards } })))
    expect(failing.lines.join('')).toContain(
      'the guard failed on a round after its deadline; onTimeout allows its calls',
    )
  })

  it('gives no answer to its open rounds when it stops, and commits nothing', async () => {
    const stopping = new AbortController()
    const hanging = external(() => {
      stopping.abort()
      return new Promise(() => {})
    })
    const { outputs, commit } = await reader(hanging, { stopping: stopping.signal }).read(
      rounds(1, 2),
    )
    expect({ outputs, commit }).toEqual({ outputs: [], commit: undefined })
  })

  it('must be declared: a promise of any other guard is an unusable answer', async () => {
    const promising = { ...counter, judge: async () => ({}) } as unknown as Guard
    const { verdicts } = await reader(promising).read(rounds(1))
    expect(verdicts[0]?.verdicts).toMatchObject([
      {
        verdict: 'deny',
        code: 'guard.unusable',
        evidence: expect.stringContaining('must declare external: true'),
      },
    ])
  })
})

it('a guard sees whether the model wrote a call as text', async () => {
  const sources: string[] = []
  const watching: Guard = {
    ...counter,
    judge: (_, { calls }) => {
      sources.push(...calls.map(({ source }) => source))
      return {
        state: undefined,
        verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
      }
    },
  }
  const { calls } = cleared(['pay', 'pay'])
  const marked = calls.map((call, n) => (n === 0 ? { ...call, source: 'text' as const } : call))
  await reader(watching).partition.read(logOf(cleared(['pay', 'pay'], { calls: marked })))
  expect(sources).toEqual(['text', 'deltas'])
})
