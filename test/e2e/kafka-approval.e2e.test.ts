// Approval over a real broker. The stage approval has its own process, which is killed while a call
// waits. The other stages run in another process, and a person asks and decides from others.

import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openBus } from '../../client/place/open-bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { stageNames } from '../../shared/contract/topology.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp } from '../support/weir-up.ts'

let bootstrapServer: string
let commands: CommandFolder
const topicPrefix = `approval-${randomUUID().slice(0, 8)}.`

beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
}, brokerStartMs)

afterEach(() => commands.close())

const environment = () => ({
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: bootstrapServer,
  WEIR_TOPIC_PREFIX: topicPrefix,
})
const run = (...args: string[]) => commands.run(args, { environment: environment() })
const up = (stages: string) =>
  startUp(commands, {
    args: ['--stages', stages, '--agents', 'agent.yaml'],
    environment: { WEIR_DATA_FOLDER: `data-${randomUUID()}`, ...environment() },
  })
const starts = async () =>
  (await readFile(join(commands.folder, 'starts'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '').length

/** The id of the waiting call, once there is one. */
async function waitingId(): Promise<string> {
  let listed = ''
  await until(async () => {
    listed = (await run('approvals', '--json')).out
    return listed !== ''
  })
  return (JSON.parse(listed) as { id: string }).id
}

describe('approval over Kafka', () => {
  it('accepts a decision from another process after the stage was killed, and the first decision counts', async () => {
    const acts = () => [says(call('act', { env: 'prod' })), says(text('Done.'))]
    commands = await openCommandFolder(script(...acts(), ...acts()))
    await writeFile(
      join(commands.folder, 'rules.json'),
      JSON.stringify({ rules: [{ name: 'production', tools: ['act'] }] }),
    )
    const bus = await openBus(
      readSettings({ bus: 'kafka', bootstrapServer, dataFolder: commands.folder }, {}),
      pino({ level: 'silent' }),
    )
    await bus.ensureTopics(topicSpecs(topicPrefix, 2))
    await bus.close()
    expect(await run('approvals', 'rules', 'rules.json')).toMatchObject({ code: 0 })
    const others = up(stageNames.filter((name) => name !== 'approval').join(','))
    const first = up('approval')
    await Promise.all([others.untilReady(), first.untilReady()])

    const approved = commands.start(['ask', '--agent', 'agent.yaml', 'go'], {
      environment: environment(),
    })
    await approved.shows("act needs a person's approval (production)")
    const id = await waitingId()
    first.signal('SIGKILL')
    await first.ended
    expect(await run('allow', id, '--by', 'ann')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Allowed'),
    })
    expect(await run('deny', id)).toMatchObject({
      code: 4,
      out: expect.stringContaining('was allowed by ann'),
    })
    expect(await starts()).toBe(0)
    const second = up('approval')
    await approved.shows('act was allowed by ann')
    expect(await approved.ended).toMatchObject({ code: 0, out: 'Done.\n' })
    expect(await starts()).toBe(1)

    const rejected = commands.start(['ask', '--agent', 'agent.yaml', 'again'], {
      environment: environment(),
    })
    await rejected.shows("act needs a person's approval")
    expect(await run('deny', await waitingId(), '--reason', 'not on a Friday')).toMatchObject({
      code: 0,
    })
    expect(await rejected.ended).toMatchObject({ code: 0, out: 'Done.\n' })
    expect(resultsOf(commands.server.requests.at(-1)).join()).toContain('not on a Friday')
    expect(await starts()).toBe(1)
    const evidence = (await run('audit', '--kind', 'approval', '--json')).out.trim().split('\n')
    expect(evidence.map((line) => JSON.parse(line))).toMatchObject([
      { action: 'allow', by: 'ann', id, followed: { status: 'ok' } },
      { action: 'deny', reason: 'not on a Friday', followed: { status: 'denied' } },
    ])
    expect(await run('audit', '--verify')).toMatchObject({
      code: 3,
      out: expect.stringContaining('no fault, unproven'),
    })
    for (const one of [others, second]) one.signal('SIGTERM')
    await Promise.all([others.ended, second.ended])
  }, 150_000)
})
