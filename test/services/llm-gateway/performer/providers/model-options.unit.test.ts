// The options of a model in the requests of each provider, and the values that its API has.

import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { agentsOfProgram } from '../../../../../client/agents/agents-in-files.ts'
import { anthropic, type DefinedModel, openai, openaiChat } from '../../../../../client/weir.ts'
import {
  connect,
  providers,
} from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import { secretsOf } from '../../../../../shared/agents/secrets.ts'
import { userSays } from '../../samples.ts'

const environment = { ANTHROPIC_API_KEY: 'sk-a', OPENAI_API_KEY: 'sk-o' }
const agents = (model: object) => agentsOfProgram([{ name: 'a', system: 's', model }], environment)
const common = { topP: 0.5, headers: { 'x-team': 'search' }, serviceTier: 'auto' } as const

async function sentBy(model: DefinedModel) {
  const [agent] = agents(model).values()
  let sent: { body: Record<string, unknown>; headers: Headers } | undefined
  const provider = await connect(agent as never, async (_, init) => {
    sent = { body: JSON.parse(String(init?.body)), headers: new Headers(init?.headers) }
    return new Response('{}', { status: 500 })
  })
  const request = { nudge: null, tools: [], textOnly: false, rebuilt: false }
  const history = [userSays('hello')]
  const streamed = provider.stream({ ...request, history }, new AbortController().signal, () => {})
  for await (const _ of streamed);
  return sent
}

it.each([
  [
    anthropic('m', { ...common, reasoningEffort: 'high' }),
    { top_p: 0.5, service_tier: 'auto', output_config: { effort: 'high' } },
  ],
  [
    openai('m', { ...common, reasoningEffort: 'none' }),
    { top_p: 0.5, service_tier: 'auto', reasoning: { effort: 'none' } },
  ],
  [
    openaiChat('m', { ...common, reasoningEffort: 'low', seed: 7 }),
    { top_p: 0.5, service_tier: 'auto', reasoning_effort: 'low', seed: 7 },
  ],
])('reach the provider: %j', async (model, expected) => {
  const sent = await sentBy(model)
  expect(sent?.body).toMatchObject(expected)
  expect(sent?.headers.get('x-team')).toBe('search')
})

it('are refused where the API does not have them', () => {
  const strange = {
    reasoningEffort: 'minimal',
    serviceTier: 'flex',
    seed: 1,
    topP: 2,
    endMark: 'missing',
  }
  const model = { ...anthropic('m'), ...strange, headers: { 'content-type': 'x' } }
  expect(() => agents(model)).toThrow(
    [
      'Agents cannot be used: 6 mistakes.',
      'agents[0].model.topP: is 2; must be a number from 0 to 1',
      'agents[0].model.headers.content-type: is set by Weir; remove it',
      'agents[0].model.reasoningEffort: is "minimal"; must be low, medium, high, xhigh or max for anthropic',
      'agents[0].model.serviceTier: is "flex"; must be auto or standard_only for anthropic',
      'agents[0].model.seed: is an option that anthropic does not have; remove it',
      'agents[0].model.endMark: is an option that anthropic does not have; remove it',
    ].join('\n  '),
  )
})

it('keep credentials in headers out of results', () => {
  const token = 'token-0123456789'
  const model = anthropic('m', { headers: { authorization: `Bearer ${token}` } })
  expect(secretsOf(agents(model))).toContain(token)
})

it('have in an agent file each tier and each effort of each provider', () => {
  const file = new URL('../../../../../shared/agents/file/agent.schema.json', import.meta.url)
  const { model } = JSON.parse(readFileSync(file, 'utf8')).properties
  for (const { accepts } of providers) {
    expect(model.properties.serviceTier.enum).toEqual(
      expect.arrayContaining([...accepts.serviceTier]),
    )
    const efforts = model.properties.reasoningEffort.enum
    expect(efforts).toEqual(expect.arrayContaining([...accepts.reasoningEffort]))
  }
})

/** Never called. */
function program(): DefinedModel[] {
  return [
    // @ts-expect-error Anthropic has no such effort
    anthropic('m', { reasoningEffort: 'minimal' }),
    // @ts-expect-error nor a seed
    anthropic('m', { seed: 1 }),
    // @ts-expect-error nor have Responses
    openai('m', { seed: 1 }),
    // @ts-expect-error no API has such a tier
    openaiChat('m', { serviceTier: 'best' }),
    openaiChat('m', { seed: 1, serviceTier: 'flex' }),
  ]
}

it('have types for each provider', () => {
  expect(program).toHaveLength(0)
})
