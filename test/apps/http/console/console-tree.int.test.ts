// A tree of agents in the console: its data, its open turns and its stop.

import { describe, expect, it } from '@jest/globals'
import { inspect } from '../../../../apps/history/inspect/inspect.ts'
import type { ConsoleState, TreeData } from '../../../../apps/http/console/page/console-state.ts'
import { call, says, scriptedModel } from '../../../../client/testing/testing.ts'
import { defineAgent, defineTool } from '../../../../client/weir.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { until } from '../../../support/inbox.ts'
import { printed } from '../../../support/output.ts'
import { consoleServer } from './console-server.ts'

const act = defineTool({
  name: 'act',
  description: 'Acts.',
  parameters: { type: 'object' },
  run: () => 'done',
})
const approvals = { rules: [{ name: 'all', tools: ['act'] }], waitMs: 3_600_000 }

const digger = () => {
  const model = scriptedModel(says(call('act', {})), says('Dug.'))
  return defineAgent({ name: 'digger', model, system: 'Dig.', tools: [act] })
}
const server = () =>
  consoleServer([says(call('ask_digger', { task: 'Dig.' })), says('Done.')], {
    tools: [defineTool({ agent: digger(), name: 'ask_digger', description: 'Digs.' })],
    approvals,
  })

describe('the console of a tree', () => {
  it('shows the open turns of a tree with their root, and its lines with sums by the id of a child', async () => {
    await using console = await server()
    const api = `${console.url}/console/api`
    const turn = console.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await until(async () => (await console.weir.approvals()).length > 0)
    const shown = async () => {
      const state = (await (await fetch(`${api}/state`)).json()) as ConsoleState
      return state.turns.shown
    }
    await until(async () => (await shown()).length === 2)
    expect((await shown()).map(({ tree }) => tree)).toEqual(['c', 'c'])
    const [waiting] = await console.weir.approvals()
    const query = new URLSearchParams({ id: waiting?.conversation ?? '' })
    const treeNow = async () => (await (await fetch(`${api}/tree?${query}`)).json()) as TreeData
    await until(async () => (await treeNow()).sum?.pending === 1)
    expect((await treeNow()).lines.map(({ pending }) => pending)).toEqual([0, 1])
    await console.weir.allow(waiting?.id ?? '', { by: 'ann' })
    const { totals } = await turn.finished
    const tree = await treeNow()
    expect(tree).toMatchObject({ root: 'c', behind: 0, turnsLeftOut: 0, sum: { pending: 0 } })
    const { lines, sum } = tree
    expect(lines.map(({ agent, depth, rounds }) => ({ agent, depth, rounds }))).toEqual([
      { agent: 'helper', depth: 0, rounds: 2 },
      { agent: 'digger', depth: 1, rounds: 2 },
    ])
    // The turn of the root counts its agents, a line does not. So the sum of the lines is that of the turn.
    expect(sum.tokens).toBe(totals.inputTokens + totals.outputTokens)
    const settings = readSettings({ dataFolder: console.folder }, {})
    const page = await printed((out) => inspect('c', settings, {}, out))
    const [, input, output] = /(\d+) \+ (\d+) tokens, \d+ \+ \d+ of agents below/.exec(page) ?? []
    expect(Number(input) + Number(output)).toBe(lines[0]?.tokens)
  })

  it('shows the calls of a storm that the caps of the tree held back', async () => {
    const storm = Array.from({ length: 5 }, (_, n) => call('ask_digger', { task: `Dig ${n}.` }))
    await using console = await consoleServer([says(...storm), says('Done.')], {
      tools: [defineTool({ agent: digger(), name: 'ask_digger', description: 'Digs.' })],
      approvals,
      tree: { atOnce: 1 },
    })
    const turn = console.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    const denied = async () => {
      const response = await fetch(`${console.url}/console/api/tree?id=c`)
      const tree = (await response.json()) as Partial<TreeData>
      return tree.lines?.map((line) => line.denied) ?? []
    }
    await until(async () => (await denied()).length === 2 && (await denied())[0] === 4)
    expect(await denied()).toEqual([4, 0])
    await turn.cancel()
  })

  it('stops a tree by the id of a child, with all of its conversations', async () => {
    await using console = await server()
    const turn = console.weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await until(async () => (await console.weir.approvals()).length > 0)
    const [waiting] = await console.weir.approvals()
    const child = waiting?.conversation ?? ''
    expect(child).toMatch(/^call\//)
    const body = { scope: 'tree', name: child, mode: 'now', reason: 'a storm' }
    const headers = { 'content-type': 'application/json', origin: console.url }
    const options = { method: 'POST', headers, body: JSON.stringify(body) }
    expect((await fetch(`${console.url}/console/api/stop`, options)).status).toBe(200)
    expect(await turn.finished).toMatchObject({ outcome: 'failed', class: 'stopped' })
    const stops = await (await fetch(`${console.url}/console/api/stops`)).json()
    expect(stops).toMatchObject({ stops: [{ id: 'conversation:c', reason: 'a storm' }] })
  })

  it('refuses the tree of a conversation that no turn has', async () => {
    await using console = await server()
    const response = await fetch(`${console.url}/console/api/tree?id=nobody`)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('no turn has the tree')
  })
})
