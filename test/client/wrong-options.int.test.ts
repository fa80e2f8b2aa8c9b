// Mistakes that only a program in JavaScript can make: each gets an error with the accepted values.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { scriptedModel } from '../../client/testing/testing.ts'
import { anthropic, defineAgent, defineTool, Weir, type WeirOptions } from '../../client/weir.ts'

const model = anthropic('m', { baseUrl: 'http://127.0.0.1:1' })
const keyless = defineAgent({ name: 'b', system: 's', model: anthropic('m', { apiKey: '' }) })
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

const dataFolder = 'never-opened'
it.each<[string, object, string]>([
  ['a number as folder', { dataFolder: 5 }, 'dataFolder is 5; must be a text'],
  ['the console as log', { log: console }, 'log is an object without child; must be a pino logger'],
  ['true as log', { log: true }, 'log is true; must be a pino logger'],
  [
    'the name of a bus',
    { bus: 'kafka' },
    "bus needs an object of options, such as { kind: 'kafka'",
  ],
  ['an empty key', { agents: [keyless] }, 'is empty; must be a key. Leave it out'],
])('Weir.open refuses %s', async (_, options, message) => {
  await expect(Weir.open({ agents: [agent], dataFolder, ...options })).rejects.toThrow(message)
})

it('Weir.open refuses a data folder that is a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-options-'))
  const file = join(folder, 'log')
  writeFileSync(file, '')
  const opening = Weir.open({ agents: [agent], dataFolder: file })
  await expect(opening).rejects.toThrow(`the data folder ${file} is a file`)
  rmSync(folder, { recursive: true })
})

const guard = {
  name: 'no',
  version: '1',
  tools: ['pay'],
  deadlineMs: 500,
  onTimeout: 'deny',
  judge: () => ({ state: undefined, verdicts: [] }),
}

it.each([
  ['an empty object', [{}], 'guards.guards[0]: name is missing; must be a text'],
  ['nothing', [undefined], 'guards.guards[0] is missing; must be a guard'],
  ['a function', [() => guard], 'guards.guards[0] is a function; must be a guard'],
  ['no judge', [{ ...guard, judge: undefined }], 'judge is missing; must be a function'],
  ['a misspelt key', [{ ...guard, judg: 1 }], 'no key here; did you mean judge?'],
  ['a version that is no text', [{ ...guard, version: 1 }], 'version is 1; must be a text'],
  ['a number among its tools', [{ ...guard, tools: [5] }], 'tools[0] is 5; must be a pattern'],
  ['another onTimeout', [{ ...guard, onTimeout: 'x' }], 'onTimeout is "x"; must be'],
  ['a name out of range', [{ ...guard, name: 'A b' }], 'guards.guards[0]: its name is "A b"'],
  [
    'one name twice',
    [guard, guard],
    'guards.guards[1].name is "no", as is that of guards.guards[0]',
  ],
  [
    'mistakes in two guards',
    [
      { ...guard, tools: 'pay' },
      { ...guard, name: 'b', deadlineMs: '5' },
    ],
    'guards.guards[0]: tools is "pay"; must be a list of patterns\nguards.guards[1]: deadlineMs is "5"; must be a number',
  ],
])('Weir.open refuses guards with %s', async (_, guards, message) => {
  const options = { agents: [agent], guards: { guards } } as unknown as WeirOptions
  await expect(Weir.open(options)).rejects.toMatchObject({
    code: 'guard.invalid',
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
  [{ system: 5 }, 'system is 5; must be a text'],
  [{ signal: 5 }, 'signal is 5; must be an AbortSignal'],
  [{ tenant: 'default' }, 'the tenant is "default": give 1 to 64 of'],
  [{ output: 'x' }, 'output is "x"; must be a Standard Schema or a JSON Schema'],
])('ask refuses %j', async (field, message) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-options-'))
  {
    await using weir = await Weir.open({ agents: [agent], dataFolder })
    const ask = weir.ask as (question: unknown) => unknown
    expect(() => ask({ agent, text: 'Hello', ...field })).toThrow(message)
  }
  rmSync(dataFolder, { recursive: true })
})

it.each<['turns' | 'events' | 'export', unknown, string]>([
  ['turns', { limit: 'x' }, 'limit is "x"; must be a whole number from 1 on'],
  ['turns', { limt: 1 }, 'unknown option limt of turns; did you mean limit?'],
  ['export', { forc: true }, 'unknown option forc of export; did you mean force?'],
  ['events', { trun: 1 }, 'unknown option trun of events'],
  ['events', { turn: Number.NaN }, 'turn is NaN; must be the number of a turn'],
  ['events', { turn: -1 }, 'turn is -1; must be the number of a turn'],
  ['events', { after: 5 }, 'after is 5; must be a text'],
])('%s of a conversation refuses %j', async (name, options, message) => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-options-'))
  {
    await using weir = await Weir.open({ agents: [agent], dataFolder })
    const conversation = weir.conversation('c')
    const reads = {
      turns: async () => conversation.turns(options as object),
      export: async () => conversation.export(join(dataFolder, 'c.weir'), options as object),
      events: async () =>
        conversation
          .events(options as object)
          [Symbol.asyncIterator]()
          .next(),
    }
    await expect(reads[name]()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
    })
  }
  rmSync(dataFolder, { recursive: true })
})

it.each([
  ['cancel', [], 'message.invalid', 'cancel needs an object of options'],
  ['cancel', [{ conversation: 'c' }], 'message.invalid', 'the message id is no text'],
  ['conversation', [], 'message.invalid', "the conversation's id is no text"],
  ['allow', [], 'approval.unknown', 'no call waits'],
  [
    'allow',
    ['x', { tennant: 'a' }],
    'usage',
    'unknown option tennant of allow; did you mean tenant?',
  ],
  ['deny', ['x', { values: '{}' }], 'usage', 'unknown option values of deny; '],
  ['conversations', [{ wher: {} }], 'usage', 'unknown option wher of conversations; did you mean'],
  [
    'conversations',
    [{ where: { tenant: 'Ada Lovelace' } }],
    'usage',
    'where.tenant is "Ada Lovelace": ',
  ],
  ['conversations', [{ where: null }], 'usage', 'where needs an object'],
  ['conversations', [{ where: { since: 'soon' } }], 'usage', "where.since is 'soon': give a time"],
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
  [{ rounds: -1 }, 'caps.rounds of defineTool is -1; must be a whole number from 1 to 1000'],
  [{ round: 1 }, 'unknown option round of caps of defineTool; did you mean rounds?'],
])('a tool with an agent refuses the caps %j', (caps, message) => {
  const tool = { agent, name: 'b', description: 'd', caps: caps as object }
  expect(() => defineTool(tool)).toThrow(message)
})

it.each([['Hello'], [5], [undefined]])('scriptedModel refuses the reply %j', (reply) => {
  expect(() => scriptedModel(reply as never)).toThrow("; must be a reply such as says('Hello')")
})

it.each(['run', 'isolated', 'timeoutMs', 'idempotent'])(
  'a tool with an agent refuses the field %s, which follows from the agent',
  (field) => {
    const tool = { agent, name: 'b', description: 'd', [field]: true }
    expect(() => defineTool(tool)).toThrow(`defineTool has agent, so leave ${field} out`)
  },
)

it('a tool with an agent refuses an option that does not exist', async () => {
  const tool = defineTool({ agent, name: 'b', description: 'd', cap: 3 } as object as never)
  const boss = { ...agent, name: 'boss', tools: [tool] }
  await expect(Weir.open({ agents: [boss] })).rejects.toThrow('cap')
})
