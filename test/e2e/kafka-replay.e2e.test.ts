// The commands for past turns over a real Kafka broker: `weir replay`, its what-if, `weir report`,
// `weir export` and `weir dead-letters`, on topics that another process's `weir up` still writes.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { ShownLetter } from '../../apps/history/dead-letters/list.ts'
import { type ReplayOptions, replay } from '../../apps/replay/replay.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { encode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { readSettings, type Settings } from '../../shared/settings/settings.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { output } from '../support/output.ts'
import { call, says, text, textsOf } from '../support/script.ts'
import { type CommandFolder, openCommandFolder, type RunningWeir } from '../support/weir-command.ts'

const partitions = 2
const topicPrefix = `replay-${randomBytes(6).toString('hex')}.`

let commands: CommandFolder
let place: string[]
let up: RunningWeir
let bus: Bus
let settings: Settings
/** A time between the turns of `loop` and `work` and that of `late`. */
let middle: string

beforeAll(async () => {
  const brokers = (await sharedBroker()).bootstrapServers
  place = ['--bus', 'kafka', '--bootstrap-server', brokers, '--topic-prefix', topicPrefix]
  settings = readSettings({ bus: 'kafka', bootstrapServer: brokers, topicPrefix }, {})
  commands = await openCommandFolder((request) => {
    const [first] = textsOf(request)
    if (request.tools === undefined || request.tool_choice?.type === 'none')
      return says(text('I give up.'))
    if (first === 'loop') return says(call('exec', {}))
    return request.messages.length === 1
      ? says(call('act', { answer: '</script><b>done' }))
      : says(text('Done.'))
  })
  await weir('topics', 'create', ...place.slice(2), '--partitions', String(partitions))
  up = commands.start([
    'up',
    ...place,
    '--agents',
    'agent.yaml',
    '--partitions',
    String(partitions),
  ])
  await up.shows('the stages are started')
  await Promise.all(['loop', 'work'].map(ask))
  middle = new Date().toISOString()
  await ask('late')
  const client = { brokers: brokers.split(','), clientId: 'kafka-replay' }
  bus = await openKafkaBus({
    client,
    clock: systemClock,
    log: pino({ level: 'fatal' }),
    tablesFolder: join(commands.folder, 'tables'),
  })
}, brokerStartMs + 60_000)

afterAll(async () => {
  await bus?.close()
  up?.child.kill('SIGTERM')
  await up?.ended
  await commands?.close()
})

const ask = (conversation: string) =>
  weir('ask', '--agent', 'agent.yaml', ...place, '--conversation', conversation, conversation)

/** Returns its standard output; any exit code but 0 fails the test. */
async function weir(...args: string[]): Promise<string> {
  const { code, out, errors } = await commands.run(args)
  expect({ args, code, errors: code === 0 ? '' : errors }).toEqual({ args, code: 0, errors: '' })
  return out
}

const parsed = async (...args: string[]) => JSON.parse(await weir(...args, ...place, '--json'))

/** Runs in this process, because starting a process costs more than the command. */
async function replayed(options: ReplayOptions = {}, bundle?: string) {
  const { stream, text: printed } = output()
  const code = await replay(bundle, { ...options, json: true }, settings, stream)
  return { code, ...JSON.parse(printed()) }
}

describe('weir replay over Kafka', () => {
  it("repeats the decisions of another process's stages, also from a bundle of these topics", async () => {
    const live = await replayed()
    expect(live).toMatchObject({ code: 0, same: true, differences: 0, turns: 3, unjudged: 0 })
    await weir('export', ...place, '-o', 'kafka.weir')
    const bundled = await replayed({}, join(commands.folder, 'kafka.weir'))
    expect(bundled).toMatchObject({ code: 0, same: true, turns: 3, decisions: live.decisions })
  })

  it('replays only turns that began in the given time', async () => {
    expect(await replayed({ since: middle })).toMatchObject({ same: true, turns: 1 })
    expect(await replayed({ until: middle })).toMatchObject({ same: true, turns: 2 })
    await expect(replayed({ until: '1h ago' })).rejects.toMatchObject({ code: 'replay.nothing' })
  })

  it('reports the effect of a threshold and a guard on the conversations of a time', async () => {
    const { totals, changes } = await replayed({ set: ['loop.identicalFailures=2'] })
    expect(totals).toMatchObject({ conversations: 3, touched: 1, falseAlarms: [] })
    expect(changes).toMatchObject([
      { conversation: 'loop', round: 2, at: { topic: `${topicPrefix}rounds-checked` } },
    ])
    writeFileSync(
      join(commands.folder, 'no-act.mjs'),
      `const rejected = ({ ordinal }) => ({ ordinal, verdict: 'deny', code: 'no', text: 'Not this.' })
export default { name: 'no-act', version: '1', tools: ['act'], deadlineMs: 500, onTimeout: 'deny', judge: (state, { calls }) => ({ state, verdicts: calls.map(rejected) }) }
`,
    )
    const guarded = await replayed({ guard: join(commands.folder, 'no-act.mjs'), since: middle })
    expect(guarded.totals).toMatchObject({
      conversations: 1,
      touched: 1,
      falseAlarms: [{ conversation: 'late', tool: 'act' }],
    })
  })
})

describe('weir report over Kafka', () => {
  it("makes a page of the topics, with each record's position on the broker", async () => {
    await weir('report', ...place, '--conversation', 'work', '-o', 'work.html')
    const page = readFileSync(join(commands.folder, 'work.html'), 'utf8')
    expect(page.includes('The agent answered after 2 rounds')).toBe(true)
    expect(page.includes(`"topicPrefix":"${topicPrefix}"`)).toBe(true)
    expect(page.includes('</script><b>')).toBe(false)
    const { code, errors } = await commands.run([
      'report',
      ...place,
      '--conversation',
      'nobody',
      '-o',
      'nobody.html',
    ])
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringContaining('there is no conversation nobody'),
    })
    expect(existsSync(join(commands.folder, 'nobody.html'))).toBe(false)
  })
})

describe('weir dead-letters over Kafka', () => {
  it('lists unreadable records, refuses a useless retry, and a replay finds no difference', async () => {
    const topic = `${topicPrefix}conversation-events`
    const bad = { topic, partition: partitionOf('bad', partitions), key: 'bad' }
    // An unreadable record, and a good message under a foreign key.
    const misplaced = encode({ type: 'cancel-requested', conversation: 'somebody', messageId: 'm' })
    await bus.append([
      { ...bad, value: Buffer.from('no record') },
      { ...bad, value: misplaced },
    ])
    const letters = await listed(2)
    expect(
      letters.map(({ conversation, origin, stage }) => [conversation, origin.topic, stage]),
    ).toEqual([
      ['bad', topic, 'conversation'],
      ['bad', topic, 'conversation'],
    ])
    const shown: ShownLetter[] = []
    for (const { place: at } of letters) shown.push(await parsed('dead-letters', 'show', at))
    expect(shown.map(({ retry }) => retry)).toEqual([
      expect.stringContaining('it still cannot be decoded'),
      expect.stringContaining('has the key of another conversation'),
    ])
    const { code, out } = await commands.run(['dead-letters', 'retry', '--all', '--yes', ...place])
    expect({ code, refused: out.match(/: not written: /g)?.length }).toEqual({
      code: 1,
      refused: 2,
    })
    expect(await replayed()).toMatchObject({ same: true, differences: 0 })
  })
})

async function listed(count: number): Promise<ShownLetter[]> {
  for (;;) {
    const lines = (await weir('dead-letters', 'list', ...place, '--json')).split('\n').slice(0, -1)
    if (lines.length >= count) return lines.map((line) => JSON.parse(line) as ShownLetter)
  }
}
