// Tools of MCP servers on a real broker. Gateway, executor, the other stages and the client are four
// processes, and only the executor reaches the server.

import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openBus } from '../../client/place/open-bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { hostOverHttp, serverCommand, textOf } from '../support/mcp/gateway.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp, type WeirUp } from '../support/weir-up.ts'

const otherStages = 'intake,conversation,guest,accumulator,validator,loop-detector'

let bootstrapServer: string
let commands: CommandFolder
let topicPrefix: string

beforeAll(async () => {
  bootstrapServer = (await sharedBroker()).bootstrapServers
}, brokerStartMs)

beforeEach(async () => {
  topicPrefix = `mcp-${randomUUID().slice(0, 8)}.`
  commands = await openCommandFolder(
    script(
      says(call('test__weather', { city: 'Rome' }), call('test__weather', {})),
      says(call('test__meta', {})),
      says(text('It is warm.')),
    ),
  )
  await writeAgent('toolsFile: test.tools.json, ')
})

afterEach(() => commands.close())

const onKafka = () => ({
  WEIR_BUS: 'kafka',
  WEIR_BOOTSTRAP_SERVER: bootstrapServer,
  WEIR_TOPIC_PREFIX: topicPrefix,
})

/** Only the process with the server has its variables. */
const withServer = () => ({ MCP_CHANGED: join(commands.folder, 'changed') })

async function writeAgent(fields: string): Promise<void> {
  const model = `{ provider: anthropic, name: scripted, baseUrl: '${commands.server.url}', maxOutputTokens: 1000 }`
  const server = `{ command: ${JSON.stringify(serverCommand)}, env: [MCP_CHANGED], ${fields}traceparent: true }`
  await writeFile(
    join(commands.folder, 'agent.yaml'),
    `system: Help.\nmodel: ${model}\nsandbox: off\nmcp:\n  test: ${server}\n`,
  )
}

async function ensureTopics(): Promise<void> {
  const bus = await openBus(
    readSettings({ bus: 'kafka', bootstrapServer, dataFolder: commands.folder }, {}),
    pino({ level: 'silent' }),
  )
  await bus.ensureTopics(topicSpecs(topicPrefix, 2))
  await bus.close()
}

async function fleet(): Promise<WeirUp[]> {
  await ensureTopics()
  const processes = [up('executor', withServer()), up('llm-gateway'), up(otherStages)]
  await Promise.all(processes.map((one) => one.untilReady()))
  return processes
}

function up(stages: string, more: Record<string, string> = {}): WeirUp {
  const environment = { WEIR_DATA_FOLDER: `data-${randomUUID()}`, ...onKafka(), ...more }
  return startUp(commands, { args: ['--stages', stages, '--agents', 'agent.yaml'], environment })
}

const ask = () =>
  commands.run(['ask', '--agent', 'agent.yaml', 'How is Rome?'], { environment: onKafka() })

const writeTools = () =>
  commands.run(['mcp', 'tools', '--agents', 'agent.yaml'], { environment: withServer() })

async function end(processes: WeirUp[]): Promise<void> {
  for (const one of processes) one.signal('SIGTERM')
  for (const { ended } of processes) expect((await ended).code).toBe(0)
}

describe('weir up with --mcp on Kafka', () => {
  it('guards the calls of a host, while another process judges them', async () => {
    const servers = {
      mcpServers: { test: { command: serverCommand[0], args: serverCommand.slice(1) } },
    }
    await writeFile(join(commands.folder, 'servers.json'), JSON.stringify(servers))
    await writeAgent('')
    await ensureTopics()
    const judging = up('guest,validator,loop-detector,executor', withServer())
    const environment = { WEIR_DATA_FOLDER: `data-${randomUUID()}`, ...onKafka() }
    const fronts = startUp(commands, {
      args: ['--stages', 'approval', '--front-port', '0', '--mcp', 'servers.json'],
      environment,
    })
    await Promise.all([judging.untilReady(), fronts.untilReady()])
    const { fronts: url } = await fronts.line('the fronts are started')
    const host = await hostOverHttp(`${url}/mcp/coder/one`, { era: 'modern' })
    expect(await textOf(host, 'test__weather', { city: 'Rome' })).toEqual({
      text: '18 °C in Rome',
      isError: false,
    })
    const answers: string[] = []
    for (let n = 0; n < 3; n += 1) answers.push((await textOf(host, 'test__weather')).text)
    expect(answers[0]).toContain("'city'")
    expect(answers[2]).toContain('LOOP DETECTED')
    await host.close()
    await end([judging, fronts])
  })
})

describe('an MCP server that only the process of the executor reaches', () => {
  it('gives its tools to all processes by a file, and its calls are judged and traced', async () => {
    expect(await writeTools()).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^test: \d+ tools in test\.tools\.json\n$/),
    })
    const processes = await fleet()
    expect(await ask()).toMatchObject({ code: 0, out: 'It is warm.\n' })
    expect(commands.server.requests[0]?.tools?.map(({ name }) => name)).toContain('test__weather')
    const [weather, refused] = resultsOf(commands.server.requests[1])
    expect(weather).toBe('18 °C in Rome')
    expect(refused).toContain("'city'")
    const meta = JSON.parse(resultsOf(commands.server.requests[2])[2] ?? '{}') as object
    expect(meta).toMatchObject({
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    })
    await end(processes)
  })

  it('does not run a tool that it changed after the file was written', async () => {
    await writeTools()
    const [executor, ...others] = await (async () => {
      await writeFile(join(commands.folder, 'changed'), '')
      return fleet()
    })()
    expect(await ask()).toMatchObject({ code: 0, out: 'It is warm.\n' })
    expect(JSON.stringify(commands.server.requests[0])).not.toContain('the files of the user')
    expect(resultsOf(commands.server.requests[1])[0]).toContain('no tool with this declaration')
    expect(resultsOf(commands.server.requests[2])[2]).toContain('traceparent')
    expect(await executor?.line('tools of an MCP server are left out')).toMatchObject({
      leftOut: expect.arrayContaining([
        { tool: 'test__weather', reason: expect.stringContaining('another one in toolsFile') },
      ]),
    })
    await end([executor as WeirUp, ...others])
  })

  it('is refused with the remedy by processes that have neither the server nor the file', async () => {
    expect(await writeTools()).toMatchObject({ code: 0 })
    await expect(readFile(join(commands.folder, 'test.tools.json'), 'utf8')).resolves.toContain(
      '"weather"',
    )
    await writeAgent('')
    const remedy = 'mcp.test needs toolsFile, because only the process of the executor reaches'
    expect(await up('llm-gateway').ended).toMatchObject({
      code: 2,
      errors: expect.stringContaining(remedy),
    })
    expect(await ask()).toMatchObject({ code: 2, errors: expect.stringContaining(remedy) })
    await writeAgent('toolsFile: missing.json, ')
    expect(await ask()).toMatchObject({
      code: expect.any(Number),
      errors: expect.stringContaining('missing.json, does not exist; write it with weir mcp tools'),
    })
  })
})
