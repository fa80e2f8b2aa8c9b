// Agents that a program defines, on a real file, with a scripted model over real HTTP.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { z } from 'zod'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../../apps/demo/anthropic-server.ts'
import {
  anthropic,
  type DefinedTool,
  defineAgent,
  defineTool,
  type ToolCall,
  Weir,
} from '../../../client/weir.ts'
import { compiled } from '../../support/compiled.ts'
import { until } from '../../support/inbox.ts'
import { call, resultsOf, says, systemOf, text } from '../../support/script.ts'
import { nested, whereami } from '../../support/tools/isolated-tools.ts'

let folder: string
let server: AnthropicServer
let answers: Reply[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-define-'))
  answers = []
  server = await startAnthropicServer(() => answers.shift() ?? says(text('Done.')))
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const log = pino({ level: 'silent' })
const open = (agents: Parameters<typeof Weir.open>[0]['agents']) =>
  Weir.open({ agents, dataFolder: join(folder, 'data'), log })

function agentWith<const Tools extends readonly DefinedTool<never>[]>(tools: Tools) {
  return defineAgent({
    name: 'helper',
    system: 'Help.',
    tools,
    graceMs: 50,
    model: anthropic('scripted', { baseUrl: server.url }),
  })
}

/** The results that the model got for its calls. */
function results(): unknown[] {
  const last = server.requests.at(-1)
  return last === undefined ? [] : resultsOf(last)
}

describe('a tool of this process', () => {
  it('gets typed arguments and the context, and the record of its result has neither', async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      name: 'weather',
      description: 'Current weather of a city',
      parameters: z.object({ city: z.string(), days: z.number().default(3) }),
      run({ city, days }, { context }: ToolCall<{ userId: string } | undefined>) {
        seen.push({ city, days, userId: context?.userId })
        return { city, sky: 'clear' }
      },
    })
    const agent = agentWith([tool])
    answers = [says(call('weather', { city: 'Paris' }))]
    {
      await using weir = await open([agent])
      const turn = weir.ask({ agent, text: 'Weather?', context: { userId: 'user-77' } })
      expect(await turn.finished).toMatchObject({ outcome: 'answered', reply: 'Done.' })
      await weir.ask({ agent: 'helper', text: 'Again' }).finished
    }
    expect(seen).toEqual([{ city: 'Paris', days: 3, userId: 'user-77' }])
    expect(JSON.stringify(server.requests)).toContain('clear')
    const bytes = await readFile(join(folder, 'data', 'weir.db'))
    expect(bytes.includes('Paris')).toBe(true)
    expect(bytes.includes('user-77')).toBe(false)
  })

  it('never starts with arguments that only a refinement refuses', async () => {
    const starts: unknown[] = []
    const tool = defineTool({
      name: 'pick',
      description: 'picks',
      parameters: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }),
      run: (args) => void starts.push(args),
    })
    answers = [says(call('pick', { n: 3 })), says(call('pick', { n: 4 }))]
    await using weir = await open([agentWith([tool])])
    const turn = weir.ask({ agent: 'helper', text: 'Pick' })
    const statuses: string[] = []
    for await (const event of turn) {
      if (event.type === 'call-finished') statuses.push(event.status)
      if (event.type === 'tool-started') statuses.push('started')
    }
    expect(statuses).toEqual(['denied', 'started', 'ok'])
    expect(starts).toEqual([{ n: 4 }])
    expect(JSON.stringify(server.requests[1])).toContain('n: must be even')
  })

  it('never starts without the context that it needs', async () => {
    const starts: unknown[] = []
    const tool = defineTool({
      name: 'pay',
      description: 'pays',
      parameters: { type: 'object' },
      needsContext: true as const,
      run: (_, { context }) => void starts.push(context),
    })
    answers = [says(call('pay', {})), says(text('No.')), says(call('pay', {}))]
    await using weir = await open([agentWith([tool])])
    await weir.ask({ agent: 'helper', text: 'Pay' }).finished
    expect(JSON.stringify(results())).toContain('needs the context')
    await weir.ask({ agent: 'helper', text: 'Pay', context: 'mine' }).finished
    expect(starts).toEqual(['mine'])
  })

  it('gets a recorded context after a restart, and no other', async () => {
    const starts: unknown[] = []
    const tool = (run: (context: unknown, signal: AbortSignal) => unknown) =>
      defineTool({
        name: 'who',
        description: 'who',
        parameters: { type: 'object' },
        run: (_, { context, signal }) => run(context, signal),
      })
    answers = [says(call('who', {})), says(call('who', {}))]
    const started = Promise.withResolvers<void>()
    let calls = 0
    const slow = tool((_, signal) => {
      calls += 1
      if (calls === 2) started.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', reject))
    })
    const first = await open([agentWith([slow])])
    const ids = (n: number) => ({ conversation: `c${n}`, messageId: 'm' })
    const question = { agent: 'helper', text: 'Who?', context: { userId: 'u1' } }
    first.ask({ ...question, ...ids(1), record: true }).finished.catch(() => {})
    first.ask({ ...question, ...ids(2) }).finished.catch(() => {})
    await started.promise
    await first.close()
    const bytes = await readFile(join(folder, 'data', 'weir.db'))
    expect(bytes.includes('{"userId":"u1"}')).toBe(true)
    answers = [says(call('who', {})), says(call('who', {}))]
    await using weir = await open([agentWith([tool((context) => void starts.push(context))])])
    const turns = [1, 2].map((n) => weir.ask({ agent: 'helper', text: 'Who?', ...ids(n) }))
    await Promise.all(turns.map(({ finished }) => finished))
    expect(starts).toHaveLength(2)
    expect(starts).toEqual(expect.arrayContaining([{ userId: 'u1' }, undefined]))
  })

  it('keeps the contexts of two turns of one conversation apart', async () => {
    const starts: unknown[] = []
    const tool = defineTool({
      name: 'who',
      description: 'who',
      parameters: { type: 'object' },
      run: (_, { context }) => void starts.push(context),
    })
    answers = [says(call('who', {})), says(text('1')), says(call('who', {}))]
    await using weir = await open([agentWith([tool])])
    const turns = ['first', 'second'].map((context) =>
      weir.ask({ agent: 'helper', text: context, context, conversation: 'c' }),
    )
    await Promise.all(turns.map(({ finished }) => finished))
    expect(starts).toEqual(['first', 'second'])
  })

  it('is reported with an unknown outcome after a crash, and does not run again', async () => {
    answers = [says(call('pay', {}))]
    const program = fileURLToPath(
      new URL('../../support/tools/crashing-program.ts', import.meta.url),
    )
    const child: ChildProcess = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, folder, server.url],
      { env: { ...process.env, ...compiled }, stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const exited = once(child, 'exit')
    const paid = () => readFile(join(folder, 'paid'), 'utf8').catch(() => '')
    await until(async () => (await paid()) !== '')
    child.kill('SIGKILL')
    await exited
    const tool = defineTool({
      name: 'pay',
      description: 'pays',
      parameters: { type: 'object' },
      run: () => 'paid twice',
    })
    await using weir = await open([agentWith([tool])])
    const turn = weir.ask({
      agent: 'helper',
      text: 'Pay',
      conversation: 'c',
      messageId: 'm',
    })
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
    expect(JSON.stringify(results())).toContain('may have run')
    expect(await paid()).toBe('paid\n')
  })
})

describe('an isolated tool', () => {
  it('runs in another process, with its arguments as the schema reads them and the context', async () => {
    answers = [says(call('whereami', { word: 'here' }))]
    const agent = agentWith([whereami])
    await using weir = await open([agent])
    await weir.ask({ agent, text: 'Where?', context: { userId: 'u1' } }).finished
    const found = JSON.stringify(results())
    expect(found).toContain('HERE')
    expect(found).toContain('u1')
    expect(found).not.toContain(`${process.pid}`)
  })

  it('cannot open Weir', async () => {
    answers = [says(call('nested', {}))]
    await using weir = await open([agentWith([nested])])
    await weir.ask({ agent: 'helper', text: 'Nest' }).finished
    expect(JSON.stringify(results())).toContain('cannot be opened in the process of a tool')
  })
})

describe('a question', () => {
  it('adds its instructions to those of the agent, in its turn only', async () => {
    await using weir = await open([agentWith([])])
    await weir.ask({ agent: 'helper', text: 'Hi', system: 'In French.' }).finished
    await weir.ask({ agent: 'helper', text: 'Hi' }).finished
    expect(server.requests.map(systemOf)).toEqual(['Help.\n\nIn French.', 'Help.'])
  })

  it('gets a typed output, and corrects a reply that does not fit', async () => {
    answers = [says(text('Ulm, 3 days.')), says(text('{"city":"Ulm","days":3}'))]
    const output = z.object({ city: z.string().transform((city) => city.length), days: z.number() })
    await using weir = await open([agentWith([])])
    const turn = weir.ask({ agent: 'helper', text: 'Where?', output })
    const { city, days }: { city: number; days: number } = await turn.output
    expect({ city, days }).toEqual({ city: 3, days: 3 })
    expect((await turn.finished).reply).toBe('{"city":"Ulm","days":3}')
    const [first, second] = server.requests.map(systemOf)
    expect(first).toContain('one JSON value that fits this JSON Schema')
    expect(second).toContain('it is not one JSON value')
  })

  it('has no output after three replies that do not fit', async () => {
    await using weir = await open([agentWith([])])
    const turn = weir.ask({ agent: 'helper', text: 'Where?', output: { type: 'object' } })
    await expect(turn.output).rejects.toMatchObject({ code: 'output.missing' })
    expect(server.requests).toHaveLength(3)
    const odd = z.object({}).refine(() => false, 'never right')
    answers = [says(text('{}'))]
    const refined = weir.ask({ agent: 'helper', text: 'Where?', output: odd })
    await expect(refined.output).rejects.toThrow('never right')
  })

  it('refuses an unusable schema and too many instructions at once', async () => {
    await using weir = await open([agentWith([])])
    const ask = (fields: object) => () => weir.ask({ agent: 'helper', text: 'Hi', ...fields })
    expect(ask({ output: { type: 'obj' } })).toThrow('output is an unusable schema')
    expect(ask({ output: 7 })).toThrow('output is no schema')
    expect(ask({ system: 'x'.repeat(65_537) })).toThrow('it must have at most 65536')
  })
})

describe('Weir', () => {
  it('refuses unknown options with the nearest name', async () => {
    const foreign = { dataFoldr: 'x' }
    await expect(Weir.open({ agents: [], ...foreign })).rejects.toThrow(
      'unknown option dataFoldr of Weir.open; did you mean dataFolder?',
    )
    await using weir = await open([agentWith([])])
    const misspelt = { agent: 'helper', text: 'hi', converstion: 'c' }
    expect(() => weir.ask(misspelt)).toThrow('did you mean conversation?')
  })

  it.each([
    ['a function', { user: { name: () => 'Ada' } }],
    ['a date', { at: new Date(0) }],
  ])('records no context with %s in it', async (_, context) => {
    await using weir = await open([agentWith([])])
    const question = { agent: 'helper', text: 'hi', context, record: true }
    expect(() => weir.ask(question)).toThrow('context cannot be recorded: it holds a value that')
  })
})
