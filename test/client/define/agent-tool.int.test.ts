// Agents as tools of agents, on a real file, with a scripted model over real HTTP.

import { spawn, spawnSync } from 'node:child_process'
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
import { inspect } from '../../../apps/history/inspect/inspect.ts'
import type { ModelCall } from '../../../client/testing/anthropic-stream.ts'
import {
  anthropic,
  type DefinedAgent,
  type DefinedTool,
  defineAgent,
  defineTool,
  type ToolCall,
  Weir,
  type WeirOptions,
} from '../../../client/weir.ts'
import spendGuard from '../../../services/guards/spend/guard.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { compiled } from '../../support/compiled.ts'
import { until } from '../../support/inbox.ts'
import { printed } from '../../support/output.ts'
import { weirCommand } from '../../support/programs.ts'
import { call, resultsOf, says, systemOf, text } from '../../support/script.ts'

let folder: string
let server: AnthropicServer
let answer: (request: ModelCall) => Reply

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-as-tool-'))
  server = await startAnthropicServer((request) => answer(request))
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const open = (agents: readonly DefinedAgent<never>[], options: Partial<WeirOptions> = {}) =>
  Weir.open({
    agents,
    dataFolder: join(folder, 'data'),
    log: pino({ level: 'silent' }),
    ...options,
  })

function agentNamed<const Tools extends readonly DefinedTool<never>[]>(name: string, tools: Tools) {
  const model = anthropic('scripted', { baseUrl: server.url })
  return defineAgent({ name, system: name, model, tools, graceMs: 500 })
}

const isOf = (name: string, request: ModelCall | undefined) => systemOf(request).startsWith(name)
const requestsOf = (name: string) => server.requests.filter((request) => isOf(name, request))

/** The boss asks the digger once, and the digger calls its tool once. */
function script(request: ModelCall): Reply {
  const hasResult = resultsOf(request).length > 0
  if (isOf('digger', request)) return hasResult ? says(text('Dug.')) : says(call('dig', {}))
  return hasResult ? says(text('Well done.')) : says(call('ask_digger', { task: 'Dig here.' }))
}

describe('an agent as a tool', () => {
  it('runs a turn of its agent with the task and the context, and returns the reply', async () => {
    answer = script
    const seen: unknown[] = []
    const dig = defineTool({
      name: 'dig',
      description: 'digs',
      parameters: z.object({}),
      run: (_, { context }: ToolCall<{ user: string } | undefined>) => void seen.push(context),
    })
    const digger = agentNamed('digger', [dig])
    const boss = agentNamed('boss', [
      defineTool({ agent: digger, name: 'ask_digger', description: 'digs' }),
    ])
    await using weir = await open([boss])
    expect([...weir.agents.keys()]).toEqual(['boss', 'digger'])
    const turn = weir.ask({ agent: boss, text: 'Go', conversation: 'c', context: { user: 'u' } })
    expect(await turn.finished).toMatchObject({ outcome: 'answered', reply: 'Well done.' })
    expect(seen).toEqual([{ user: 'u' }])
    expect(JSON.stringify(requestsOf('digger')[0]?.messages)).toContain('Dig here.')
    expect(resultsOf(requestsOf('boss')[1] as ModelCall)).toEqual(['Dug.'])
  })

  it('adds its tokens to the sum of its caller, and the cap of the caller holds over them', async () => {
    answer = script
    const dig = defineTool({
      name: 'dig',
      description: 'digs',
      parameters: { type: 'object' },
      run: () => '',
    })
    const tool = defineTool({
      agent: agentNamed('digger', [dig]),
      name: 'ask_digger',
      description: 'digs',
    })
    const boss = agentNamed('boss', [tool])
    const model = anthropic('scripted', { baseUrl: server.url })
    const capped = defineAgent({
      name: 'capped',
      system: 'boss',
      model,
      tools: [tool],
      caps: { tokens: 10 },
    })
    await using weir = await open([boss, capped])
    const alone = (await weir.ask({ agent: 'digger', text: 'Dig here.' }).finished).totals
    const turn = weir.ask({ agent: boss, text: 'Go' })
    let own = 0
    for await (const event of turn)
      if (event.type === 'model-answered') own += event.usage.outputTokens
    const { totals } = await turn.finished
    expect(totals).toMatchObject({ rounds: 2, calls: 1 })
    expect(Math.min(own, alone.outputTokens)).toBeGreaterThan(0)
    expect(totals.outputTokens).toBe(own + alone.outputTokens)
    const over = await weir.ask({ agent: capped, text: 'Go' }).finished
    expect(over).toMatchObject({ outcome: 'capped', cap: 'tokens' })
  })

  it('spends from the sum of its caller, in any partition', async () => {
    const paid: string[] = []
    const pay = defineTool({
      name: 'pay',
      description: 'pays',
      parameters: { type: 'object' },
      run: (args) => void paid.push(JSON.stringify(args)),
    })
    const agent = agentNamed('digger', [pay])
    const boss = agentNamed('boss', [
      pay,
      defineTool({ agent, name: 'ask_digger', description: 'digs' }),
    ])
    answer = (request) => {
      const results = resultsOf(request).length
      if (isOf('digger', request))
        return results > 0 ? says(text('Dug.')) : says(call('pay', { cents: 50 }))
      if (results === 0) return says(call('pay', { cents: 60 }))
      if (results === 1) return says(call('ask_digger', { task: 'Dig here.' }))
      return results === 2 ? says(call('pay', { cents: 40 })) : says(text('Well done.'))
    }
    const spend = spendGuard({
      tools: ['pay'],
      argument: 'cents',
      limits: { conversation: '1.00' },
    })
    await using weir = await open([boss], { guards: { guards: [spend], mode: 'enforce' } })
    for (const conversation of ['c', 'd', 'e'])
      expect(await weir.ask({ agent: boss, text: 'Go', conversation }).finished).toMatchObject({
        outcome: 'answered',
      })
    expect(paid).toEqual(['c', 'd', 'e'].flatMap(() => ['{"cents":60}', '{"cents":40}']))
  })

  it('has its own caps, and gives its caller the reason of its end', async () => {
    answer = (request) =>
      isOf('digger', request) ? says(call('dig', { n: server.requests.length })) : script(request)
    const dig = defineTool({
      name: 'dig',
      description: 'digs',
      parameters: { type: 'object' },
      run: () => 'deeper',
    })
    const agent = agentNamed('digger', [dig])
    const boss = agentNamed('boss', [
      defineTool({ agent, name: 'ask_digger', description: 'digs', caps: { rounds: 2 } }),
    ])
    await using weir = await open([boss])
    expect(await weir.ask({ agent: boss, text: 'Go' }).finished).toMatchObject({
      reply: 'Well done.',
    })
    expect(requestsOf('digger')).toHaveLength(3)
    expect(resultsOf(requestsOf('boss')[1] as ModelCall)[0]).toContain('2 model rounds')
  })

  it('ends when the turn of its caller is cancelled', async () => {
    answer = script
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const dig = defineTool({
      name: 'dig',
      description: 'digs',
      parameters: { type: 'object' },
      run: (_, { signal }) => {
        started.resolve()
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            stopped.resolve()
            reject(signal.reason)
          }),
        )
      },
    })
    const tool = defineTool({
      agent: agentNamed('digger', [dig]),
      name: 'ask_digger',
      description: 'digs',
    })
    const boss = agentNamed('boss', [tool])
    await using weir = await open([boss])
    const turn = weir.ask({ agent: boss, text: 'Go' })
    await started.promise
    await turn.cancel()
    await stopped.promise
    expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'continues the same turn after its process ended by %s',
    async (signal) => {
      answer = script
      const program = fileURLToPath(
        new URL('../../support/tools/agent-program.ts', import.meta.url),
      )
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', program, folder, server.url],
        { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...compiled } },
      )
      const exited = once(child, 'exit')
      const dug = () => readFile(join(folder, 'dug'), 'utf8').catch(() => '')
      await until(async () => (await dug()) !== '')
      child.kill(signal)
      await exited
      const dig = defineTool({
        name: 'dig',
        description: 'digs',
        parameters: { type: 'object' },
        run: () => 'dug twice',
      })
      const tool = defineTool({
        agent: agentNamed('digger', [dig]),
        name: 'ask_digger',
        description: 'asks a digger',
      })
      const boss = agentNamed('boss', [tool])
      await using weir = await open([boss])
      const turn = weir.ask({ agent: boss, text: 'Go', conversation: 'c', messageId: 'm' })
      expect(await turn.finished).toMatchObject({ outcome: 'answered', reply: 'Well done.' })
      expect(resultsOf(requestsOf('boss').at(-1) as ModelCall)).toEqual(['Dug.'])
      expect(await dug()).toBe('dug\n')
      expect(requestsOf('digger')).toHaveLength(2)
    },
  )

  it('is a branch of the tree that inspect prints', async () => {
    answer = script
    const dig = defineTool({
      name: 'dig',
      description: 'digs',
      parameters: { type: 'object' },
      run: () => '',
    })
    const tool = defineTool({
      agent: agentNamed('digger', [dig]),
      name: 'ask_digger',
      description: 'digs',
    })
    const boss = agentNamed('boss', [tool])
    {
      await using weir = await open([boss])
      await weir.ask({ agent: boss, text: 'Go', conversation: 'c' }).finished
    }
    const inspect = ['inspect', 'c', '--data-folder', join(folder, 'data')]
    const inspected = (...flags: string[]) =>
      spawnSync(weirCommand, [...inspect, ...flags], { encoding: 'utf8' }).stdout
    const stdout = inspected()
    expect(stdout).toContain('Conversations of agents that its calls asked')
    expect(stdout).toContain('call/c/0/1/0 (turn at offset 0, round 1, call 0)')
    expect(JSON.parse(inspected('--json')).agents).toEqual([
      { conversation: 'call/c/0/1/0', turn: 0, round: 1, ordinal: 0, agents: [] },
    ])
  })

  it('is counted by the loop-detector like any call', async () => {
    answer = (request) =>
      isOf('digger', request)
        ? says(text('Dug.'))
        : request.tool_choice?.type === 'none'
          ? says(text('I stop.'))
          : says(call('ask_digger', { task: 'Dig here.' }))
    const tool = defineTool({
      agent: agentNamed('digger', []),
      name: 'ask_digger',
      description: 'digs',
    })
    const boss = agentNamed('boss', [tool])
    await using weir = await open([boss])
    const raised: string[] = []
    const turn = weir.ask({ agent: boss, text: 'Go' })
    for await (const event of turn)
      if (event.type === 'intervention-raised') raised.push(event.conversation)
    expect(raised).toContain(turn.conversation)
    expect((await turn.finished).totals.calls).toBeLessThan(25)
  })

  it('hides the values that the rules of its callers hide, over several callers', async () => {
    answer = (request) => {
      const hasResult = resultsOf(request).length > 0
      if (isOf('digger', request)) return says(text('I wrote to ann@acme.example.'))
      if (isOf('foreman', request))
        return hasResult
          ? says(text('Passed on to ann@acme.example.'))
          : says(call('ask_digger', { task: 'Write to ann@acme.example.' }))
      return hasResult
        ? says(text('Done.'))
        : says(call('ask_foreman', { task: 'Write to ann@acme.example.' }))
    }
    const tool = <const Name extends string>(name: Name, agent: DefinedAgent) =>
      defineTool({ agent, name, description: 'digs' })
    const digger = agentNamed('digger', [])
    const foreman = agentNamed('foreman', [tool('ask_digger', digger)])
    const boss = defineAgent({
      name: 'boss',
      system: 'boss',
      model: anthropic('scripted', { baseUrl: server.url }),
      tools: [tool('ask_foreman', foreman)],
      redact: ['email'],
    })
    await using weir = await open([boss, foreman, digger])
    await weir.ask({ agent: boss, text: 'Go', conversation: 'c' }).finished
    const settings = readSettings({ dataFolder: join(folder, 'data') }, {})
    const shown = (id: string) => printed((out) => inspect(id, settings, { json: true }, out))
    for (const conversation of ['call/c/0/1/0', 'call/call/c/0/1/0/1/1/0']) {
      expect(await shown(conversation)).toContain('[email]')
      expect(await shown(conversation)).not.toContain('ann@acme.example')
    }
    // An agent that nobody calls has its own rules only.
    await weir.ask({ agent: digger, text: 'Go', conversation: 'd' }).finished
    expect(await shown('d')).toContain('ann@acme.example')
  })

  it('has a conversation that no client may name', async () => {
    answer = script
    await using weir = await open([agentNamed('boss', [])])
    expect(() => weir.ask({ agent: 'boss', text: 'Go', conversation: 'call/c/0/1/0' })).toThrow(
      'is that of a call',
    )
  })
})
