// `weir traces` next to a fleet on a real broker: seven stages in three processes, of which one is killed
// while its turns run, and another joins. The backend takes OTLP/JSON.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openBus } from '../../client/place/open-bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { until } from '../support/inbox.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { call, resultsOf, says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp, type WeirUp } from '../support/weir-up.ts'

type Sent = { traceId: string; spanId: string; parentSpanId?: string; name: string }
type Body = { resourceSpans: { scopeSpans: { spans: Sent[] }[] }[] }

const turns = 6

/** All turns still run at the kill: the model answers no later request before it. */
const requestsBeforeKill = 2
const wasKilled = Promise.withResolvers<void>()
const stages = 'intake,conversation,llm-gateway,accumulator,validator,loop-detector,executor'

/** By the ids of trace and span: a backend replaces a span that it knows. */
const spans = new Map<string, Sent>()
const backend = createServer(async (request, response) => {
  const { resourceSpans } = (await json(request)) as Body
  for (const { scopeSpans } of resourceSpans)
    for (const scope of scopeSpans)
      for (const span of scope.spans) spans.set(`${span.traceId} ${span.spanId}`, span)
  response.end('{}')
})

let commands: CommandFolder
let environment: Record<string, string>
beforeAll(async () => {
  const { bootstrapServers } = await sharedBroker()
  const topicPrefix = `traces-${randomUUID().slice(0, 8)}.`
  commands = await openCommandFolder(async (request, number) => {
    if (number > requestsBeforeKill) await wasKilled.promise
    return resultsOf(request).length < 2
      ? says(call('act', { answer: 'done' }))
      : says(text('All is well.'))
  })
  environment = {
    WEIR_BUS: 'kafka',
    WEIR_BOOTSTRAP_SERVER: bootstrapServers,
    WEIR_TOPIC_PREFIX: topicPrefix,
    WEIR_TRACE_HEADERS: 'on',
  }
  const settings = { bus: 'kafka', bootstrapServer: bootstrapServers, dataFolder: commands.folder }
  const bus = await openBus(readSettings(settings, {}), pino({ level: 'silent' }))
  await bus.ensureTopics(topicSpecs(topicPrefix, 3))
  await bus.close()
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
}, brokerStartMs)
afterAll(async () => {
  backend.closeAllConnections()
  backend.close()
  await commands.close()
})

function up(): WeirUp {
  const dataFolder = `data-${randomUUID()}`
  return startUp(commands, {
    args: ['--stages', stages, '--agents', 'agent.yaml'],
    environment: { ...environment, WEIR_DATA_FOLDER: dataFolder },
  })
}

/** The stage of each partition that the processes own. */
async function owns(one: WeirUp): Promise<boolean> {
  const { text } = await one.probe('/metrics')
  return /weir_partitions_assigned\{stage="executor"\} [1-9]/.test(text)
}

describe('the traces of a fleet', () => {
  it('are one tree for each turn, without an orphan, after a kill and a rebalance', async () => {
    const fleet = [up(), up(), up()]
    const [killed, ...others] = fleet as [WeirUp, WeirUp, WeirUp]
    await Promise.all(fleet.map((one) => one.untilReady()))
    await until(async () => (await Promise.all(fleet.map(owns))).every(Boolean))
    const { port } = backend.address() as AddressInfo
    const sending = commands.start(
      ['traces', '--endpoint', `http://127.0.0.1:${port}`, '--agents', 'agent.yaml'],
      { environment },
    )

    const asked = Array.from({ length: turns }, (_, n) =>
      commands.run(['ask', '--agent', 'agent.yaml', '--conversation', `c${n}`, 'go'], {
        environment,
      }),
    )
    await until(async () => commands.server.requests.length > requestsBeforeKill)
    killed.signal('SIGKILL')
    wasKilled.resolve()
    const joined = up()
    for (const { code, out, errors } of await Promise.all(asked))
      expect({ code, out, errors }).toMatchObject({ code: 0, out: 'All is well.\n' })
    expect((await killed.ended).signal).toBe('SIGKILL')

    const roots = () => [...spans.values()].filter((span) => span.parentSpanId === undefined)
    await until(async () => roots().length === turns)
    sending.child.kill('SIGTERM')
    expect((await sending.ended).code).toBe(0)

    expect(roots().map(({ name }) => name)).toEqual(asked.map(() => 'invoke_agent agent'))
    expect(new Set(roots().map(({ traceId }) => traceId)).size).toBe(turns)
    for (const { traceId, spanId } of roots()) {
      const children = [...spans.values()].filter(
        (span) => span.traceId === traceId && span.spanId !== spanId,
      )
      expect(new Set(children.map((span) => span.parentSpanId))).toEqual(new Set([spanId]))
      // A killed attempt or try is one more span, or the same call again.
      const named = (name: string) => children.filter((span) => span.name === name).length
      expect(named('chat scripted')).toBeGreaterThanOrEqual(3)
      expect(named('execute_tool act')).toBe(2)
    }
    const inTrees = new Set(roots().map(({ traceId }) => traceId))
    expect([...spans.values()].filter(({ traceId }) => !inTrees.has(traceId))).toEqual([])

    await joined.untilReady()
    for (const one of [...others, joined]) one.signal('SIGTERM')
    expect(
      (await Promise.all([...others, joined].map((one) => one.ended))).map(({ code }) => code),
    ).toEqual([0, 0, 0])
  })
})
