import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { newestConversations } from '../../../client/history/newest-conversations.ts'
import type { ReadableLog } from '../../../client/history/readable-log.ts'
import { searchFileOf } from '../../../client/search/index-file.ts'
import { openSearch, type PageOptions, type Search } from '../../../client/search/search.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  HistoryEntry,
  InterventionAction,
  Message,
  TurnFinished,
} from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { historyKey, type TopicName } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'

import { claimFolder } from '../../../shared/lib/files/folder-owner.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { conditionsOf, filterFrom, type Sort } from '../../../shared/view/filter/turn-filter.ts'
import { interventionRaised, turnFinished, turnStarted } from '../../support/activity.ts'
import { responseWith, userMessage } from '../../support/messages.ts'

const partitions = 3
let bus: Bus
let now = 1_000
let folder: string
beforeEach(async () => {
  now = 1_000
  folder = mkdtempSync(join(tmpdir(), 'weir-search-'))
  bus = await opened()
})
afterEach(async () => {
  await bus.close()
  rmSync(folder, { recursive: true, force: true })
})

async function opened(): Promise<Bus> {
  const made = await openEmbeddedBus({
    file: ':memory:',
    clock: { ...systemClock, now: () => now },
  })
  await made.ensureTopics(topicSpecs('weir.', partitions))
  return made
}

const progress = { expect() {}, read() {} }
const log = (fields: Partial<ReadableLog> = {}): ReadableLog => ({
  ...{ bus, topicPrefix: 'weir.', partitions, hasIndex: true, progress },
  ...fields,
})

/** Each record is a millisecond later than the one before. */
async function write(topic: TopicName, message: Message, key: string): Promise<number> {
  now += 1
  const partition = partitionOf(key, partitions)
  const [appended] = await bus.append([toRecord({ topic: `weir.${topic}`, partition, message })])
  return appended?.offset ?? -1
}

async function entry(
  conversation: string,
  turn: number,
  round: number,
  fields: Partial<HistoryEntry>,
) {
  const message: HistoryEntry = {
    ...{ type: 'history-entry', conversation, turn, round, user: null, response: null },
    ...{ redact: [], results: [], contents: [], afterTurn: null, nudge: null, note: null },
    ...fields,
  }
  await write('history', message, conversation)
}

const usage = { inputTokens: 90, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 }
const call = (name: string, raw: string) => ({
  ...{ ordinal: 0, id: 'i', name, raw, source: 'done' as const, problem: null },
  ...{ repair: null, disputed: false, sent: '', key: '' },
})

type Written = {
  question?: string
  reply?: string
  tool?: [name: string, raw: string, result: string]
  rule?: [rule: string, action: InterventionAction]
  end?: Partial<TurnFinished>
  /** How long it runs. */
  ms?: number
  tokens?: number
  usd?: number
  redact?: HistoryEntry['redact']
}

async function turn(conversation: string, written: Written = {}): Promise<number> {
  const { question = 'hello', reply = 'Fine.', tool, rule, end = {}, ms = 0, redact = [] } = written
  const id = await write(
    'conversation-events',
    userMessage({ conversation, agent: 'helper' }),
    conversation,
  )
  const at = { conversation, turn: id }
  await entry(conversation, id, 0, { user: question, redact })
  await write('activity', { ...turnStarted(), ...at, agent: 'helper' } as Message, conversation)
  const calls = tool === undefined ? [] : [call(tool[0], tool[1])]
  const answered = {
    round: 1,
    attempt: 'a',
    text: reply,
    textBytes: 1,
    stop: 'end' as const,
    usage,
  }
  const shown = calls.map(({ name }) => ({
    ordinal: 0,
    id: 'i',
    name,
    arguments: '{}',
    argumentsBytes: 2,
    problem: null,
  }))
  await write(
    'activity',
    { type: 'model-answered', ...at, ...answered, calls: shown },
    conversation,
  )
  if (rule !== undefined) {
    const raised = interventionRaised(rule[0], 'again') as Message & { type: 'intervention-raised' }
    const intervention = { ...raised.intervention, action: rule[1] }
    await write('activity', { ...raised, ...at, intervention }, conversation)
  }
  const used = { ...usage, inputTokens: (written.tokens ?? 100) - 10 }
  const response = responseWith({ text: reply, calls: calls as never, stop: 'end', usage: used })
  const results =
    tool === undefined
      ? []
      : [{ ordinal: 0, status: 'ok' as const, text: tool[2], reason: '', durationMs: 1 }]
  await entry(conversation, id, 1, { response, results: results as never, redact })
  if (written.usd !== undefined)
    await write(
      'budgets',
      {
        type: 'budget-settled',
        ...{ tenant: 'default', ...at, round: 1, attempt: `${conversation} ${id}`, usage },
        ...{ counted: 'usage', tokens: 1, usd: written.usd, prices: 'p', priced: true },
      } as Message,
      'default',
    )
  now += ms
  await write('activity', { ...turnFinished(), ...at, ...end } as Message, conversation)
  return id
}

async function forget(conversation: string): Promise<void> {
  const message = { type: 'conversation-forgotten', conversation, by: 'ann', identity: 'claimed' }
  await write('activity', message as Message, conversation)
}

const searches: Search[] = []
afterEach(async () => {
  for (const search of searches.splice(0)) await search.close()
})

async function search(fields: Partial<ReadableLog> = {}): Promise<Search> {
  const made = openSearch(log(fields))
  searches.push(made)
  await made.refresh()
  return made
}

const filterOf = (...where: string[]) => filterFrom(conditionsOf(where), now)
async function idsOf(from: Search, where: string[], options: Partial<PageOptions> = {}) {
  const page = await from.page(filterOf(...where), { limit: 10, ...options })
  return page.conversations.map(({ conversation }) => conversation)
}

describe('a search', () => {
  it('finds conversations by conditions that one turn meets, however old it is', async () => {
    await turn('a', { rule: ['cycle', 'nudge'] })
    await turn('b', { rule: ['sweep', 'end'], end: { outcome: 'failed', class: 'no_progress' } })
    await turn('c', { tool: ['refund', '{"order":7}', 'sent'] })
    await turn('a', { end: { outcome: 'capped', cap: 'rounds' } })
    const found = await search()
    expect(await idsOf(found, ['intervention=any'])).toEqual(['a', 'b'])
    expect(await idsOf(found, ['intervention=nudge'])).toEqual(['a'])
    expect(await idsOf(found, ['rule=sweep', 'rule=cycle'])).toEqual(['a', 'b'])
    expect(await idsOf(found, ['rule=cycle', 'outcome=answered'])).toEqual(['a'])
    expect(await idsOf(found, ['rule=cycle', 'outcome=capped'])).toEqual([]) // two turns
    expect(await idsOf(found, ['tool=refund'])).toEqual(['c'])
    expect(await idsOf(found, ['agent=helper'], { limit: 1 })).toEqual(['a'])
    expect((await found.page(filterOf('agent=helper'), { limit: 1 })).total).toBe(3)
    expect(await idsOf(found, ['agent=helper'], { skip: 1 })).toEqual(['c', 'b'])
  })

  it('finds words of the question, the reply, the arguments and the results of one turn', async () => {
    await turn('a', { question: 'Refund customer 700, please', reply: 'Señor, it is done.' })
    await turn('b', {
      question: 'customer 7001',
      tool: ['find_order', '{"id":"A-17"}', 'too late'],
    })
    await turn('c', { question: 'customer' })
    await turn('c', { question: '700' })
    const found = await search()
    expect(await idsOf(found, ['text=customer 700'])).toEqual(['b', 'a']) // 7001 begins with 700
    expect(await idsOf(found, ['text="customer 700"'])).toEqual(['a'])
    expect(await idsOf(found, ['text=SENOR'])).toEqual(['a'])
    expect(await idsOf(found, ['text=A-17'])).toEqual(['b'])
    expect(await idsOf(found, ['text=find_order late'])).toEqual(['b'])
    expect(await idsOf(found, ['text=customer', 'text=late'])).toEqual(['b'])
    expect(await idsOf(found, ['text=" XOR *'])).toEqual([])
    expect(await idsOf(found, ['text=- "'])).toHaveLength(3) // nothing to find
    expect(await idsOf(found, ['text="customer\0 700"'])).toEqual(['a'])
  })

  it('lets other work run between two words, and ends at its deadline with an error', async () => {
    await turn('a', { question: 'one two three' })
    let time = 0
    const timed = openSearch(log(), { clock: { now: () => now, monotonic: () => time } })
    searches.push(timed)
    await timed.refresh()
    const seen: string[] = []
    const found = timed.page(filterOf('text=one two three'), { limit: 1 }).then(({ total }) => {
      seen.push('found')
      return total
    })
    setImmediate(() => seen.push('other work'))
    expect([await found, seen]).toEqual([1, ['other work', 'found']])

    setImmediate(() => {
      time += limits.searchMsMax
    })
    await expect(timed.page(filterOf('text=one two three'), { limit: 1 })).rejects.toMatchObject({
      code: 'usage',
      message: 'the search for 3 words was ended after 5 s: give fewer or longer words',
    })
    setImmediate(() => {
      time += limits.searchMsMax
    })
    await expect(timed.turns(filterOf('text=one two three'))).rejects.toThrow('was ended after 5 s')
    expect((await timed.page(filterOf('text=two one'), { limit: 1 })).total).toBe(1)
  })

  it('finds and sorts by tokens and cost of a conversation, and by its longest turn', async () => {
    await turn('cheap', { tokens: 5_000, usd: 1e7 })
    await turn('dear', { tokens: 400, usd: 2e9 })
    await turn('dear', { tokens: 400, usd: 3e9 })
    await turn('long', { ms: 90_000 })
    const found = await search()
    expect(await idsOf(found, ['minTokens=800'])).toEqual(['dear', 'cheap'])
    expect(await idsOf(found, ['minCost=4USD'])).toEqual(['dear'])
    expect(await idsOf(found, ['longerThan=1m'])).toEqual(['long'])
    const by = (sort: Sort) => idsOf(found, [], { sort })
    expect(await by('time')).toEqual(['long', 'dear', 'cheap'])
    expect(await by('tokens')).toEqual(['cheap', 'dear', 'long'])
    expect(await by('cost')).toEqual(['dear', 'cheap', 'long'])
    expect((await by('duration'))[0]).toBe('long')
  })

  it('finds turns that were active in a time, also if the conversation went on', async () => {
    await turn('a')
    now += 60_000
    const from = now
    const old = await turn('a')
    await turn('b')
    now += 60_000
    const to = now
    await turn('a')
    await turn('c')
    const found = await search()
    expect(await idsOf(found, [`since=${from}`, `until=${to}`])).toEqual(['a', 'b'])
    expect((await found.turns(filterOf(`since=${from}`, `until=${to}`))).get('a')).toEqual(
      new Set([old]),
    )
  })

  it('names the known agents, tools and guards for a name that no turn has', async () => {
    await turn('a', { tool: ['refund', '{}', ''] })
    const found = await search()
    const fault =
      (...where: string[]) =>
      () =>
        found.assertKnown(filterOf(...where))
    expect(fault('agent=helpr')).toThrow(
      "no turn has the agent 'helpr'. Did you mean helper? The log has helper",
    )
    expect(fault('tool=pay')).toThrow("no turn has the tool 'pay'. The log has refund")
    expect(fault('guard=g')).toThrow('The log has none')
    expect(fault('agent=helper', 'rule=cycle')).not.toThrow()
  })

  it('shows the same conversations as the log itself', async () => {
    await turn('a', { rule: ['cycle', 'nudge'], tokens: 300 })
    await turn('b', { end: { outcome: 'failed', class: 'provider', reason: 'down' } })
    await turn('a', { question: 'and now?' })
    const id = await write('conversation-events', userMessage({ conversation: 'open' }), 'open')
    await entry('open', id, 0, { user: 'wait' })
    const begun = { ...turnStarted(), conversation: 'open', turn: id }
    await write('activity', begun as Message, 'open')
    const { conversations, total } = await (await search()).page(filterOf(), { limit: 10 })
    const listed = await newestConversations(log(), 10)
    expect(conversations).toEqual(listed.map((one) => ({ ...one, agent: expect.any(String) })))
    expect(total).toBe(3)
  })
})

describe('the index of a search', () => {
  const file = () => join(folder, 'weir.search')

  it('waits with its read for other work, and ends the read afterwards', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await turn(id)
    const search = openSearch(log())
    const reading = search.refresh()
    while (search.behind === 0) await othersTurn()
    const { promise: worked, resolve: finish } = Promise.withResolvers<string>()
    const work = search.whilePaused(() => worked)
    for (let n = 0; n < 50; n += 1) await othersTurn()
    const { behind } = search
    expect(behind).toBeGreaterThan(0)
    for (let n = 0; n < 50; n += 1) await othersTurn()
    expect(search.behind).toBe(behind)
    finish('done')
    expect(await work).toBe('done')
    await reading
    expect(search.behind).toBe(0)
    expect((await search.page(filterOf(), { limit: 9 })).total).toBe(4)
    await search.close()
  })

  it('keeps no result of work for which its read waited', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const search = openSearch(log())
    const pages: WeakRef<object>[] = []
    for (let n = 0; n < 8; n += 1)
      await search.whilePaused(async () => {
        const page = { n }
        pages.push(new WeakRef(page))
        return page
      })
    for (let n = 0; n < 50; n += 1) await othersTurn()
    collect()
    expect(pages.slice(0, 6).filter((page) => page.deref() !== undefined)).toEqual([])
    await search.close()
  })

  it('is a file that only its user can read, and goes on where it was', async () => {
    await turn('a', { question: 'alpha' })
    const first = await search({ searchFile: file() })
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    await first.close()
    searches.splice(0)
    await turn('a', { question: 'beta' })
    let read = 0
    const counting = { ...bus, read: bus.read.bind(bus) } as Bus
    counting.read = async (range) => {
      const records = await bus.read(range)
      read += range.limit > 1 ? records.length : 0
      return records
    }
    const second = await search({ searchFile: file(), bus: counting })
    expect(await idsOf(second, ['text=alpha'])).toEqual(['a'])
    expect(await idsOf(second, ['text=beta'])).toEqual(['a'])
    expect(read).toBe(5) // the records of the second turn
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o77).toBe(0)
  })

  it('is made anew for another log in the same place', async () => {
    await turn('a', { question: 'alpha' })
    await (await search({ searchFile: file() })).close()
    searches.splice(0)
    await bus.close()
    bus = await opened()
    now += 7
    await turn('b', { question: 'beta' })
    const found = await search({ searchFile: file() })
    expect(await idsOf(found, [])).toEqual(['b'])
    expect(await idsOf(found, ['text=alpha'])).toEqual([])
  })

  it('replaces a damaged file', async () => {
    await turn('a', { question: 'alpha' })
    writeFileSync(file(), 'no database '.repeat(1_000))
    expect(await idsOf(await search({ searchFile: file() }), ['text=alpha'])).toEqual(['a'])
    expect(readFileSync(file()).subarray(0, 6).toString()).toBe('SQLite')
  })

  it('is written by two processes at once, and has each record once', async () => {
    for (let n = 0; n < 20; n += 1) await turn(`c${n}`, { question: `word${n}` })
    const one = openSearch(log({ searchFile: file() }))
    const other = openSearch(log({ searchFile: file() }))
    searches.push(one, other)
    await Promise.all([one.refresh(), other.refresh()])
    expect((await one.page(filterOf('text=word'), { limit: 30 })).total).toBe(20)
    expect(await idsOf(other, ['text=word7'])).toEqual(['c7'])
    const [first] = (await one.page(filterOf('text=word7'), { limit: 1 })).conversations
    expect(first).toMatchObject({ turns: 1, inputTokens: 90, outputTokens: 10 })
  })

  it('is in memory where records are encrypted, and where there is no data folder', () => {
    const place = (fields: object = {}) =>
      searchFileOf({ dataFolder: folder, encryptionKeys: '', encryptionCommand: '', ...fields })
    expect(place({ encryptionKeys: 'keys.yaml' })).toBe(':memory:')
    expect(place({ encryptionCommand: 'get-keys' })).toBe(':memory:')
    expect(place({ dataFolder: join(folder, 'none') })).toBe(':memory:')
    expect(place()).toBe(file())
  })

  it('is in memory in a folder without a mark of this user', () => {
    const { XDG_STATE_HOME: stateOfRun } = process.env
    process.env.XDG_STATE_HOME = join(folder, 'state')
    const dataFolder = mkdtempSync(join(folder, 'data-'))
    const place = { dataFolder, encryptionKeys: '', encryptionCommand: '' }
    try {
      expect(searchFileOf(place)).toBe(':memory:')
      claimFolder(dataFolder)
      expect(searchFileOf(place)).toBe(join(dataFolder, 'weir.search'))
    } finally {
      process.env.XDG_STATE_HOME = stateOfRun
    }
  })

  it.each(['file', 'link'])('changes no %s that is another database', async (kind) => {
    const other = kind === 'link' ? join(folder, 'other.db') : file()
    const db = new DatabaseSync(other)
    db.exec('CREATE TABLE orders (id INTEGER)')
    db.close()
    if (kind === 'link') symlinkSync(other, file())
    const before = readFileSync(other)
    await turn('a', { question: 'alpha' })
    expect(await idsOf(await search({ searchFile: file() }), ['text=alpha'])).toEqual(['a'])
    expect(readFileSync(other)).toEqual(before)
  })

  it('follows no link, not even to an empty file', async () => {
    const other = join(folder, 'empty')
    writeFileSync(other, '')
    symlinkSync(other, file())
    await turn('a', { question: 'alpha' })
    expect(await idsOf(await search({ searchFile: file() }), ['text=alpha'])).toEqual(['a'])
    expect(statSync(other).size).toBe(0)
  })

  it('keeps a conversation whose id ends with the id of a deleted one', async () => {
    const ids = Array.from({ length: 50 }, (_, n) => `acme/${n} x`)
    const id =
      ids.find((one) => partitionOf(one, partitions) === partitionOf('x', partitions)) ?? ''
    await turn(id)
    await forget('x')
    const found = await search()
    expect(await idsOf(found, ['agent=helper'])).toEqual([id])
    expect((await found.page(filterOf(), { limit: 1 })).conversations[0]).toMatchObject({
      turns: 1,
    })
  })

  it('gives the cost of a deleted conversation to no later one', async () => {
    await turn('a', { usd: 5e9 })
    const found = await search()
    expect(await idsOf(found, ['minCost=4USD'])).toEqual(['a'])
    await forget('a')
    await found.refresh()
    await turn('b')
    await found.refresh()
    expect(await idsOf(found, [])).toEqual(['b'])
    expect(await idsOf(found, ['minCost=4USD'])).toEqual([])
  })

  it('reads many bytes in several steps, and keeps no pieces of files', async () => {
    await turn('a', { question: 'alpha' })
    const data = new Uint8Array(512 * 1024)
    for (let piece = 0; piece < 20; piece += 1) {
      const kept = { type: 'content-kept', conversation: 'a', hash: 'h', piece, data }
      await write('history', kept as Message, 'a')
    }
    await turn('a', { question: 'omega' })
    const steps: number[] = []
    const counting = { expect() {}, read: (records: number) => steps.push(records) }
    const found = await search({ progress: counting })
    expect(await idsOf(found, ['text=omega'])).toEqual(['a'])
    // The 20 pieces in one step would be 10 MiB.
    expect(Math.max(...steps)).toBeLessThan(20)
  })

  it('has no value that the rules of an agent hide, not even of an earlier message', async () => {
    const redact = [{ name: 'card', pattern: null, path: 'arguments.card' }]
    await turn('a', {
      question: 'my card is 4111222233334444',
      tool: ['pay', '{"card":"4111222233334444"}', 'paid'],
      redact,
    })
    const found = await search({ searchFile: file() })
    expect(await idsOf(found, ['text=4111222233334444'])).toEqual([])
    expect(await idsOf(found, ['text=paid'])).toEqual(['a'])
    expect((await found.page(filterOf(), { limit: 1 })).conversations[0]?.question).toContain(
      'my card is',
    )
    await found.close()
    searches.splice(0)
    expect(filesWith('4111222233334444')).toEqual([])
  })

  it('loses words of earlier turns that a later rule hides', async () => {
    await turn('a', { question: 'my word is rosebud' })
    const found = await search({ searchFile: file() })
    expect(await idsOf(found, ['text=rosebud'])).toEqual(['a'])
    await turn('a', { redact: [{ name: 'word', pattern: 'rosebud', path: null }] })
    await found.refresh()
    expect(await idsOf(found, ['text=rosebud'])).toEqual([])
    await found.close()
    searches.splice(0)
    expect(filesWith('rosebud')).toEqual([])
  })

  it('has no words of a conversation with hidden values where the log cannot list it', async () => {
    await turn('a', { question: 'one' })
    await turn('a', { question: 'two', redact: [{ name: 'x', pattern: 'secret', path: null }] })
    const found = await search({ hasIndex: false })
    expect(await idsOf(found, ['text=one'])).toEqual([])
    expect(await idsOf(found, ['agent=helper'])).toEqual(['a'])
  })

  it('loses the words of a deleted entry', async () => {
    const id = await turn('a', { question: 'alpha', reply: 'omega' })
    const found = await search({ searchFile: file() })
    const partition = partitionOf('a', partitions)
    const place = { topic: 'weir.history', partition, value: null }
    for (const round of [0, 1])
      await bus.append([{ ...place, key: historyKey({ conversation: 'a', turn: id, round }) }])
    await found.refresh()
    expect(await idsOf(found, ['text=alpha'])).toEqual([])
    expect(await idsOf(found, ['text=omega'])).toEqual([])
    expect((await found.page(filterOf(), { limit: 1 })).conversations[0]?.question).toBeNull()
    await found.close()
    searches.splice(0)
    expect(filesWith('omega')).toEqual([])
  })

  it('loses the words of a deleted entry later if another process still reads the old pages', async () => {
    await turn('a', { question: 'omega' })
    const found = await search({ searchFile: file() })
    const reader = new DatabaseSync(file())
    reader.exec('BEGIN; SELECT * FROM about')
    await forget('a')
    await found.refresh()
    expect(filesWith('omega')).not.toEqual([])
    reader.close()
    await found.refresh()
    expect(filesWith('omega')).toEqual([])
  })

  const filesWith = (word: string) =>
    readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(word))
})
