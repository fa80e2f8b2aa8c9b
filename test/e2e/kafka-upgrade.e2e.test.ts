// A rolling upgrade and a rolling downgrade under load, with kills: the former version is the tree of the
// newest closed format, from the history of this checkout. The next version has one format more.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { FleetReport } from '../../apps/service/fleet/fleet.ts'
import { openBus } from '../../client/place/open-bus.ts'
import { Weir } from '../../client/weir.ts'
import { ownFormat, schemaIdIn, typeIn } from '../../shared/codec/codec.ts'
import { closedFormats } from '../../shared/codec/formats.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { formatInForce } from '../../shared/runtime/fleet/stored-formats.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { type FormerWeir, formerWeir, hasCommit, nextWeir } from '../support/former-weir.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, resultsOf, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp, type WeirUp } from '../support/weir-up.ts'

const commit = closedFormats.at(-1)?.commit ?? ''
const partitions = 2
const asking = 'intake,conversation,guest,llm-gateway,approval'
const judging = 'accumulator,validator,loop-detector,executor'

let topicPrefix: string
let commands: CommandFolder
let bus: Bus
let client: Weir | undefined
let environment: Record<string, string>

beforeEach(async () => {
  topicPrefix = `upgrade-${randomUUID().slice(0, 8)}.`
  const { bootstrapServers: bootstrapServer } = await sharedBroker()
  commands = await openCommandFolder(
    (request) =>
      resultsOf(request).length < 2
        ? says(call('act', { n: resultsOf(request).length, sleepMs: 1_000 }))
        : says(text('All is well.')),
    // A call of a killed executor waits so long. A call that ends by this limit lets its turn go on, too.
    { toolMs: 5_000 },
  )
  environment = {
    WEIR_BUS: 'kafka',
    WEIR_BOOTSTRAP_SERVER: bootstrapServer,
    WEIR_TOPIC_PREFIX: topicPrefix,
    WEIR_SESSION_TIMEOUT_MS: '6000',
  }
  const settings = readSettings(
    { bus: 'kafka', bootstrapServer, dataFolder: commands.folder, topicPrefix },
    {},
  )
  bus = await openBus(settings, pino({ level: 'silent' }))
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions))
}, brokerStartMs)

afterEach(async () => {
  await client?.close()
  client = undefined
  await bus?.close()
  await commands?.close()
})

const withHistory = hasCommit(commit) ? describe : describe.skip

withHistory(
  `a fleet of format ${closedFormats.length} (skipped where the history does not have ${commit.slice(0, 8)})`,
  () => {
    let former: FormerWeir

    beforeAll(() => {
      former = formerWeir(commit)
    })
    afterAll(() => former.remove())

    it('is upgraded and downgraded one process at a time under load with kills: no turn is lost, and no record is a dead letter', async () => {
      let old = { asking: up(asking, former), judging: up(judging, former) }
      await Promise.all([old.asking.untilReady(), old.judging.untilReady()])
      expect(await fleet('--format', '1')).toMatchObject({ format: 1, isPinned: true })
      await openClient()
      const load = startLoad()
      await load.answered(3)

      const mixed = up(judging)
      await mixed.untilReady()
      await kill(old.judging)
      await load.answered(3)
      expect(await ask(former)).toBe(0)
      const { processes, holdBack } = await fleet()
      const formats = processes.map(({ format }) => format)
      expect(new Set(formats)).toEqual(new Set([closedFormats.length, ownFormat]))
      expect(holdBack).toEqual(
        processes.filter(({ format }) => format < ownFormat).map(({ process }) => process),
      )

      const upgraded = { asking: up(asking), judging: mixed }
      await upgraded.asking.untilReady()
      await kill(old.asking)
      await load.answered(3)
      expect(await ask(former)).toBe(0)

      old = { asking: up(asking, former), judging: up(judging, former) }
      await old.judging.untilReady()
      await kill(upgraded.judging)
      await load.answered(3)
      await old.asking.untilReady()
      await kill(upgraded.asking)
      await load.answered(3)
      expect(await ask(former)).toBe(0)

      const ends = await load.end()
      expect(ends.filter((outcome) => outcome !== 'answered')).toEqual([])
      expect(await recordsIn('dead-letters')).toBe(0)
      const keys = starts()
      expect(new Set(keys).size).toBe(keys.length)
      for (const one of [old.asking, old.judging]) one.signal('SIGTERM')
      await Promise.all([old.asking.ended, old.judging.ended])
    })
  },
)

describe('a fleet of this version and the next one', () => {
  const next = nextWeir(['attempt-started', 'history-entry'])
  const started = next.schemas.get('attempt-started') as number
  const entry = next.schemas.get('history-entry') as number

  afterAll(() => next.remove())

  it('rises to the next format under load when the last older process has left, and falls when one joins: no turn is lost, and no record is a dead letter', async () => {
    const old = { asking: up(asking), judging: up(judging) }
    await Promise.all([old.asking.untilReady(), old.judging.untilReady()])
    await openClient()
    const load = startLoad()
    await load.answered(2)

    const newer = { asking: up(asking, next), judging: up(judging, next) }
    await Promise.all([newer.asking.untilReady(), newer.judging.untilReady()])
    await kill(old.judging)
    await load.answered(2)
    expect(await fleet()).toMatchObject({ format: ownFormat, common: ownFormat })
    expect(await schemasIn('model-requests', 'attempt-started')).not.toContain(started)

    await kill(old.asking)
    await untilInForce(ownFormat + 1)
    await until(async () => (await schemasIn('model-requests', 'attempt-started')).has(started))
    // An output without a newer part stays readable for an older process.
    expect(await schemasIn('history', 'history-entry')).not.toContain(entry)
    expect(await ask(next)).toBe(0)

    const joined = up(asking)
    await joined.untilReady()
    await untilInForce(ownFormat)
    await load.answered(4)
    const fallen = await bus.ends(`${topicPrefix}model-requests`)
    await load.answered(3)
    const since = await schemasIn('model-requests', 'attempt-started', fallen)
    expect([since.size > 0, since.has(started)]).toEqual([true, false])
    await kill(newer.asking)
    await load.answered(3)

    const ends = await load.end()
    expect(ends.filter((outcome) => outcome !== 'answered')).toEqual([])
    expect(await recordsIn('dead-letters')).toBe(0)
    const keys = starts()
    expect(new Set(keys).size).toBe(keys.length)
    for (const one of [joined, newer.judging]) one.signal('SIGTERM')
    await Promise.all([joined.ended, newer.judging.ended])
  }, 1_500_000)
})

/** Each has its own data folder, as on different machines. */
function up(stages: string, weir?: FormerWeir): WeirUp {
  return startUp(commands, {
    args: ['--stages', stages, '--agents', 'agent.yaml'],
    environment: { ...environment, WEIR_DATA_FOLDER: `data-${randomUUID()}` },
    program: weir?.program,
  })
}

async function kill(one: WeirUp): Promise<void> {
  one.signal('SIGKILL')
  await one.ended
}

async function fleet(...flags: string[]): Promise<FleetReport> {
  const { out, errors } = await commands.run(['fleet', '--json', ...flags], { environment })
  expect(errors).toBe('')
  return JSON.parse(out) as FleetReport
}

/** A format rises a minute after the last older session has ended. */
const formatMaxMs = 600_000

/** Asks without a process, so the wait costs little. */
function untilInForce(format: number): Promise<void> {
  const isInForce = async () => (await formatInForce({ bus, topicPrefix })).format === format
  return until(isInForce, `format ${format} is in force`, formatMaxMs)
}

/** The exit code of a question by a client of that version. */
async function ask({ program }: FormerWeir): Promise<number | null> {
  const args = ['ask', '--agent', 'agent.yaml', 'How is it?']
  const { code } = await commands.run(args, { environment, program })
  return code
}

async function openClient(): Promise<void> {
  client = await Weir.open({
    agents: join(commands.folder, 'agent.yaml'),
    log: pino({ level: 'silent' }),
    dataFolder: join(commands.folder, 'client'),
    topicPrefix,
    stages: 'elsewhere',
    bus: { kind: 'kafka', bootstrapServer: environment.WEIR_BOOTSTRAP_SERVER ?? '' },
  })
}

/** Four conversations, each with the next question after the answer. */
function startLoad() {
  const ends: string[] = []
  let isOver = false
  const asked = Promise.all(
    Array.from({ length: 4 }, async (_, n) => {
      while (!isOver) {
        const conversation = `load-${n}-${ends.length}`
        const turn = (client as Weir).ask({ agent: 'agent', text: 'go', conversation })
        ends.push((await turn.finished).outcome)
      }
    }),
  )
  asked.catch(() => {}) // a failed test closes the client below these turns, and reports its own error
  return {
    /** Resolves after so many more turns. */
    async answered(more: number): Promise<void> {
      const goal = ends.length + more
      await until(() => ends.length >= goal)
    },
    async end(): Promise<string[]> {
      isOver = true
      await asked
      return ends
    },
  }
}

async function recordsIn(topic: string): Promise<number> {
  const ends = await bus.ends(topicPrefix + topic)
  return ends.reduce((sum, { begin, end }) => sum + end - begin, 0)
}

/** The schemas of the records of this type. `from`: default: all records. */
async function schemasIn(
  name: string,
  type: string,
  from: { partition: number; end: number }[] = [],
): Promise<Set<number | undefined>> {
  const topic = topicPrefix + name
  const schemas = new Set<number | undefined>()
  for (const { partition, begin, end } of await bus.ends(topic)) {
    const after = from.find((one) => one.partition === partition)?.end ?? begin
    for (const { value } of await bus.read({ topic, partition, from: after, to: end, limit: end }))
      if (value !== null && typeIn(value) === type) schemas.add(schemaIdIn(value))
  }
  return schemas
}

/** The idempotency keys of all started tools. */
function starts(): string[] {
  const file = join(commands.folder, 'starts')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return lines.map((line) => (JSON.parse(line) as { key: string }).key)
}
