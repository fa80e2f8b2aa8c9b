// Caps of a tree, on a real file, with a scripted model over real HTTP.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../../client/testing/anthropic-stream.ts'
import {
  anthropic,
  type DefinedAgent,
  type DefinedTool,
  defineAgent,
  defineTool,
  loadAgents,
  Weir,
} from '../../../client/weir.ts'
import { call, resultsOf, says, systemOf, text } from '../../support/script.ts'

let folder: string
let server: AnthropicServer
let answer: (request: ModelCall) => Reply

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-trees-'))
  server = await startAnthropicServer((request) => answer(request))
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const open = (agent: DefinedAgent<never>) =>
  Weir.open({
    agents: [agent],
    dataFolder: join(folder, 'data'),
    log: pino({ level: 'silent' }),
  })

type Tree = NonNullable<Parameters<typeof defineAgent>[0]['tree']>

function agentNamed<const Tools extends readonly DefinedTool<never>[]>(
  name: string,
  tools: Tools,
  tree: Tree = {},
) {
  const model = anthropic('scripted', { baseUrl: server.url })
  return defineAgent({ name, system: name, model, tools, tree })
}

const asking = (agent: DefinedAgent<never>) =>
  defineTool({ agent, name: `ask_${agent.name}`, description: 'asks' })

const isOf = (name: string, request: ModelCall | undefined) => systemOf(request).startsWith(name)
const resultsFor = (name: string) =>
  server.requests
    .filter((request) => isOf(name, request))
    .flatMap((request) => [resultsOf(request)])
const digging = (n: number) => call('ask_digger', { task: `Dig at ${n}.` })

describe('a tree', () => {
  it('holds a storm of 24 children at 3, and the refused calls never start', async () => {
    let [running, most, begun] = [0, 0, 0]
    const [allRefused, allBegun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const dig = defineTool({
      name: 'dig',
      description: 'digs',
      parameters: { type: 'object' },
      async run() {
        begun += 1
        running += 1
        most = Math.max(most, running)
        if (begun === 3) allBegun.resolve()
        await Promise.all([allRefused.promise, allBegun.promise])
        running -= 1
      },
    })
    answer = (request) => {
      const hasResult = resultsOf(request).length > 0
      if (isOf('digger', request)) return says(hasResult ? text('Dug.') : call('dig', {}))
      const storm = Array.from({ length: 24 }, (_, n) => digging(n))
      return hasResult ? says(text('Well done.')) : says(...storm)
    }
    await using weir = await open(
      agentNamed('boss', [asking(agentNamed('digger', [dig]))], { atOnce: 3 }),
    )
    const turn = weir.ask({ agent: 'boss', text: 'Go' })
    let refused = 0
    for await (const event of turn)
      if (event.type === 'call-finished' && event.status === 'denied') {
        refused += 1
        if (refused === 21) allRefused.resolve()
      }
    expect(await turn.finished).toMatchObject({ outcome: 'answered', reply: 'Well done.' })
    expect([most, begun, refused]).toEqual([3, 3, 21])
    const results = resultsFor('boss').at(-1) ?? []
    expect(results.filter((result) => result === 'Dug.')).toHaveLength(3)
    expect(new Set(results.filter((result) => result !== 'Dug.'))).toEqual(
      new Set([
        'Not run: at most 3 agents below the first one may run at once, and as many run now. Wait for the result of one of them, then make this call again if you still need it.',
      ]),
    )
  })

  it('gives places back, and counts the children in all over its whole depth', async () => {
    answer = (request) => {
      const results = resultsOf(request)
      if (isOf('digger', request)) return says(text('Dug.'))
      if (isOf('middle', request)) return says(results.length > 0 ? text('Middle.') : digging(0))
      if (results.length === 0) return says(call('ask_middle', { task: 'Ask.' }))
      return says(results.length < 3 ? digging(results.length) : text('Well done.'))
    }
    const digger = agentNamed('digger', [])
    const middle = agentNamed('middle', [asking(digger)], { children: 1 })
    const tree = { children: 3, atOnce: 2 }
    await using weir = await open(agentNamed('boss', [asking(middle), asking(digger)], tree))
    expect((await weir.ask({ agent: 'boss', text: 'Go' }).finished).reply).toBe('Well done.')
    expect(resultsFor('boss').at(-1)).toEqual([
      'Middle.',
      'Dug.',
      'Not run: the first agent and those below it may start 3 agents in all, and as many have started. Start no further one. Do this part yourself, or answer with the results that you have.',
    ])
    expect(resultsFor('middle').at(-1)).toEqual(['Dug.'])
  })

  it('begins anew with each turn of its root', async () => {
    answer = (request) => {
      if (isOf('digger', request)) return says(text('Dug.'))
      const isAsked = JSON.stringify(request.messages.at(-1)).includes('Go')
      return says(isAsked ? digging(0) : text('Well done.'))
    }
    await using weir = await open(
      agentNamed('boss', [asking(agentNamed('digger', []))], { children: 1 }),
    )
    for (let n = 1; n <= 2; n += 1) {
      await weir.ask({ agent: 'boss', text: 'Go', conversation: 'c' }).finished
      expect(resultsFor('boss').at(-1)?.at(-1)).toBe('Dug.')
    }
  })

  it('is not deeper than its cap', async () => {
    answer = (request) => {
      const results = resultsOf(request)
      if (isOf('digger', request)) return says(text('Dug.'))
      if (isOf('middle', request)) return says(results.length > 0 ? text('Middle.') : digging(0))
      return says(results.length > 0 ? text('Well done.') : call('ask_middle', { task: 'Ask.' }))
    }
    const middle = agentNamed('middle', [asking(agentNamed('digger', []))])
    await using weir = await open(agentNamed('boss', [asking(middle)], { depth: 1 }))
    expect((await weir.ask({ agent: 'boss', text: 'Go' }).finished).reply).toBe('Well done.')
    expect(resultsFor('middle').at(-1)).toEqual([
      'Not run: agents may stand at most 1 deep below the first one, and this one would be deeper. Do this part yourself, or answer with the results that you have.',
    ])
    expect(server.requests.some((request) => isOf('digger', request))).toBe(false)
  })

  it('makes no model request beyond its rounds, in any of its conversations', async () => {
    answer = (request) => {
      const hasResult = resultsOf(request).length > 0
      if (isOf('digger', request)) return says(text('Dug.'))
      return says(hasResult ? text('Well done.') : digging(0))
    }
    await using weir = await open(
      agentNamed('boss', [asking(agentNamed('digger', []))], { rounds: 2 }),
    )
    const over = await weir.ask({ agent: 'boss', text: 'Go' }).finished
    expect(over).toMatchObject({
      outcome: 'failed',
      reason: 'the cap tree.rounds of its agents is reached: 2 of 2 rounds',
    })
    expect(server.requests).toHaveLength(2)
  })
})

describe('the parent of a child', () => {
  const boss = (caps: object) =>
    agentNamed('boss', [
      defineTool({
        agent: agentNamed('digger', [
          defineTool({
            name: 'dig',
            description: 'digs',
            parameters: { type: 'object' },
            run: () => 'earth',
          }),
        ]),
        name: 'ask_digger',
        description: 'asks',
        caps,
      }),
    ])

  async function resultOf(caps: object, ofDigger: (request: ModelCall) => Reply): Promise<unknown> {
    answer = (request) => {
      if (isOf('digger', request)) return ofDigger(request)
      return resultsOf(request).length > 0 ? says(text('Well done.')) : says(digging(1))
    }
    await using weir = await open(boss(caps))
    await weir.ask({ agent: 'boss', text: 'Go' }).finished
    return resultsFor('boss').at(-1)?.at(-1)
  }

  it('reads that a child answered only after a limit, so its task may not be done', async () => {
    const result = await resultOf({ rounds: 2 }, (request) =>
      says(resultsOf(request).length > 0 ? text('I dug a little.') : call('dig', {})),
    )
    expect(result).toBe('I dug a little.')
    const cut = await resultOf({ rounds: 1 }, (request) =>
      says(resultsOf(request).length > 0 ? text('I dug a little.') : call('dig', {})),
    )
    expect(cut).toBe(
      "I dug a little.\n\n[The agent 'digger' reached its limit (rounds) before this answer. Its task may not be done: check before you rely on the answer.]",
    )
  })

  it('reads that a child failed, and that its task is not done', async () => {
    const refused: Reply = { kind: 'error', status: 400, message: 'no such model' }
    expect(await resultOf({}, () => refused)).toMatch(
      /the agent 'digger' failed before its task was done: .*\. Do not treat its task as done\. Its calls may have taken effect/,
    )
  })
})

describe('an agent file', () => {
  async function folderOfAgents(): Promise<string> {
    const agents = join(folder, 'agents')
    await mkdir(agents)
    const write = (name: string, more: object) => {
      const apiKey = `\${file:${join(agents, 'key')}}`
      const model = { provider: 'anthropic', name: 'scripted', baseUrl: server.url, apiKey }
      const content = { name, system: name, model, ...more }
      return writeFile(join(agents, `${name}.yaml`), JSON.stringify(content))
    }
    await writeFile(join(agents, 'key'), 'k')
    const ask = { name: 'ask_digger', description: 'asks', agent: 'digger' }
    await write('boss', { tools: [ask], tree: { children: 1 } })
    await write('digger', {})
    return agents
  }

  it.each([
    ['is opened by its path', (path: string) => path],
    ['is loaded first', (path: string) => loadAgents(path)],
  ])(
    'that %s runs the agent that a tool names, under the caps of the tree',
    async (_, agentsOf) => {
      answer = (request) => {
        if (isOf('digger', request)) return says(text('Dug.'))
        return says(
          ...(resultsOf(request).length === 0 ? [digging(0), digging(1)] : [text('Done.')]),
        )
      }
      await using weir = await Weir.open({
        agents: agentsOf(await folderOfAgents()),
        dataFolder: join(folder, 'data'),
        log: pino({ level: 'silent' }),
      })
      const { reply, totals } = await weir.ask({ agent: 'boss', text: 'Go' }).finished
      expect(reply).toBe('Done.')
      expect(resultsFor('boss').at(-1)?.toSorted()).toEqual([
        'Dug.',
        expect.stringMatching(/^Not run: the first agent and those below it may start 1 agent/),
      ])
      const { conversations } = await weir.conversations({ where: { agent: 'digger' } })
      expect(conversations.map(({ conversation }) => conversation)).toEqual([
        expect.stringMatching(/^call\//),
      ])
      expect(totals.inputTokens).toBeGreaterThan(0)
    },
  )
})
