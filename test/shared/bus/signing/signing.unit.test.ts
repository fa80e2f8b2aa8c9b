import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Logger } from 'pino'
import { keepPartitionCount } from '../../../../client/place/open-bus.ts'
import { serverPrincipals } from '../../../../shared/bus/kafka/cluster/access-rights.ts'
import { createKeyFiles, readKeys } from '../../../../shared/bus/signing/keys.ts'
import { signersOf } from '../../../../shared/bus/signing/principals.ts'
import { signedBus } from '../../../../shared/bus/signing/signed-bus.ts'
import { createSigning, type Signing } from '../../../../shared/bus/signing/signing.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { Bus, RecordToAppend, SubscribeOptions } from '../../../../shared/contract/bus.ts'
import type { Message, MessageType } from '../../../../shared/contract/messages.ts'
import { keyOf, topics } from '../../../../shared/contract/topology.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { othersReach } from '../../../../shared/lib/files/secret-files.ts'
import { runGuard } from '../../../../shared/runtime/guards/run-guard.ts'
import { cancel, modelRequest, userMessage } from '../../../support/messages.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-keys-'))
  createKeyFiles(folder, { guards: ['shell'] })
})
afterAll(() => rmSync(folder, { recursive: true }))

const as = (principal: string): Signing =>
  createSigning(readKeys(join(folder, `${principal}.json`)), 'weir.')

const record = (topic: string, message: Message, id?: string): RecordToAppend => ({
  topic: `weir.${topic}`,
  partition: 1,
  key: keyOf(message),
  value: encode(message),
  id,
})
const ids = { conversation: 'c', turn: 7, round: 1 }
const tick: Message = { type: 'tick', conversation: 'c', unit: '["c",7]' }
const claim: Message = { type: 'claim', ...ids, ordinal: 0, try: 1, owner: 'o' }
const verdict: Message = {
  type: 'guard-verdict',
  ...ids,
  guard: 'shell',
  version: '1',
  verdicts: [],
  intervention: null,
  clearedAt: 0,
  judgedMs: 0,
  enforces: [],
  deadlineMs: 1,
}
const limitsOfOperator: Message = {
  type: 'operator-limits',
  caps: { rounds: 1, calls: 1, wallMs: 1, tokens: null },
}
const answered: Message = {
  type: 'approval-answered',
  ...ids,
  ordinal: 0,
  id: 'i',
  hash: 'h',
  answer: 'allow',
  by: 'alice',
  reason: '',
  input: 0,
  values: null,
  identity: 'claimed',
}

/** Each kind of writer: the signer, the reader and the record. */
const genuine: [string, string, RecordToAppend][] = [
  ['edge', 'intake', record('client-messages', userMessage())],
  ['intake', 'conversation', record('conversation-events', userMessage(), 'intake/1/3/0')],
  ['conversation', 'conversation', record('conversation-events', tick)],
  ['conversation', 'llm-gateway', record('model-requests', modelRequest(), 'conversation/1/3/0')],
  ['conversation', 'executor', record('rounds-cleared', cancel(), 'conversation/1/3/1')],
  ['executor', 'executor', record('rounds-cleared', claim)],
  ['guard.shell', 'executor', record('guard-verdicts.shell', verdict, 'guard.shell/1/3/0')],
  ['operator', 'executor', record('policies', limitsOfOperator)],
  ['operator', 'llm-gateway', { ...record('policies', limitsOfOperator), value: null }],
  ['llm-gateway', 'llm-gateway', { ...record('history', tick), value: null }],
  ['approver', 'approval', record('approvals', answered)],
]

describe('a signed record', () => {
  it.each(genuine)('of %s is accepted by %s', (writer, reader, given) => {
    expect(as(reader).checks(given.topic)).toBe(true)
    expect(as(reader).faultOf(as(writer).signed(given))).toBeUndefined()
  })

  it('of the server, which has the keys of clients and approvers, is accepted by both their stages', () => {
    const own = mkdtempSync(join(tmpdir(), 'weir-keys-of-server-'))
    for (const principal of serverPrincipals.serve)
      copyFileSync(join(folder, `${principal}.json`), join(own, `${principal}.json`))
    const server = createSigning(readKeys(own), 'weir.')
    rmSync(own, { recursive: true })
    const signers = [
      ['intake', record('client-messages', userMessage())],
      ['approval', record('approvals', answered)],
    ] as const
    for (const [reader, given] of signers)
      expect(as(reader).faultOf(server.signed(given))).toBeUndefined()
    expect(() => server.signed(record('policies', limitsOfOperator))).toThrow('no key to sign')
  })

  const signed = () => as('executor').signed(record('rounds-cleared', claim))
  it.each<[string, (given: RecordToAppend) => RecordToAppend]>([
    ['in another topic', (given) => ({ ...given, topic: 'other.rounds-cleared' })],
    ['in another partition', (given) => ({ ...given, partition: 2 })],
    ['under another key', (given) => ({ ...given, key: 'd' })],
    [
      'with another value',
      (given) => ({ ...given, value: encode({ ...claim, owner: 'x' } as Message) }),
    ],
    ['as a tombstone', (given) => ({ ...given, value: null })],
    ['with an id', (given) => ({ ...given, id: 'executor/1/2/0' })],
    ['without its signature', ({ signature: _, ...given }) => given],
    ['with a cut signature', (given) => ({ ...given, signature: given.signature?.slice(0, -4) })],
    [
      'under the name of another writer',
      (given) => ({ ...given, signature: given.signature?.replace('executor', 'conversation') }),
    ],
    [
      'with an unknown key',
      (given) => ({ ...given, signature: given.signature?.replace(' 1 ', ' 9 ') }),
    ],
    ['with an empty signature', (given) => ({ ...given, signature: '' })],
  ])('is refused %s', (_, change) => {
    expect(as('executor').faultOf(signed())).toBeUndefined()
    expect(as('executor').faultOf(change(signed()))).toEqual(expect.any(String))
  })

  it('whose lengths are moved between id and key is refused', () => {
    const given = { ...record('rounds-cleared', cancel()), key: 'ab', id: 'conversation/1/2/0' }
    const moved = { ...as('conversation').signed(given), key: '0ab', id: 'conversation/1/2/' }
    expect(as('executor').faultOf(moved)).toEqual(expect.any(String))
  })
})

describe('a stage without the key of an operator', () => {
  it('starts on a log that has no partition count, and logs a warning', async () => {
    const warnings: object[] = []
    const log = { warn: (fields: object) => warnings.push(fields) } as unknown as Logger
    const none = async () => []
    const bus = {
      list: none,
      ends: none,
      read: none,
      append: none,
      clock: systemClock,
    } as unknown as Bus
    const signed = signedBus(bus, as('validator'), log)
    await keepPartitionCount({ bus: signed, topicPrefix: 'weir.', partitions: 4, log })
    expect(warnings).toMatchObject([{ partitions: 4, reason: expect.stringMatching('no key') }])
  })
})

describe('a guard without the keys of the executor', () => {
  const guard = { name: 'shell', version: '1', tools: ['*'], deadlineMs: 1 }
  const judge = () => ({ state: undefined, verdicts: [] })

  async function run(more: object, { principal = 'guard.shell', topicPrefix = 'weir.' } = {}) {
    const groups: string[] = []
    const subscribe = async ({ group }: SubscribeOptions) => {
      groups.push(group)
      return { failed: new Promise(() => {}), close: async () => {} }
    }
    const log = { child: () => log } as unknown as Logger
    const bus = signedBus({ subscribe } as unknown as Bus, as(principal), log)
    await runGuard({ ...guard, onTimeout: 'deny', judge, ...more }, { bus, topicPrefix, log })
    return groups
  }

  it('runs, unless the guard sees the ends of calls', async () => {
    expect(await run({})).toEqual(['weir.guard.shell'])
    await expect(run({ seesEnds: true })).rejects.toMatchObject({
      code: 'settings.invalid',
      message: expect.stringMatching(
        /^weir\.guard\.shell decides by the records of weir\.rounds-cleared, and this process has no keys/,
      ),
    })
    expect(await run({ seesEnds: true }, { principal: 'executor' })).toEqual(['weir.guard.shell'])
  })

  it('lends its name to no stage that reads another inbox', async () => {
    const bus = signedBus({} as unknown as Bus, as('validator'), {} as Logger)
    const options = { group: 'my-guard.executor', topic: 'weir.rounds-cleared' }
    await expect(bus.subscribe(options as SubscribeOptions)).rejects.toThrow('has no keys to check')
  })
})

describe('a stolen key', () => {
  it('of the validator cannot write as the executor', () => {
    expect(() => as('validator').signed(record('rounds-cleared', claim))).toThrow('no key to sign')
    const [checked] = [record('rounds-checked', cancel(), 'conversation/1/3/0')]
    expect(() => as('validator').signed(checked)).toThrow('no key to sign')
  })

  it('of a reader forges records for its own inbox only', () => {
    const { reads, writes } = JSON.parse(readFileSync(join(folder, 'executor.json'), 'utf8'))
    expect(Object.keys(reads)).toEqual([
      'rounds-cleared',
      'policies',
      'budgets',
      'guard-verdicts.approval',
      'guard-verdicts.shell',
    ])
    for (const topic of Object.keys(writes))
      expect(Object.keys(writes[topic])).toEqual(['executor'])
  })

  it('of a front signs its records and reservations under budgets and limits, and no other counts in any topic', () => {
    const { writes } = JSON.parse(readFileSync(join(folder, 'front.json'), 'utf8'))
    expect(Object.keys(writes)).toEqual(['guest-events', 'conversation-keys', 'budgets'])
    const types = [...new Set(Object.values(topics).flatMap(({ records }) => Object.keys(records)))]
    const signed = types.filter((type) =>
      Object.keys(topics).some((topic) => signersOf(topic, type as MessageType).includes('front')),
    )
    expect(signed).toEqual([
      ...['guest-round', 'guest-results', 'guest-claim', 'conversation-key'],
      ...['budget-reserved', 'budget-settled', 'budget-released', 'slot-reserved'],
      ...['slot-renewed', 'slot-settled'],
    ])
    const forged: Message = {
      type: 'cancel-requested',
      conversation: 'guest:a:1',
      messageId: '',
    }
    const one = record('guest-events', forged, 'intake/1/3/0')
    expect(() => as('front').signed(one)).toThrow('no key to sign')
  })

  it('of a client signs no approval, no policy and no record of a stage', () => {
    const { writes } = JSON.parse(readFileSync(join(folder, 'edge.json'), 'utf8'))
    expect(Object.keys(writes)).toEqual(['client-messages', 'conversation-keys'])
  })
})

describe('key files', () => {
  it('are readable by their owner only, and others are refused', () => {
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    const file = join(folder, 'validator.json')
    chmodSync(file, 0o640)
    expect(() => readKeys(file)).toThrow(/validator\.json .* run chmod 600/)
    chmodSync(file, 0o600)
  })

  it.each([
    ['of this user may be for this user alone', 0o600, 1000, false],
    ['of this user may not be readable by the group', 0o640, 1000, true],
    ['of root may be readable by the group, as a mounted Secret is', 0o440, 0, false],
    ['of root may not be writable by the group', 0o460, 0, true],
    ['of root may not be readable by all users', 0o444, 0, true],
    ['of a third user may not be readable by the group', 0o440, 1001, true],
  ])('%s', (_, mode, uid, isOpen) => {
    expect(othersReach({ mode: 0o100_000 | mode, uid }, 1000)).toBe(isOpen)
  })

  it('of root may not be readable by the group if this user is root', () => {
    expect(othersReach({ mode: 0o440, uid: 0 }, 0)).toBe(true)
  })

  it('rotate: readers accept two generations and no third', () => {
    const old = as('executor').signed(record('rounds-cleared', claim))
    createKeyFiles(folder, { guards: ['shell'], rotate: true })
    expect(as('executor').signed(record('rounds-cleared', claim)).signature).toMatch(/^executor 2 /)
    expect(as('executor').faultOf(old)).toBeUndefined()
    createKeyFiles(folder, { guards: ['shell'], rotate: true })
    expect(as('executor').faultOf(old)).toContain('not valid here')
  })

  it.each([
    ['nowhere.json', /cannot be read/],
    ['', /no key file/],
  ])('that are missing are named: %j', (name, message) => {
    const empty = mkdtempSync(join(tmpdir(), 'weir-no-keys-'))
    expect(() => readKeys(join(empty, name))).toThrow(message)
    rmSync(empty, { recursive: true })
  })
})
