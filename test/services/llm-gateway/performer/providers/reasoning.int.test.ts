// Conversations with hosts of thinking models: the real SDKs against servers that check the
// reasoning in a history as Moonshot, DeepSeek, Groq, Anthropic and OpenAI do. A conversation must
// go on with any earlier messages.

import { afterEach, describe, expect, it } from '@jest/globals'
import { toolRef } from '../../../../../shared/agents/agents.ts'
import type { HistoryEntry } from '../../../../../shared/contract/messages.ts'
import { sse } from '../../../../support/provider-streams.ts'
import { type Body, closeServers, gatewayBefore, type Refusal } from '../../gateway-before.ts'
import { call, modelSays, result, tool, userSays } from '../../samples.ts'

afterEach(closeServers)

type Message = Record<string, unknown>

const tools = ['read'].map((name) => toolRef(tool(name).declaration))
const assistants = ({ messages = [] }: Body): Message[] =>
  messages.filter(({ role }) => role === 'assistant')

/** A response of Chat Completions with these fields next to a call. */
const calling = (fields: Message): string => {
  const call = {
    index: 0,
    id: `c${JSON.stringify(fields).length}`,
    type: 'function',
    function: { name: 'read', arguments: '{"path":"x"}' },
  }
  const delta = { role: 'assistant', ...fields, tool_calls: [call] }
  const chunk = { choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
}

/** As Moonshot refuses: every message with calls must have the field, even if it is empty. */
const moonshot = (body: Body): Refusal => {
  const at = (body.messages ?? []).findIndex(
    (message) => 'tool_calls' in message && typeof message.reasoning_content !== 'string',
  )
  return at < 0
    ? undefined
    : {
        status: 400,
        message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
      }
}

/** As DeepSeek refuses: every message of the assistant must have the field. */
const deepseek = (body: Body): Refusal =>
  assistants(body).every(({ reasoning_content: text }) => typeof text === 'string')
    ? undefined
    : {
        status: 400,
        message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
      }

/** As Groq refuses a member that it does not know. */
const unknownMember =
  (member: string) =>
  (body: Body): Refusal => {
    const at = (body.messages ?? []).findIndex((message) => member in message)
    return at < 0
      ? undefined
      : {
          status: 400,
          message: `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property '${member}' is unsupported)]`,
        }
  }

/** Plays rounds of one turn. Each answer becomes the next entry of the history. */
async function conversation(
  { refuse, answers }: { refuse: (body: Body) => Refusal; answers: Message[] },
  before: HistoryEntry[] = [userSays('hello')],
) {
  let round = 0
  const { bodies, ask } = gatewayBefore({
    api: 'openai-chat',
    refuse,
    answer: () => calling(answers[round] ?? {}),
  })
  const history = [...before]
  const failures: number[] = []
  for (round = 0; round < answers.length; round += 1) {
    const { failed, end, response } = await ask(history, { tools, callsLeft: 5 })
    expect(end.failure).toBeNull()
    failures.push(failed.length)
    if (response !== undefined)
      history.push(
        modelSays(response, {
          turn: 0,
          round: round + 1,
          results: [result({ text: 'x is here' })],
        }),
      )
  }
  return { bodies, failures, history }
}

describe('a host that requires reasoning next to every call', () => {
  it('gets an empty one for a response that called without thinking', async () => {
    const { bodies, failures } = await conversation({
      refuse: moonshot,
      answers: [{ reasoning_content: 'I look.' }, {}, { reasoning_content: 'Again.' }, {}],
    })
    expect(failures).toEqual([0, 0, 0, 0])
    expect(assistants(bodies[3] as Body).map((message) => message.reasoning_content)).toEqual([
      'I look.',
      '',
      'Again.',
    ])
  })

  it('gets empty reasoning after a refusal if no earlier response had reasoning', async () => {
    const { bodies, failures } = await conversation({ refuse: moonshot, answers: [{}, {}, {}] })
    // The second and later rounds know it.
    expect(failures).toEqual([0, 1, 0])
    expect(assistants(bodies[2] as Body)).toMatchObject([{ reasoning_content: '' }])
  })

  it.each([
    ['Moonshot', moonshot],
    ['DeepSeek', deepseek],
  ])('goes on after a change of model and in later turns (%s)', async (_, refuse) => {
    const foreign = modelSays(
      {
        text: 'I call.',
        reasoning: '[{"model":"another","reasoning":"hm"}]',
        calls: [call()],
      },
      { results: [result()] },
    )
    const before = [
      userSays('hello'),
      foreign,
      modelSays({ text: 'So.' }, { round: 2 }),
      userSays('and now?', { turn: 1 }),
    ]
    const { failures, bodies } = await conversation(
      { refuse, answers: [{ reasoning_content: 'hm' }, {}, {}] },
      before,
    )
    expect(failures).toEqual([1, 0, 0])
    expect(JSON.stringify(bodies)).not.toContain('"reasoning":"hm"')
  })

  it('goes on after a damaged piece of reasoning', async () => {
    const damaged = modelSays({ reasoning: 'no JSON', calls: [call()] }, { results: [result()] })
    const { failures } = await conversation({ refuse: moonshot, answers: [{}, {}] }, [
      userSays('hello'),
      damaged,
    ])
    expect(failures).toEqual([1, 0])
  })

  it('that refuses the filled history, too, ends the round after two requests, with the advice', async () => {
    const { bodies, ask } = gatewayBefore({
      api: 'openai-chat',
      refuse: () => ({ status: 400, message: 'reasoning_content is missing' }),
    })
    const history = [userSays('hello'), modelSays({ calls: [call()] }, { results: [result()] })]
    const { end } = await ask(history, { tools, callsLeft: 5 })
    expect(bodies).toHaveLength(2)
    expect(end.failure).toMatchObject({
      class: 'refused',
      reason: expect.stringMatching(
        /^the reasoning in the history is refused, also in another form/,
      ),
    })
  })
})

describe('reasoning', () => {
  it.each(['reasoning', 'reasoning_content'])('goes back in the field %s', async (field) => {
    const { bodies } = await conversation({
      refuse: () => undefined,
      answers: [{ [field]: 'I look.' }, {}],
    })
    expect(assistants(bodies[1] as Body)).toMatchObject([{ [field]: 'I look.' }])
  })

  it('goes back as parts of the content where it came so', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'I look.' }] },
      { type: 'text', text: 'Here.' },
    ]
    const { bodies } = await conversation({
      refuse: () => undefined,
      answers: [{ content }, {}],
    })
    expect(assistants(bodies[1] as Body)).toMatchObject([{ content }])
  })

  it('goes back in both fields where blocks and a text came', async () => {
    const reasoning_details = [{ type: 'reasoning.text', text: 'I look.', index: 0 }]
    const { bodies } = await conversation({
      refuse: () => undefined,
      answers: [{ reasoning_content: 'I look.', reasoning_details }, {}],
    })
    expect(assistants(bodies[1] as Body)).toMatchObject([
      { reasoning_content: 'I look.', reasoning_details },
    ])
  })

  it.each(['reasoning', 'reasoning_content', 'reasoning_details'])(
    'stays away after a refusal that names the field %s, at once in later rounds',
    async (field) => {
      const value = field === 'reasoning_details' ? [{ type: 'reasoning.text', text: 'a' }] : 'a'
      const { bodies, failures } = await conversation({
        refuse: unknownMember(field),
        answers: [{ [field]: value }, { [field]: value }, { [field]: value }],
      })
      expect(failures).toEqual([0, 1, 0])
      for (const message of assistants(bodies.at(-1) as Body))
        expect(message).not.toHaveProperty(field)
    },
  )
})

const thought = { type: 'thinking', thinking: 'hm', signature: 's' }
const withThought = [
  userSays('hello'),
  modelSays({ reasoning: JSON.stringify([thought]), calls: [call()] }, { results: [result()] }),
]

describe('a host of the Messages API', () => {
  const has = (body: Body, type: string) => JSON.stringify(body.messages).includes(`"${type}"`)

  it('that cannot verify thinking gets the history without it, each time', async () => {
    const { bodies, ask } = gatewayBefore({
      api: 'anthropic',
      refuse: (body) =>
        has(body, 'thinking')
          ? {
              status: 400,
              message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
            }
          : undefined,
    })
    for (const _ of [1, 2])
      expect((await ask(withThought, { tools, callsLeft: 5 })).end.failure).toBeNull()
    // Another conversation may hold valid thinking, so nothing is remembered.
    expect(bodies.map((body) => has(body, 'thinking'))).toEqual([true, false, true, false])
  })

  it('that requires thinking gets an empty block', async () => {
    const { bodies, ask } = gatewayBefore({
      api: 'anthropic',
      refuse: (body) =>
        has(body, 'thinking')
          ? undefined
          : {
              status: 400,
              message:
                'The `content[].thinking` in the thinking mode must be passed back to the API.',
            },
    })
    const history = [userSays('hello'), modelSays({ calls: [call()] }, { results: [result()] })]
    expect((await ask(history, { tools, callsLeft: 5 })).end.failure).toBeNull()
    expect(bodies[1]?.messages?.[1]?.content).toMatchObject([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'tool_use' },
    ])
  })
})

describe('a host of the Responses API', () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' }

  it('that cannot verify encrypted reasoning gets the history without it', async () => {
    const { bodies, ask } = gatewayBefore({
      api: 'openai-responses',
      refuse: ({ input }) =>
        JSON.stringify(input).includes('encrypted_content')
          ? { status: 400, message: 'The encrypted content gAAA could not be verified.' }
          : undefined,
    })
    const history = [
      userSays('hello'),
      modelSays(
        {
          reasoning: JSON.stringify([{ model: 'some-model', calls: 0, item }]),
          calls: [call()],
        },
        { results: [result()] },
      ),
    ]
    expect((await ask(history, { tools, callsLeft: 5 })).end.failure).toBeNull()
    expect(bodies).toHaveLength(2)
    expect(bodies[1]?.input?.map(({ type, role }) => type ?? role)).toEqual([
      'user',
      'function_call',
      'function_call_output',
    ])
  })

  const message = (id: string, phase: string | undefined, text: string) => ({
    type: 'message',
    id,
    role: 'assistant',
    status: 'completed',
    phase,
    content: [{ type: 'output_text', text }],
  })
  const called = {
    type: 'function_call',
    id: 'fc',
    call_id: 'c1',
    name: 'read',
    arguments: '{"path":"x"}',
    status: 'completed',
  }
  const output = [
    message('m1', 'commentary', 'First I look. '),
    item,
    called,
    message('m2', 'final_answer', 'Then I answer.'),
  ]
  const answer = () =>
    output
      .map((sent, output_index) =>
        sse(
          'response.output_item.done',
          JSON.stringify({ type: 'response.output_item.done', output_index, item: sent }),
        ),
      )
      .join('') +
    sse(
      'response.completed',
      JSON.stringify({ type: 'response.completed', response: { status: 'completed', output } }),
    )

  it('gets each message back with its phase and in its place', async () => {
    const { bodies, ask } = gatewayBefore({ api: 'openai-responses', answer })
    const { response } = await ask([userSays('hello')], { tools, callsLeft: 5 })
    expect(response?.text).toBe('First I look. Then I answer.')
    await ask([userSays('hello'), modelSays(response ?? {}, { results: [result()] })], { tools })
    expect(bodies[1]?.input).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'First I look. ', phase: 'commentary' },
      { type: 'reasoning', id: 'rs_1' },
      { type: 'function_call', call_id: 'c1' },
      { role: 'assistant', content: 'Then I answer.', phase: 'final_answer' },
      { type: 'function_call_output', call_id: 'c1' },
    ])
  })

  it('that does not know the phase gets the text without it', async () => {
    const { bodies, ask } = gatewayBefore({
      api: 'openai-responses',
      answer,
      refuse: ({ input }) =>
        JSON.stringify(input).includes('"phase"')
          ? { status: 400, message: "Unknown parameter: 'input[1].phase'." }
          : undefined,
    })
    const { response } = await ask([userSays('hello')], { tools, callsLeft: 5 })
    const next = await ask(
      [userSays('hello'), modelSays(response ?? {}, { results: [result()] })],
      { tools },
    )
    expect(next.end.failure).toBeNull()
    expect(bodies[2]?.input).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'First I look. Then I answer.' },
      { type: 'function_call' },
      { type: 'function_call_output' },
    ])
  })
})
