// Mistakes that only a program in JavaScript can make: each gets an error with the accepted values.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import {
  anthropic,
  asTool,
  defineAgent,
  defineTool,
  Weir,
  type WeirOptions,
} from '../../client/weir.ts'

const model = anthropic('m', { baseUrl: 'http://127.0.0.1:1' })
const agent = defineAgent({ name: 'a', system: 's', model, tools: [] })

it.each([
  ['no options', undefined, 'Weir.open needs an object of options, such as { agents: [yours] }'],
  ['no agents', { agents: [] }, 'agents is an empty list; must be a list with an agent of defin'],
  ['an agent outside of a list', { agents: agent }, 'agents is a mapping; must be a list'],
  ['a list of guards', { agents: [agent], guards: [] }, 'guards is a list of 0; must be an object'],
])('Weir.open refuses %s', async (_, options, message) => {
  await expect(Weir.open(options as unknown as WeirOptions)).rejects.toMatchObject({
    code: 'settings.invalid',
    message: expect.stringContaining(message),
  })
})

it('ask refuses a text that is none, and a question that is no object', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-options-'))
  {
    await using weir = await Weir.open({ agents: [agent], dataFolder })
    const ask = weir.ask as (question: unknown) => unknown
    expect(() => ask({ agent, text: 5 })).toThrow('text is 5; must be a text')
    expect(() => ask('Hello')).toThrow('ask needs an object of options, such as { agent:')
    expect(() => ask({ text: 'Hello' })).toThrow('unknown agent undefined: the agents are a')
  }
  rmSync(dataFolder, { recursive: true })
})

it.each([
  ['cancel', [], 'message.invalid', 'cancel needs an object of options'],
  ['cancel', [{ conversation: 'c' }], 'message.invalid', 'the message id is no text'],
  ['conversation', [], 'message.invalid', "the conversation's id is no text"],
  ['approve', [], 'approval.unknown', 'no call waits'],
  ['conversations', [{ where: null }], 'usage', 'where needs an object'],
  ['conversations', [{ where: { since: 'now' } }], 'usage', 'where.since is "now"; must be a time'],
])('%s refuses the arguments %j', async (name, args, code, message) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-options-'))
  {
    await using weir = await Weir.open({ agents: [agent], dataFolder })
    const call = Reflect.get(weir, name) as (...given: unknown[]) => unknown
    const made = (async () => call(...args))()
    await expect(made).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  }
  rmSync(dataFolder, { recursive: true })
})

it('defineAgent and defineTool refuse a call without options', () => {
  const [own, tool] = [defineAgent, defineTool] as unknown as (() => unknown)[]
  expect(own).toThrow('defineAgent needs an object of options')
  expect(tool).toThrow('defineTool needs an object of options')
})

it.each([
  [{ rounds: -1 }, 'caps.rounds of asTool is -1; must be a whole number from 1 to 1000'],
  [{ round: 1 }, 'unknown option round of caps of asTool; did you mean rounds?'],
])('asTool refuses the caps %j', (caps, message) => {
  const options = { name: 'b', description: 'd', caps: caps as object }
  expect(() => asTool(agent, options)).toThrow(message)
})

it('asTool refuses an option that does not exist', () => {
  const options = { name: 'b', description: 'd', cap: 3 }
  expect(() => asTool(agent, options)).toThrow('unknown option cap of asTool; did you mean caps?')
})
