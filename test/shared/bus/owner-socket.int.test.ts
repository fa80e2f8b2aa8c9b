// Processes next to the one that writes the embedded bus. The owner is this process, or a child that
// is killed.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openBus, openBusBeside } from '../../../client/place/open-bus.ts'
import { openBesideOwner } from '../../../shared/bus/embedded/beside/beside.ts'
import { outsideRecord } from '../../../shared/bus/embedded/beside/outside-requests.ts'
import {
  listenForRequests,
  outsideRequestsMax,
  requestFromOwner,
} from '../../../shared/bus/embedded/beside/owner-socket.ts'
import { embeddedKind } from '../../../shared/bus/embedded/kind.ts'
import type {
  Bus,
  RecordToAppend,
  StoredRecord,
  Subscription,
} from '../../../shared/contract/bus.ts'
import type { GuardRegistration, GuardVerdict, Message } from '../../../shared/contract/messages.ts'
import { guardTopicSpec, topicSpecs } from '../../../shared/contract/retention.ts'
import { guardKeyPrefix } from '../../../shared/contract/topology.ts'
import { type Clock, systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { until } from '../../support/inbox.ts'
import { guardVerdictWith, modelRequest } from '../../support/messages.ts'

const log = createLog({ level: 'silent' })
const openBusFile = fileURLToPath(new URL('../../../client/place/open-bus.ts', import.meta.url))
let root: string
const opened: Bus[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-owner-'))
})
afterEach(async () => {
  for (const bus of opened.splice(0).reverse()) await bus.close()
  rmSync(root, { recursive: true, force: true })
})

const settingsIn = (folder: string) => readSettings({ dataFolder: folder }, {})
const keep = <T extends Bus>(bus: T): T => {
  opened.push(bus)
  return bus
}

async function owner(folder = root): Promise<Bus> {
  const bus = keep(await openBus(settingsIn(folder), log))
  await bus.ensureTopics(topicSpecs('weir.', 2))
  return bus
}

const beside = async (folder = root): Promise<Bus> =>
  keep(await openBusBeside(settingsIn(folder), log))

const registration: GuardRegistration = {
  type: 'guard-registration',
  name: 'shell',
  version: '1',
  tools: [{ pattern: '*', mode: 'shadow' }],
  deadlineMs: 5_000,
  onTimeout: 'deny',
  rules: null,
  registeredAt: 1,
  setBy: '',
  firstAt: null,
  replaced: [],
}
const registrationRecord = toRecord({ topic: 'weir.policies', partition: 0, message: registration })
const registrations = (bus: Bus) =>
  bus.list({ topic: 'weir.policies', partition: 0, prefix: guardKeyPrefix })
const keysOf = (records: StoredRecord[]) => records.map(({ key }) => key)

/** Rejects if `work` runs so long that it must be waiting. */
async function soon<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const alarm = setTimeout(() => reject(new Error('it waits for somebody')), 20_000)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(alarm)
  }
}

describe('a process next to the one that writes the data folder', () => {
  it('has its acknowledged records in the log, where both processes read them', async () => {
    const own = await owner()
    const outside = await beside()
    const [appended] = await outside.append([registrationRecord])
    expect(appended).toMatchObject({ partition: 0, offset: 0, time: expect.any(Number) })
    for (const bus of [own, outside])
      expect(keysOf(await registrations(bus))).toEqual(['guard:shell'])
    await outside.append([
      { topic: 'weir.policies', partition: 0, key: 'guard:shell', value: null },
    ])
    for (const bus of [own, outside]) expect(await registrations(bus)).toEqual([])
  })

  it('can create the topic of a guard, and no other', async () => {
    const own = await owner()
    const outside = await beside()
    await outside.ensureTopics([guardTopicSpec('weir.', 'shell', 2), ...topicSpecs('weir.', 2)])
    expect(await own.ends('weir.guard-verdicts.shell')).toHaveLength(2)
    await outside.ensureTopics([guardTopicSpec('weir.', 'shell', 2)])
    await expect(outside.ensureTopics([guardTopicSpec('weir.', 'shell', 3)])).rejects.toMatchObject(
      { code: 'bus.topic-differs' },
    )
    await expect(
      outside.ensureTopics([{ name: 'weir.another', kind: 'log', partitions: 2 }]),
    ).rejects.toMatchObject({
      code: 'bus.topic-missing',
    })
  })

  it("reaches the owner also if the folder's path is too long for a socket", async () => {
    const long = join(root, 'a'.repeat(200), 'b'.repeat(200))
    const own = await owner(long)
    await (await beside(long)).append([registrationRecord])
    expect(keysOf(await registrations(own))).toEqual(['guard:shell'])
  })

  it('opens the folder itself if no process has it, or if its owner was killed', async () => {
    await (await owner()).close()
    const script = `
      const { openBus } = await import(${JSON.stringify(openBusFile)})
      const { readSettings } = await import(${JSON.stringify(openBusFile.replace('client/place/open-bus', 'shared/settings/settings'))})
      const { createLog } = await import(${JSON.stringify(openBusFile.replace('client/place/open-bus', 'shared/lib/log/log'))})
      await openBus(readSettings({ dataFolder: ${JSON.stringify(root)} }, {}), createLog({ level: 'silent' }))
      setInterval(() => {}, 1000)
      console.log('it owns')`
    const child = spawn(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      script,
    ])
    await once(child.stdout, 'data')
    expect(
      await embeddedKind
        .openBesideWriter(settingsIn(root), log)
        .then((bus) => bus?.close().then(() => 'it opened')),
    ).toBe('it opened')
    child.kill('SIGKILL')
    await once(child, 'exit')
    // no process answers there
    expect(existsSync(join(root, 'weir.db-owner', 'requests'))).toBe(true)
    expect(await embeddedKind.openBesideWriter(settingsIn(root), log)).toBeUndefined()
    const next = await beside()
    await next.append([registrationRecord])
    expect(next.provesFormerOwnersDead).toBe(true) // it is the owner
    await (await beside()).append([registrationRecord])
    expect(
      await next.read({ topic: 'weir.policies', partition: 0, from: 0, limit: 9 }),
    ).toHaveLength(2)
  })

  it('replaces an owner that has ended as soon as it has a record to write', async () => {
    const own = await owner()
    const outside = await beside()
    await own.close()
    await outside.append([registrationRecord])
    await outside.ensureTopics([guardTopicSpec('weir.', 'shell', 2)])
    expect(keysOf(await registrations(outside))).toEqual(['guard:shell'])
    await outside.close()
    expect((await beside()).provesFormerOwnersDead).toBe(true) // it has released the lock
  })

  it('sends its request to the next owner if the first has ended', async () => {
    const first = await owner()
    const outside = await beside()
    await first.close()
    const second = await owner()
    await outside.append([registrationRecord])
    expect(keysOf(await registrations(second))).toEqual(['guard:shell'])
  })

  it('treats an owner that was killed before it accepted the connection as absent', async () => {
    await (await owner()).close()
    mkdirSync(join(root, 'weir.db-owner'), { recursive: true, mode: 0o700 })
    const listening = `require('node:net').createServer().listen(${JSON.stringify(join(root, 'weir.db-owner', 'requests'))}, () => {
      require('node:fs').writeSync(1, 'listens')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`
    const child = spawn(process.execPath, ['--eval', listening])
    await once(child.stdout, 'data')
    const asking = requestFromOwner(join(root, 'weir.db'), {})
    child.kill('SIGKILL')
    execFileSync('sleep', ['0.3']) // it is dead before this process connects to its socket
    await expect(asking).rejects.toMatchObject({
      code: 'bus.unreachable',
      retryable: true,
      cause: { code: 'ECONNRESET' },
    })
  })
})

describe('a reader next to the one that writes the data folder', () => {
  /** A hundred times as fast as the real one. */
  const quick: Clock = {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * 100,
    after: (ms, then) => systemClock.after(ms / 100, then),
  }
  const word = (round: number): RecordToAppend => {
    const verdict: GuardVerdict = guardVerdictWith({
      round,
      guard: 'g',
      judgedMs: 0,
      deadlineMs: 0,
    })
    return {
      ...toRecord({ topic: 'weir.guard-verdicts.g', partition: 0, message: verdict }),
      id: `guard.g/0/${round}/0`,
    }
  }
  const cancel: Message = { type: 'cancel-requested', conversation: 'c', messageId: 'm' }
  const append = (own: Bus) =>
    own.append([toRecord({ topic: 'weir.client-messages', partition: 0, message: cancel })])

  /** Answers each record with one in the topic of a guard. */
  async function answering(): Promise<Subscription> {
    const outside = await openBesideOwner({
      file: join(root, 'weir.db'),
      clock: quick,
      topicPrefix: 'weir.',
      log,
    })
    if (outside === undefined) throw new Error('nobody listens')
    await keep(outside).ensureTopics([guardTopicSpec('weir.', 'g', 2)])
    return outside.subscribe({
      group: 'g',
      topic: 'weir.client-messages',
      assign: async ({ ends }) => ({
        position: ends.begin,
        read: async (records) => ({
          outputs: records.map(({ offset }) => word(offset)),
          commit: undefined,
        }),
        acknowledged() {},
        async close() {},
      }),
    })
  }
  const answers = async (bus: Bus) => (await bus.ends('weir.guard-verdicts.g'))[0]?.end

  it('has its answers written, also by the next owner', async () => {
    const own = await owner()
    const subscription = await answering()
    expect(subscription.joined).toBe(true)
    await append(own)
    await until(async () => (await answers(own)) === 1)
    await Promise.all([append(own), own.close()])
    const next = await owner()
    await append(next)
    await until(async () => (await answers(next)) === 3)
    expect(
      (await next.read({ topic: 'weir.guard-verdicts.g', partition: 0, from: 0, limit: 9 })).map(
        ({ id }) => id,
      ),
    ).toEqual(['guard.g/0/0/0', 'guard.g/0/1/0', 'guard.g/0/2/0'])
    await subscription.close()
  })

  it('fails when no owner has written for a minute', async () => {
    const own = await owner()
    const subscription = await answering()
    await Promise.all([append(own), own.close()])
    await expect(subscription.failed).rejects.toMatchObject({ code: 'bus.unreachable' })
    expect(subscription.joined).toBe(false)
    await subscription.close()
  })
})

describe('a process next to an owner that hangs', () => {
  const noTimers: Clock = { ...systemClock, after: () => () => {} }
  const atOnce: Clock = { ...systemClock, after: (_, then) => systemClock.after(0, then) }
  const cancel: Message = { type: 'cancel-requested', conversation: 'c', messageId: 'm' }
  let hung: Server
  let onRequest: () => void
  let isRequested: Promise<void>
  beforeEach(async () => {
    const own = await openBus(settingsIn(root), log)
    await own.ensureTopics(topicSpecs('weir.', 2))
    await own.append([toRecord({ topic: 'weir.client-messages', partition: 0, message: cancel })])
    await own.close()
    mkdirSync(join(root, 'weir.db-owner'))
    ;({ promise: isRequested, resolve: onRequest } = Promise.withResolvers<void>())
    hung = createServer(
      { allowHalfOpen: true },
      (socket) => void socket.on('error', () => {}).once('data', () => onRequest()),
    )
    await once(hung.listen(join(root, 'weir.db-owner', 'requests')), 'listening')
  })
  afterEach(() => void hung.close())

  async function outside(clock: Clock, warn = (): void => {}): Promise<Bus> {
    const bus = await openBesideOwner({
      file: join(root, 'weir.db'),
      clock,
      topicPrefix: 'weir.',
      log: { warn },
    })
    if (bus === undefined) throw new Error('nobody listens')
    return keep(bus)
  }
  const answering = (bus: Bus) =>
    bus.subscribe({
      group: 'g',
      topic: 'weir.client-messages',
      assign: async ({ ends }) => ({
        position: ends.begin,
        read: async () => ({ outputs: [registrationRecord], commit: undefined }),
        acknowledged() {},
        async close() {},
      }),
    })

  it('ends a subscription without the acknowledgement of its last answer', async () => {
    const subscription = await answering(await outside(atOnce))
    await isRequested
    await soon(subscription.close())
  })

  it('ends a subscription during the wait before a retry', async () => {
    const { promise: isRefused, resolve } = Promise.withResolvers<void>()
    hung.on('connection', (socket) => socket.once('data', () => socket.destroy()))
    const subscription = await answering(await outside(noTimers, resolve))
    await isRefused
    await soon(subscription.close())
  })

  it('fails its open requests when it closes', async () => {
    const bus = await outside(systemClock)
    const asking = [
      bus.append([registrationRecord]),
      bus.ensureTopics([guardTopicSpec('weir.', 'g', 2)]),
    ]
    const ended = Promise.all(
      asking.map((one) =>
        expect(one).rejects.toMatchObject({ code: 'bus.unreachable', retryable: true }),
      ),
    )
    await isRequested
    await bus.close()
    await soon(ended)
  })

  it('closes its readers when another assignment fails', async () => {
    const closed: number[] = []
    const subscribing = (await outside(systemClock)).subscribe({
      group: 'g',
      topic: 'weir.client-messages',
      assign: async ({ ends }) => {
        if (ends.partition === 1) throw new Error('no reader for it')
        return {
          position: ends.begin,
          read: async () => ({ outputs: [], commit: undefined }),
          acknowledged() {},
          close: async () => void closed.push(ends.partition),
        }
      },
    })
    await expect(subscribing).rejects.toThrow('no reader for it')
    expect(closed).toEqual([0])
  })
})

describe('the process that writes the data folder', () => {
  const file = () => join(root, 'weir.db')
  const asking = (record: { topic: string; key: string; message: Message; id?: string }) =>
    requestFromOwner(file(), {
      type: 'append',
      topicPrefix: 'weir.',
      records: [
        outsideRecord({
          ...toRecord({ topic: record.topic, partition: 0, message: record.message }),
          key: record.key,
          id: record.id,
        }),
      ],
    })

  it('admits only its own user, also in a folder that was open to others', async () => {
    mkdirSync(join(root, 'weir.db-owner'), { recursive: true })
    chmodSync(join(root, 'weir.db-owner'), 0o777)
    await owner()
    expect(statSync(join(root, 'weir.db-owner')).mode & 0o777).toBe(0o700)
  })

  it('refuses records of a stage, a performer or the runtime, and records under their ids', async () => {
    const own = await owner()
    const refused = { code: 'message.invalid' }
    const request = modelRequest()
    await expect(
      asking({ topic: 'weir.model-requests', key: request.conversation, message: request }),
    ).rejects.toMatchObject(refused)
    const tick: Message = { type: 'tick', conversation: 'c', unit: 'u' }
    await expect(
      asking({ topic: 'weir.client-messages', key: 'c', message: tick }),
    ).rejects.toMatchObject(refused)
    const cancel: Message = { type: 'cancel-requested', conversation: 'c', messageId: 'm' }
    const inbox = { topic: 'weir.client-messages', message: cancel }
    await expect(asking({ ...inbox, key: 'another' })).rejects.toMatchObject(refused)
    await expect(asking({ ...inbox, key: 'c', id: 'loop-detector/0/5/0' })).rejects.toMatchObject(
      refused,
    )
    await expect(asking({ ...inbox, key: 'c', topic: 'weir.nothing' })).rejects.toMatchObject(
      refused,
    )
    await expect(
      asking({ ...inbox, key: 'c', topic: 'other.client-messages' }),
    ).rejects.toMatchObject(refused)
    const tombstone = { topic: 'weir.approvals', partition: 0, key: 'k', value: null }
    await expect(
      requestFromOwner(file(), { type: 'append', topicPrefix: 'weir.', records: [tombstone] }),
    ).rejects.toMatchObject(refused)
    expect((await own.ends('weir.client-messages')).every(({ end }) => end === 0)).toBe(true)
    await asking({ ...inbox, key: 'c' })
    expect((await own.ends('weir.client-messages'))[0]?.end).toBe(1)
  })

  it.each<[string, unknown]>([
    ['no object', 5],
    ['nothing', null],
    ['a request of a later Weir', { type: 'dance', topicPrefix: 'weir.' }],
    ['records that are none', { type: 'append', topicPrefix: 'weir.', records: 7 }],
    ['a record without a topic', { type: 'append', topicPrefix: 'weir.', records: [{}] }],
    [
      'a name that no guard can have',
      { type: 'guard-topic', topicPrefix: 'weir.', guard: '../g', partitions: 2, retentionMs: 1 },
    ],
    [
      'a number that is none',
      { type: 'guard-topic', topicPrefix: 'weir.', guard: 'g', partitions: 'two', retentionMs: 1 },
    ],
    [
      'a conversation that is none',
      { type: 'erase', topicPrefix: 'weir.', conversations: [7], forks: [], keep: [], seen: [] },
    ],
    [
      'a place without a number',
      {
        ...{ type: 'erase', topicPrefix: 'weir.', conversations: [], forks: [] },
        ...{ keep: [{ topic: 'a' }], seen: [] },
      },
    ],
  ])('reports the problem of %s', async (_, request) => {
    await owner()
    await expect(requestFromOwner(file(), request)).rejects.toMatchObject({
      code: 'message.invalid',
    })
  })

  it('answers requests that are not JSON or too large, and goes on', async () => {
    await owner()
    const responseTo = async (text: string) => {
      const socket = createConnection({
        path: join(root, 'weir.db-owner', 'requests'),
        allowHalfOpen: true,
      })
      socket.end(text)
      let answer = ''
      for await (const chunk of socket) answer += String(chunk)
      return answer
    }
    expect(await responseTo('{nonsense')).toContain('message.invalid')
    expect(await responseTo('x'.repeat(9 * 1024 * 1024))).toContain('bus.record-too-large')
    await requestFromOwner(file(), { type: 'append', topicPrefix: 'weir.', records: [] })
  })

  it('ends despite a silent connection, and despite an answered one that stays open', async () => {
    const own = await owner()
    const path = join(root, 'weir.db-owner', 'requests')
    const silent = createConnection(path)
    await once(silent, 'connect')
    const staying = createConnection({ path, allowHalfOpen: true })
    staying.on('error', () => {}).write('x'.repeat(9 * 1024 * 1024))
    expect(String((await once(staying, 'data'))[0])).toContain('bus.record-too-large')
    await soon(own.close())
    expect(existsSync(path)).toBe(false)
    for (const socket of [silent, staying]) socket.destroy()
  })

  it('releases the log also if its socket cannot be removed', async () => {
    const folder = join(root, 'data')
    const own = await openBus(settingsIn(folder), log)
    renameSync(folder, join(root, 'elsewhere'))
    symlinkSync('data', folder) // leads to itself
    await soon(own.close())
    rmSync(folder)
    renameSync(join(root, 'elsewhere'), folder)
    await (await openBus(settingsIn(folder), log)).close()
  })

  it('keeps the short name of a long path while it listens, and unlinks it at the end', async () => {
    const long = join(root, 'a'.repeat(200))
    const own = await openBus(settingsIn(long), log)
    const folders = () =>
      readdirSync(tmpdir()).filter((name) => {
        const link = join(tmpdir(), name, 'o')
        return existsSync(link) && realpathSync(link) === join(realpathSync(long), 'weir.db-owner')
      })
    const names = folders()
    expect(names.map((name) => statSync(join(tmpdir(), name)).mode & 0o777)).toEqual([0o700])
    await own.close()
    expect(names.map((name) => existsSync(join(tmpdir(), name)))).toEqual([false])
  })
})

describe('requests of many processes', () => {
  const file = () => join(root, 'weir.db')
  beforeEach(async () => {
    await (await openBus(settingsIn(root), log)).close()
  })

  it('are answered at the same time up to a limit, and the others get a retryable error', async () => {
    const { promise: written, resolve: write } = Promise.withResolvers<string>()
    let requests = 0
    const answer = async () => {
      requests += 1
      return written
    }
    const owner = await listenForRequests({ file: file(), clock: systemClock, log, answer })
    const answers = Array.from({ length: outsideRequestsMax }, () => requestFromOwner(file(), {}))
    await until(async () => requests === outsideRequestsMax)
    const tooMany = await requestFromOwner(file(), { text: 'x'.repeat(4 * 1024 * 1024) }).catch(
      (error: unknown) => error,
    )
    expect(tooMany).toBeInstanceOf(WeirError)
    expect(tooMany).toMatchObject({
      code: 'bus.full',
      retryable: true,
      message: expect.stringContaining('nothing was written'),
    })
    write('written')
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['written']))
    expect(requests).toBe(outsideRequestsMax)
    await owner.close()
  })

  it('cannot stay open by sending a byte at a time', async () => {
    const timers: (() => void)[] = []
    const after: Clock['after'] = (_, then) => {
      timers.push(then)
      return () => {}
    }
    const clock: Clock = { ...systemClock, after }
    const owner = await listenForRequests({ file: file(), clock, log, answer: async () => null })
    const slow = createConnection(join(root, 'weir.db-owner', 'requests'))
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    slow.on('error', () => {}).once('close', () => resolve())
    slow.write('[')
    await until(async () => timers.length === 1)
    slow.write('1')
    for (const passed of timers) passed()
    await soon(closed)
    await owner.close()
  })
})

describe('the folder of the sockets', () => {
  /** A socket that takes requests in place of the owner's. Resolves to the file and the requests. */
  async function foreignSocket(place: (file: string, folder: string) => void) {
    const file = join(root, 'weir.db')
    await (await owner()).close()
    const folder = join(root, 'elsewhere')
    mkdirSync(folder)
    const taken: string[] = []
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', (data: Buffer) => taken.push(data.toString()))
      socket.once('end', () => socket.end('{"value":[]}'))
    })
    await new Promise<void>((resolve) => server.listen(join(folder, 'requests'), resolve))
    place(file, folder)
    return { file, taken, server }
  }

  it('gets no request through a link to another folder', async () => {
    const { file, taken, server } = await foreignSocket((to, folder) =>
      symlinkSync(folder, `${to}-owner`),
    )
    await expect(requestFromOwner(file, { type: 'append' })).rejects.toThrow('nothing was sent')
    expect(taken).toEqual([])
    server.close()
  })

  const asRoot = process.getuid?.() === 0 ? it : it.skip
  asRoot('gets no request if it belongs to another user than the file', async () => {
    const { file, taken, server } = await foreignSocket((to, folder) => {
      chownSync(folder, 65_534, 65_534)
      renameSync(folder, `${to}-owner`)
    })
    await expect(requestFromOwner(file, { type: 'append' })).rejects.toThrow('nothing was sent')
    expect(taken).toEqual([])
    server.close()
  })
})
