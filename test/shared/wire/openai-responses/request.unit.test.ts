import { describe, expect, it } from '@jest/globals'
import type { Declaration } from '../../../../shared/contract/messages.ts'
import type { ProviderRequest } from '../../../../shared/wire/exchange.ts'
import { responsesInput } from '../../../../shared/wire/openai-responses/input.ts'
import { responsesRequest } from '../../../../shared/wire/openai-responses/request.ts'
import {
  agentOf,
  call,
  modelSays,
  result,
  tool,
  userSays,
} from '../../../services/llm-gateway/samples.ts'

const agent = agentOf({}, { provider: 'openai-responses' })
const asked = (fields: Partial<ProviderRequest> = {}, of = agent) =>
  responsesRequest(of, {
    nudge: null,
    tools: of.tools.map(({ declaration }) => declaration),
    textOnly: false,
    history: [userSays('hello')],
    rebuilt: false,
    ...fields,
  })

describe('a request', () => {
  it('says all that the model needs, asks for encrypted reasoning and stores nothing', () => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
    expect(asked({ tools: [tool('read').declaration] })).toEqual({
      model: 'some-model',
      tools: [
        {
          type: 'function',
          name: 'read',
          description: 'runs read',
          parameters: schema,
          strict: false,
        },
      ],
      instructions: 'You are helpful.',
      input: [{ role: 'user', content: 'hello' }],
      max_output_tokens: 1000,
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    })
  })

  it('shows a nudge after the instructions', () => {
    expect(asked({ nudge: 'STOP' }).instructions).toBe('You are helpful.\n\nSTOP')
    expect(asked({ nudge: 'STOP' }, { ...agent, system: ' ' }).instructions).toBe('STOP')
    expect(asked({}, { ...agent, system: '' })).not.toHaveProperty('instructions')
  })

  it('keeps its tools where none may be called, and has no choice among none', () => {
    expect(asked({ textOnly: true })).toMatchObject({
      tool_choice: 'none',
      tools: [{ name: 'read' }, { name: 'write' }],
    })
    expect(asked({ textOnly: true, tools: [] as Declaration[] })).not.toHaveProperty('tool_choice')
  })

  it('does not ask models for reasoning that have none', () => {
    expect(
      asked({}, agentOf({}, { provider: 'openai-responses', name: 'gpt-4.1-mini' })),
    ).not.toHaveProperty('include')
  })
})

describe('the history', () => {
  const item = (id: string, fields: object = {}) => ({
    type: 'reasoning',
    id,
    summary: [],
    encrypted_content: `secret of ${id}`,
    ...fields,
  })
  const block = (id: string, calls: number, fields: object = {}) => ({
    model: 'm',
    calls,
    item: item(id),
    ...fields,
  })
  const input = (blocks: object[], rebuilt = false) =>
    responsesInput(
      [
        userSays('hello'),
        modelSays(
          {
            text: 'I look.',
            reasoning: JSON.stringify(blocks),
            calls: [
              call({ id: 'c1', raw: '{"n":12345678901234567890}' }),
              call({ ordinal: 1, id: 'c2', name: 'write' }),
            ],
          },
          {
            results: [
              result({ text: 'one' }),
              result({ ordinal: 1, text: 'two', status: 'error' }),
            ],
          },
        ),
      ],
      { model: 'm', rebuilt },
    )

  it('has one output per call, and unchanged reasoning before the call that followed it', () => {
    expect(input([block('rs1', 0), block('rs2', 1)])).toEqual([
      { role: 'user', content: 'hello' },
      item('rs1'),
      { role: 'assistant', content: 'I look.' },
      {
        type: 'function_call',
        call_id: 'c1',
        name: 'read',
        arguments: '{"n":12345678901234567890}',
      },
      item('rs2'),
      { type: 'function_call', call_id: 'c2', name: 'write', arguments: '{"path":"x"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'function_call_output', call_id: 'c2', output: 'two' },
    ])
  })

  it('leaves out reasoning of another model or provider, and reasoning without encryption', () => {
    const others = [
      block('rs1', 0, { model: 'other' }),
      { type: 'thinking', thinking: 'x' },
      block('rs2', 0, { item: item('rs2', { encrypted_content: null }) }),
    ]
    expect(input(others).filter((sent) => 'type' in sent && sent.type === 'reasoning')).toEqual([])
  })

  it('has no ids and no reasoning of a provider once it was refused', () => {
    const again = input([block('rs1', 0)], true)
    expect(again.filter((sent) => 'type' in sent && sent.type === 'reasoning')).toEqual([])
    const ids = again.flatMap((sent) => ('call_id' in sent ? [sent.call_id] : []))
    expect(ids).toEqual([...ids.slice(0, 2), ...ids.slice(0, 2)])
    expect(ids).not.toContain('c1')
  })

  it('of a model that writes its calls as text has its instructions in place of the tools', () => {
    const sent = asked({ system: 'Write calls as JSON.', tools: [] })
    expect(sent).toMatchObject({ instructions: 'Write calls as JSON.' })
    expect(sent).not.toHaveProperty('tools')
  })
})
