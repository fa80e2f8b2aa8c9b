// An external guard over a real broker, in another process than the stages. The guard's server
// allows a call, denies a call, and requests a person's approval for a third, which another process
// gives.

import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
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

let commands: CommandFolder
let environment: Record<string, string>
let judged = 0
const policyServer = createServer(async (request, response) => {
  judged += 1
  const calls = (await json(request)) as { ordinal: number; arguments: { env: string } }[]
  const verdicts = { test: 'allow', prod: 'ask', old: 'deny' } as Record<string, string>
  response.end(JSON.stringify(calls.map(({ arguments: { env } }) => verdicts[env])))
})

beforeAll(async () => {
  const bootstrapServer = (await sharedBroker()).bootstrapServers
  const topicPrefix = `external-${randomUUID().slice(0, 8)}.`
  const acts = ['test', 'prod', 'old'].map((env) => call('act', { env, answer: `did ${env}` }))
  commands = await openCommandFolder(script(says(...acts), says(text('Done.'))))
  environment = {
    WEIR_BUS: 'kafka',
    WEIR_BOOTSTRAP_SERVER: bootstrapServer,
    WEIR_TOPIC_PREFIX: topicPrefix,
  }
  const settings = { bus: 'kafka', bootstrapServer, dataFolder: commands.folder }
  const bus = await openBus(readSettings(settings, {}), pino({ level: 'silent' }))
  await bus.ensureTopics(topicSpecs(topicPrefix, 2))
  await bus.close()
  await new Promise<void>((resolve) => policyServer.listen(0, '127.0.0.1', resolve))
}, brokerStartMs)
afterAll(async () => {
  policyServer.closeAllConnections()
  policyServer.close()
  await commands.close()
})

const run = (...args: string[]) => commands.run(args, { environment })

async function writeFiles(): Promise<void> {
  const { port } = policyServer.address() as AddressInfo
  await writeFile(
    join(commands.folder, 'server.mjs'),
    `export default {
      name: 'server', version: '1', tools: ['act'], deadlineMs: 30_000, onTimeout: 'deny',
      external: true,
      async judge(_state, { calls }, { signal }) {
        const body = JSON.stringify(calls)
        const response = await fetch('http://127.0.0.1:${port}', { method: 'POST', body, signal })
        const verdicts = await response.json()
        return { state: undefined, verdicts: calls.map(({ ordinal }, at) =>
          verdicts[at] === 'deny'
            ? { ordinal, verdict: 'deny', code: 'server.no', text: 'This environment is gone.' }
            : verdicts[at] === 'ask'
              ? { ordinal, verdict: 'ask', code: 'server.ask', text: 'This changes production.' }
              : { ordinal, verdict: 'allow' }) }
      },
    }`,
  )
  const rule = { name: 'by the server', tools: ['act'], when: 'requested' }
  await writeFile(join(commands.folder, 'rules.json'), JSON.stringify({ rules: [rule] }))
}

describe('an external guard over Kafka', () => {
  it('passes, denies, and requests approval of calls; a replay reads its recorded verdicts', async () => {
    await writeFiles()
    expect(await run('approvals', 'rules', 'rules.json')).toMatchObject({ code: 0 })
    const up = startUp(commands, {
      args: ['--stages', stageNames.join(), '--agents', 'agent.yaml'],
      environment: { ...environment, WEIR_DATA_FOLDER: 'data-up' },
    })
    const guard = startUp(commands, {
      command: ['guard', 'run', 'server.mjs', '--mode', 'enforce'],
      environment: { ...environment, WEIR_DATA_FOLDER: 'data-guard' },
    })
    await Promise.all([up.untilReady(), guard.untilReady()])

    const asking = commands.start(['ask', '--agent', 'agent.yaml', 'go'], { environment })
    await asking.shows("act needs a person's approval (guard server: This changes production.)")
    const listed = (await run('approvals', '--json')).out.trim().split('\n')
    expect(listed).toHaveLength(1)
    const { id } = JSON.parse(listed[0] ?? '') as { id: string }
    expect(await run('allow', id, '--by', 'ann')).toMatchObject({ code: 0 })
    expect(await asking.ended).toMatchObject({ code: 0, out: 'Done.\n' })

    expect(resultsOf(commands.server.requests[1])).toEqual([
      'did test',
      'did prod',
      expect.stringContaining('This environment is gone.'),
    ])
    const starts = await readFile(join(commands.folder, 'starts'), 'utf8')
    expect(starts.trim().split('\n')).toHaveLength(2)
    await until(async () => judged === 1)
    for (const one of [up, guard]) one.signal('SIGTERM')
    expect((await Promise.all([up.ended, guard.ended])).map(({ code }) => code)).toEqual([0, 0])

    const replayed = await run('replay', '--guard', 'server.mjs')
    expect(replayed).toMatchObject({ code: 0, errors: '' })
    expect(judged).toBe(1)
  }, 180_000)
})
