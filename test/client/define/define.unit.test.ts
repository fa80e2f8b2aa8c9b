// Agents and tools that a program defines: their values, their types, and their mistakes. `make
// types` finds the mistakes in the types.

import { describe, expect, it } from '@jest/globals'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { agentsOfProgram } from '../../../client/agents/agents-in-files.ts'
import {
  anthropic,
  type DefinedAgent,
  defineAgent,
  defineTool,
  gemini,
  openai,
  openaiChat,
  type ToolCall,
  type Turn,
  type Weir,
} from '../../../client/weir.ts'
import { WeirError } from '../../../shared/lib/errors.ts'

const environment = { ANTHROPIC_API_KEY: 'sk-a', OPENAI_API_KEY: 'sk-o', GEMINI_API_KEY: 'g' }
const base = { name: 'helper', system: 'Be brief.', model: anthropic('m') } as const
const run = () => ''

function agentOf(agent: unknown) {
  const [found] = agentsOfProgram([agent], environment).values()
  if (found === undefined) throw new Error('no agent')
  return found
}

function mistakesIn(...agents: unknown[]): string[] {
  try {
    agentsOfProgram(agents, environment)
    return []
  } catch (error) {
    if (!(error instanceof WeirError) || error.code !== 'agent.invalid') throw error
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
}

describe('the agent that summarises for another one', () => {
  it('is one of the agents, or the mistake suggests one', () => {
    const history = { keep: { rounds: 3 }, summarise: 'sumariser' }
    const summariser = { ...base, name: 'summariser' }
    expect(mistakesIn({ ...base, history }, summariser)).toEqual([
      expect.stringMatching(/history\.summarise.*did you mean summariser\?$/),
    ])
    expect(
      mistakesIn({ ...base, history: { ...history, summarise: 'summariser' } }, summariser),
    ).toEqual([])
  })
})

const schemaText = JSON.stringify({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
})

describe('parameters', () => {
  it.each([
    ['zod', z.object({ city: z.string() })],
    ['arktype', type({ city: 'string' })],
    ['valibot with its converter', toStandardJsonSchema(v.object({ city: v.string() }))],
    ['a JSON Schema', JSON.parse(schemaText)],
    [
      'a schema with a converter of its own',
      { '~standard': { ...z.object({ city: z.string() })['~standard'], vendor: 'mine' } },
    ],
  ])('of %s become the JSON Schema of the declaration', (_, parameters) => {
    const tool = defineTool({ name: 't', description: 'd', parameters, run })
    const [{ declaration } = { declaration: { schema: '' } }] = agentOf({
      ...base,
      tools: [tool],
    }).tools
    expect(JSON.parse(declaration.schema)).toEqual(JSON.parse(schemaText))
  })

  it('of valibot need its converter, and the mistake names it', () => {
    const parameters = v.object({ city: v.string() })
    expect(
      mistakesIn({ ...base, tools: [{ name: 't', description: 'd', parameters, run }] }),
    ).toEqual([
      'agents[0].tools[0].parameters: is a schema of valibot without a converter to JSON Schema; wrap it in toStandardJsonSchema of @valibot/to-json-schema',
    ])
  })

  it('of valibot with its converter are inferred, and checked with their defaults', async () => {
    const city = v.pipe(v.string(), v.minLength(2, 'Name a city.'))
    const parameters = toStandardJsonSchema(v.object({ city, days: v.optional(v.number(), 3) }))
    const tool = defineTool({
      name: 't',
      description: 'd',
      parameters,
      run: (args) => args.city.toUpperCase() + args.days.toFixed(0),
    })
    const [made] = agentOf({ ...base, tools: [tool] }).tools
    expect(await made?.check?.({ city: 'Ulm' })).toEqual({ value: { city: 'Ulm', days: 3 } })
    expect(await made?.check?.({ city: 'U' })).toEqual({
      problems: [expect.stringContaining('Name a city.')],
    })
  })

  it('of valibot with a check of its own are a mistake, because its converter has no form for it', () => {
    const city = v.pipe(
      v.string(),
      v.check((name) => name !== 'Atlantis'),
    )
    const parameters = toStandardJsonSchema(v.object({ city }))
    expect(
      mistakesIn({ ...base, tools: [{ name: 't', description: 'd', parameters, run }] }),
    ).toEqual([expect.stringContaining('agents[0].tools[0].parameters: ')])
  })

  it.each([
    ['zod', { q: z.string() }, 'z.object({ q: … })'],
    ['valibot', { q: v.string() }, 'toStandardJsonSchema(v.object({ q: … }))'],
  ])(
    'as an object of schemas of %s are a mistake that names the form',
    (vendor, parameters, form) => {
      expect(
        mistakesIn({ ...base, tools: [{ name: 't', description: 'd', parameters, run }] }),
      ).toEqual([
        `agents[0].tools[0].parameters: is an object of schemas of ${vendor}; must be one schema, such as ${form}`,
      ])
    },
  )

  it('that no JSON Schema can express are a mistake', () => {
    const parameters = z.object({ when: z.date() })
    const [line] = mistakesIn({
      ...base,
      tools: [{ name: 't', description: 'd', parameters, run }],
    })
    expect(line).toMatch(
      /^agents\[0\]\.tools\[0\]\.parameters: is a schema of zod that has no JSON/,
    )
  })

  it('are checked with refinements and transforms that no JSON Schema has', async () => {
    const parameters = z.object({
      n: z
        .number()
        .refine((n) => n % 2 === 0, 'must be even')
        .transform((n) => n + 1),
    })
    const tool = defineTool({
      name: 't',
      description: 'd',
      parameters: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }),
      run,
    })
    const check = agentOf({ ...base, tools: [tool] }).tools[0]?.check
    expect(await check?.({ n: 2 })).toEqual({ value: { n: 2 } })
    expect(await check?.({ n: 3 })).toEqual({ problems: ['n: must be even'] })
    const transformed = agentOf({ ...base, tools: [{ ...tool, parameters }] }).tools[0]?.check
    expect(await transformed?.({ n: 2 })).toEqual({ value: { n: 3 } })
  })
})

describe('models', () => {
  it('have the key of the environment, and none for another server', () => {
    expect(agentOf(base).model).toEqual({
      provider: 'anthropic',
      name: 'm',
      apiKey: 'sk-a',
      maxOutputTokens: 8192,
    })
    expect(agentOf({ ...base, model: openai('m', { temperature: 1 }) }).model).toEqual({
      provider: 'openai-responses',
      name: 'm',
      apiKey: 'sk-o',
      maxOutputTokens: 8192,
      temperature: 1,
    })
    expect(agentOf({ ...base, model: gemini('m', { seed: 7 }) }).model).toEqual({
      provider: 'gemini',
      name: 'm',
      apiKey: 'g',
      maxOutputTokens: 8192,
      seed: 7,
    })
    const other = openaiChat('m', { baseUrl: 'http://localhost:11434/v1', maxOutputTokens: 10 })
    expect(agentOf({ ...base, model: other }).model).toEqual({
      provider: 'openai-chat',
      name: 'm',
      apiKey: '',
      maxOutputTokens: 10,
      baseUrl: 'http://localhost:11434/v1',
    })
  })

  it('need a key, and the mistake names the variable', () => {
    expect(() => agentsOfProgram([base], {})).toThrow(
      'agents[0].model.apiKey: is missing, and the variable ANTHROPIC_API_KEY is not set or empty; set it, or give the key itself',
    )
  })
})

describe('an agent of a program', () => {
  it('reports all mistakes of all agents at once, with paths and the nearest name', () => {
    const tool = { name: 'a b', descripton: 'd', parameters: { type: 'object' }, run: 'x' }
    expect(
      mistakesIn(
        { ...base, sistem: 'x', caps: { rounds: 0 }, tools: [tool, 7] },
        {
          name: 'helper',
          system: '',
          model: { provider: 'openai', name: 'm', maxOutputTokens: 1 },
        },
        'text',
      ),
    ).toEqual([
      'agents[0].sistem: is an unknown key; did you mean system?',
      'agents[0].caps.rounds: is 0; must be a whole number from 1 to 1000',
      'agents[0].tools[0].description: is missing; must be a text of at most 16384 characters that is not blank',
      'agents[0].tools[0].descripton: is an unknown key; did you mean description?',
      'agents[0].tools[0].name: is "a b"; must be 1 to 64 of A-Z, a-z, 0-9, _ and -',
      'agents[0].tools[0].run: is "x"; must be a function',
      'agents[0].tools[1]: is 7; must be a tool of defineTool',
      'agents[1].system: is ""; must be a text that is not blank',
      'agents[1].model.provider: is "openai"; must be anthropic, openai-chat, openai-responses or gemini (did you mean openai-chat?)',
      'agents[1].name: is "helper", the name of another agent already; give it another',
      'agents[2]: is "text"; must be an agent of defineAgent',
    ])
  })

  it('refuses data that JSON cannot hold, with its place', () => {
    expect(mistakesIn({ ...base, fallback: () => 'x', caps: { rounds: 1n } })).toEqual([
      'agents[0].fallback: is a function; must be data that JSON can hold',
      'agents[0].caps.rounds: is a bigint; must be data that JSON can hold',
    ])
  })

  it('replaces no variable in its texts', () => {
    const tool = defineTool({
      name: 't',
      description: 'd',
      parameters: { type: 'object' },
      command: [process.execPath, `\${HOME}`],
    })
    expect(agentOf({ ...base, tools: [tool] }).tools[0]?.run).toMatchObject({
      argv: [process.execPath, `\${HOME}`],
    })
  })

  it('refuses tools of this process if it requires isolation', () => {
    const parameters = { type: 'object' }
    const tool = defineTool({ name: 't', description: 'd', parameters, run })
    const isolated = defineTool({ name: 'i', description: 'd', parameters, run, isolated: true })
    expect(mistakesIn({ ...base, requireIsolation: true, tools: [tool, isolated] })).toEqual([
      'agents[0].tools[0]: runs in this process, and requireIsolation is set; must have isolated: true, module, command or http',
    ])
  })

  it('applies its sandbox to the tools in other processes only', () => {
    const parameters = { type: 'object' }
    const tool = defineTool({ name: 't', description: 'd', parameters, run })
    const isolated = defineTool({ name: 'i', description: 'd', parameters, run, isolated: true })
    const { tools } = agentOf({ ...base, sandbox: 'default', tools: [tool, isolated] })
    expect(tools.map((one) => one.run)).toMatchObject([
      { kind: 'function', run },
      {
        kind: 'module',
        file: import.meta.filename,
        entry: { kind: 'defined', name: 'i' },
        sandbox: 'default',
      },
    ])
    expect(tools[0]?.run).not.toHaveProperty('sandbox')
    expect(
      mistakesIn({
        ...base,
        tools: [
          { ...tool, sandbox: 'default' },
          { ...isolated, isolated: false, cwd: '.' },
        ],
      }),
    ).toEqual([
      'agents[0].tools[0].sandbox: goes with command, module or isolated only; remove it',
      'agents[0].tools[1].cwd: goes with isolated: true, command or module only; remove it',
    ])
  })
})

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}
type ContextOf<Agent> = Agent extends DefinedAgent<infer Context> ? Context : never

/** Never called. */
function program(weir: Weir): Turn[] {
  const parameters = z.object({ city: z.string(), days: z.number().default(1) })
  const plainly = defineTool({
    name: 'a',
    description: 'd',
    parameters,
    run(args, call) {
      same<typeof args, { city: string; days: number }>(true)
      same<typeof call, ToolCall<unknown>>(true)
      return args.city
    },
  })
  const annotated = defineTool({
    name: 'b',
    description: 'd',
    parameters: type({ city: 'string' }),
    run: ({ city }, { context }: ToolCall<{ userId: string } | undefined>) =>
      city + (context?.userId ?? ''),
  })
  const needing = defineTool({
    name: 'c',
    description: 'd',
    parameters: toStandardJsonSchema(v.object({ city: v.string() })),
    needsContext: z.object({ tenant: z.number() }),
    run: ({ city }, { context, signal }) => {
      same<typeof context, { tenant: number }>(true)
      same<typeof signal, AbortSignal>(true)
      return city.repeat(context.tenant)
    },
  })
  defineTool({
    name: 'd',
    description: 'd',
    parameters: { type: 'object' },
    run: ({ city }: { city: string }) => city,
  })
  defineTool({
    name: 'd',
    description: 'd',
    parameters: z.object({ city: z.string() }),
    // @ts-expect-error the schema has a text
    run: ({ city }: { city: number }) => city,
  })
  defineTool({
    name: 'd',
    description: 'd',
    parameters: { type: 'object' },
    // @ts-expect-error without needsContext there may be no context
    run: (_, { context }: ToolCall<{ userId: string }>) => context.userId,
  })
  // @ts-expect-error a tool has one way to run
  defineTool({ name: 'd', description: 'd', parameters: { type: 'object' } })
  // @ts-expect-error it has no such field
  defineTool({ name: 'd', descripton: 'd', parameters: { type: 'object' }, run: () => '' })

  const free = defineAgent({ ...base, tools: [plainly] })
  const optional = defineAgent({ ...base, tools: [plainly, annotated] })
  const strict = defineAgent({ ...base, tools: [annotated, needing] })
  same<ContextOf<typeof free>, unknown>(true)
  same<ContextOf<typeof optional>, { userId: string } | undefined>(true)
  same<ContextOf<typeof strict>, { userId: string } & { tenant: number }>(true)
  // @ts-expect-error an agent has a model
  defineAgent({ name: 'x', system: 'y' })
  // @ts-expect-error and no such option
  defineAgent({ ...base, tool: [] })

  // @ts-expect-error a tool of it needs the context
  weir.ask({ agent: strict, text: 'hi' })
  // @ts-expect-error another context
  weir.ask({ agent: optional, text: 'hi', context: { userId: 7 } })
  return [
    weir.ask({ agent: 'helper', text: 'hi' }),
    weir.ask({ agent: 'helper', text: 'hi', context: 7 }),
    weir.ask({ agent: free, text: 'hi' }),
    weir.ask({ agent: optional, text: 'hi' }),
    weir.ask({ agent: optional, text: 'hi', context: { userId: 'u' } }),
    weir.ask({ agent: strict, text: 'hi', context: { userId: 'u', tenant: 1 } }),
  ]
}

it('compiles a program that defines agents', () => {
  expect(program).toHaveLength(1)
})
