// The incidents of the design, end to end: real HTTP to a scripted model, the stages on the
// embedded bus, real processes as tools.

import { describe, expect, it } from '@jest/globals'
import { reflexModel } from '../../apps/demo/reflex-model.ts'
import { execTool, patient, recordedTool, withPipeline } from '../support/pipeline.ts'
import {
  always,
  call,
  resultsOf,
  says,
  script,
  systemOf,
  text,
  textsOf,
  thinking,
} from '../support/script.ts'

const intervention = `SYSTEM INTERVENTION — LOOP DETECTED
Your last 3 tool calls were:
1. exec({}) → error: missing required field 'command'
2. exec({}) → error: missing required field 'command'
3. exec({}) → error: missing required field 'command'
These are identical failed invocations. Retrying with the same arguments
will fail again.
On your next turn:
1. Do NOT call exec or any other tool.
2. Do NOT repeat this call pattern.
3. Respond to the user in plain text.
4. Explain what you were trying to accomplish.
5. If you do not know what arguments to use, ask the user for clarification.
The user is waiting for a text response.`

const directive = `Tool call rejected before execution: missing required field 'command'.
You sent: {}
Do not retry with the same arguments. If you do not know what command
to run, respond in text and ask the user for clarification.`

describe('I1, the reflex loop', () => {
  it('gets the exact intervention in the fourth request, answers in text, and no tool ever starts', async () => {
    await withPipeline({ model: reflexModel('reflex') }, async ({ ask, server, starts, log }) => {
      const { activity, finished } = await ask('list my files')
      expect(finished).toMatchObject({ outcome: 'answered', totals: { rounds: 4, calls: 3 } })
      expect(server.requests).toHaveLength(4)
      expect(server.requests.map((request) => systemOf(request).includes(intervention))).toEqual([
        false,
        false,
        false,
        true,
      ])
      expect(resultsOf(server.requests[2]).slice(0, 2)).toEqual([directive, directive])
      expect(await starts()).toEqual([])
      expect(activity.some(({ type }) => type === 'tool-started')).toBe(false)
      expect(log.some((line) => line.includes('"level":20') && line.includes('"raw":"{}"'))).toBe(
        true,
      )
    })
  })

  it('ends in text by the fifth request even if the model ignores the intervention, and the next turn has tools again', async () => {
    await withPipeline({ model: reflexModel('stubborn') }, async ({ ask, server, starts }) => {
      const { finished } = await ask('list my files')
      expect(finished.outcome).toBe('answered')
      expect(server.requests).toHaveLength(5)
      expect(server.requests.map((request) => request.tool_choice?.type)).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
        'none',
      ])
      expect(server.requests.every((request) => request.tools?.length === 1)).toBe(true)
      expect(await starts()).toEqual([])
      await ask('try again')
      expect(server.requests[5]?.tool_choice).toBeUndefined()
    })
  })

  it('ends by the fifth request even if only the tool reports the error, and no schema check', async () => {
    const tools = (file: string) => [
      recordedTool({ name: 'exec', schema: { type: 'object' } }, file),
    ]
    await withPipeline(
      { model: reflexModel('stubborn'), tools },
      async ({ ask, server, starts }) => {
        const { finished } = await ask('list my files')
        expect(finished.outcome).toBe('answered')
        expect(server.requests).toHaveLength(5)
        expect(systemOf(server.requests[3])).toContain(
          "1. exec({}) → error: missing 'command' parameter",
        )
        expect(await starts()).toHaveLength(4)
      },
    )
  })

  it('is one loop, however the model spells empty arguments', async () => {
    const spellings = ['{}', '{"command":""}', '{"command":" "}', '{"command":null}']
    const tools = (file: string) => [
      recordedTool({ name: 'exec', schema: { type: 'object' } }, file),
    ]
    await withPipeline(
      { model: script(...spellings.map((spelling) => says(call('exec', spelling)))), tools },
      async ({ ask, server }) => {
        await ask('list my files')
        expect(systemOf(server.requests[3])).toContain('SYSTEM INTERVENTION')
      },
    )
  })
})

describe('I2, the foreign dialect', () => {
  const tools = (file: string) => [
    recordedTool({ name: 'file_write', required: ['path', 'content'] }, file),
  ]
  const written = '[{"tool": "file_write", "path": "hello.py", "content": "print(1)"}]'

  it('is a call that runs once, has one result, and is not in the visible answer', async () => {
    await withPipeline(
      { model: script(says(text(written)), says(text('It is written.'))), tools },
      async ({ agent, ask, server, starts, records }) => {
        agent.textCalls = 'run'
        const { finished } = await ask('write it')
        expect(finished).toMatchObject({
          outcome: 'answered',
          reply: 'It is written.',
          totals: { rounds: 2, calls: 1 },
        })
        const raw = '{"path":"hello.py","content":"print(1)"}'
        expect((await starts()).map((line) => JSON.parse(line).arguments)).toEqual([raw])
        expect(resultsOf(server.requests[1])).toHaveLength(1)
        expect(textsOf(server.requests[1])).toEqual(['write it'])
        const rounds = (await records('history')).filter(
          (entry) => entry.type === 'history-entry' && entry.round === 1,
        )
        expect(rounds).toMatchObject([
          {
            response: {
              text: '',
              calls: [{ source: 'text', raw }],
              textCalls: { dialect: 'json' },
            },
          },
        ])
      },
    )
  })

  it('gets the reason twice if it cannot run, and then it is the reply; nothing runs', async () => {
    const incomplete = (path: string) => `[{"tool": "file_write", "path": "${path}"}]`
    const model = script(...['a', 'b', 'c'].map((path) => says(text(incomplete(path)))))
    await withPipeline({ model, tools }, async ({ agent, ask, server, starts }) => {
      agent.textCalls = 'run'
      const { finished } = await ask('write it')
      expect(finished).toMatchObject({ outcome: 'answered', reply: incomplete('c') })
      expect(
        server.requests.map((request) =>
          systemOf(request).includes("missing required field 'content'"),
        ),
      ).toEqual([false, true, true])
      expect(await starts()).toEqual([])
    })
  })

  it('carries the calls and results of a model without native tool calls', async () => {
    const shape = '{"name": "file_write", "arguments": {"path":"hello.py","content":"print(1)"}}'
    await withPipeline(
      { model: script(says(text(shape)), says(text('It is written.'))), tools },
      async ({ agent, ask, server, starts }) => {
        agent.model.toolCalls = 'text'
        const { finished } = await ask('write it')
        expect(finished).toMatchObject({
          outcome: 'answered',
          reply: 'It is written.',
          totals: { rounds: 2, calls: 1 },
        })
        expect(await starts()).toHaveLength(1)
        expect(server.requests.map((request) => request.tools)).toEqual([undefined, undefined])
        expect(systemOf(server.requests[0])).toContain(
          '{"name": "file_write", "arguments": {"path":"...","content":"..."}}',
        )
        expect(textsOf(server.requests[1])).toEqual([
          'write it',
          shape,
          expect.stringMatching(/^Result of the tool file_write \(ok\):\n/),
        ])
      },
    )
  })

  it('is text if it is only quoted', async () => {
    const quoted = `I will not run ${written} for you.`
    await withPipeline({ model: script(says(text(quoted))), tools }, async ({ ask, starts }) => {
      expect((await ask('write it')).finished).toMatchObject({ outcome: 'answered', reply: quoted })
      expect(await starts()).toEqual([])
    })
  })
})

describe('I3, no termination', () => {
  const lookup = (file: string) => [recordedTool({ name: 'lookup', required: ['word'] }, file)]

  it('stops identical successes without progress long before any cap', async () => {
    const model = always(() => says(call('lookup', { word: 'eat', answer: 'ate' })))
    await withPipeline({ model, tools: lookup }, async ({ ask, server, starts }) => {
      const { finished } = await ask('what is the past tense of eat?')
      expect(finished.outcome).toBe('answered')
      expect(server.requests.length).toBeLessThanOrEqual(7)
      expect((await starts()).length).toBeLessThanOrEqual(6)
    })
  })

  it('sends one request without tools when the calls are used up, and names the cap', async () => {
    let n = 0
    const model = always(() => says(call('lookup', { word: `w${n++}` })))
    const settings = { policy: { caps: { rounds: 25, calls: 4, wallMs: 60_000, tokens: null } } }
    await withPipeline({ model, settings, tools: lookup }, async ({ ask, server, starts }) => {
      const { finished } = await ask('look up many words')
      expect(finished).toMatchObject({
        outcome: 'answered',
        cap: 'calls',
        reply: 'I have no tools, so I answer.',
      })
      expect(server.requests).toHaveLength(5)
      expect(await starts()).toHaveLength(4)
    })
  })

  it('never runs more calls than are left, even if one response has them all', async () => {
    const calls = Array.from({ length: 6 }, (_, i) => call('lookup', { word: `w${i}` }))
    const settings = { policy: { caps: { rounds: 25, calls: 4, wallMs: 60_000, tokens: null } } }
    await withPipeline(
      { model: script(says(...calls)), settings, tools: lookup },
      async ({ ask, server, starts }) => {
        await ask('look up many words')
        expect(await starts()).toHaveLength(4)
        expect(resultsOf(server.requests[1])).toHaveLength(6)
        expect(server.requests[1]?.tool_choice?.type).toBe('none')
      },
    )
  })

  it('ends as capped with the fallback and the name of the cap if the last response has no text', async () => {
    let n = 0
    const settings = {
      fallback: 'I tried but could not resolve the grammar question in time.',
      policy: { caps: { rounds: 3, calls: 50, wallMs: 60_000, tokens: null } },
    }
    await withPipeline(
      { model: () => says(call('lookup', { word: `w${n++}` })), settings, tools: lookup },
      async ({ ask, server, starts }) => {
        const { finished } = await ask('look up many words')
        expect(finished).toMatchObject({
          outcome: 'capped',
          cap: 'rounds',
          class: 'budget',
          reply: 'I tried but could not resolve the grammar question in time.',
        })
        expect(server.requests).toHaveLength(4)
        expect(await starts()).toHaveLength(3)
      },
    )
  })

  it('gives the fallback at once when the time of the turn is over, and stops the running tool', async () => {
    const wallMs = 10_000 // the tool has to start in it, also on a slow machine
    const settings = {
      policy: { caps: { rounds: 25, calls: 50, wallMs, tokens: null }, graceMs: 200 },
    }
    const model = script(says(call('lookup', { word: 'slow', sleepMs: 60_000 })))
    await withPipeline({ model, settings, tools: lookup }, async ({ ask, agent, server }) => {
      const { finished } = await ask('look up a slow word')
      expect(finished).toMatchObject({ outcome: 'capped', cap: 'wall', class: 'budget' })
      expect((await ask('and now?', { agent: patient(agent) })).finished.outcome).toBe('answered')
      expect(resultsOf(server.requests[1])[0]).toMatch(/may have run, or may still take effect/)
    })
  })

  it('ends a tool at its own time limit, and the turn goes on', async () => {
    const tools = (file: string) => [
      recordedTool({ name: 'lookup', required: ['word'], fields: { timeoutMs: 300 } }, file),
    ]
    const model = script(says(call('lookup', { word: 'slow', sleepMs: 60_000 })))
    await withPipeline(
      { model, tools, settings: { policy: { graceMs: 100 } } },
      async ({ ask, server }) => {
        const { activity, finished } = await ask('look up a slow word')
        expect(finished.outcome).toBe('answered')
        expect(activity.find(({ type }) => type === 'call-finished')).toMatchObject({
          status: 'timed_out',
        })
        expect(resultsOf(server.requests[1])).toHaveLength(1)
      },
    )
  })

  it('counts tokens if the agent caps them', async () => {
    const settings = { policy: { caps: { rounds: 25, calls: 50, wallMs: 60_000, tokens: 10 } } }
    await withPipeline(
      { model: script(says(call('lookup', { word: 'w' }))), settings, tools: lookup },
      async ({ ask, server }) => {
        expect((await ask('look up a word')).finished).toMatchObject({
          outcome: 'capped',
          cap: 'tokens',
          reply: 'This is the fallback.',
        })
        expect(server.requests).toHaveLength(1)
      },
    )
  })
})

describe('I4, thinking-only responses', () => {
  const lookup = (file: string) => [recordedTool({ name: 'lookup', required: ['word'] }, file)]

  it('lead to two nudges before any tool call; the third request is the last, without tools', async () => {
    await withPipeline(
      {
        model: (request) =>
          request.tool_choice ? says(text('Here it is.')) : says(thinking('hm')),
      },
      async ({ ask, server }) => {
        const { finished } = await ask('think')
        expect(finished).toMatchObject({ outcome: 'answered', reply: 'Here it is.' })
        expect(server.requests.map((request) => request.tool_choice?.type)).toEqual([
          undefined,
          undefined,
          undefined,
          'none',
        ])
      },
    )
  })

  it('end the turn with a reason if the last response only thinks too', async () => {
    await withPipeline({ model: () => says(thinking('hm')) }, async ({ ask, server }) => {
      const { finished } = await ask('think')
      expect(finished).toMatchObject({
        outcome: 'failed',
        reply: 'This is the fallback.',
        class: 'no_progress',
      })
      expect(finished.reason).not.toBe('')
      expect(server.requests).toHaveLength(4)
    })
  })

  it('count over the whole turn too, with any number of tool calls between them', async () => {
    let n = 0
    const model = always(() => {
      n += 1
      return n % 3 === 1 ? says(call('lookup', { word: `w${n}` })) : says(thinking('hm'))
    })
    await withPipeline({ model, tools: lookup }, async ({ ask, server }) => {
      await ask('think and look')
      // Rounds 1, 4, 7, ... read something. The eleventh response that only thinks is the
      // seventeenth.
      expect(server.requests.findIndex((request) => request.tool_choice?.type === 'none')).toBe(17)
    })
  })

  it('go back to the provider unchanged, next to their call', async () => {
    await withPipeline(
      { model: script(says(thinking('first look'), call('lookup', { word: 'w' }))), tools: lookup },
      async ({ ask, server }) => {
        await ask('think and look')
        const assistant = server.requests[1]?.messages.find(({ role }) => role === 'assistant')
        expect((assistant?.content as object[] | undefined)?.[0]).toEqual({
          type: 'thinking',
          thinking: 'first look',
          signature: 'signed',
        })
      },
    )
  })
})

describe('I5, the corrupted stream, the breaker and the stall', () => {
  it('names the required fields at the third schema failure of one tool in a row', async () => {
    await withPipeline(
      { model: always(() => says(call('exec', { cmd: 'ls' }))), tools: execTool },
      async ({ ask, server }) => {
        await ask('list my files')
        expect(resultsOf(server.requests[3])[2]).toBe(
          "Tool 'exec' has failed schema validation 3 times consecutively. The required fields are: command. Do NOT call this tool again without providing all required fields.",
        )
      },
    )
  })

  it('ends the turn as deterministic there if the agent asks for that', async () => {
    const settings = {
      policy: {
        loop: {
          identicalFailures: 3,
          identicalSuccesses: 5,
          cycleLaps: 3,
          schemaFailures: 3,
          schemaFailureEndsTurn: true,
          waitMinutes: 60,
        },
      },
    }
    await withPipeline(
      { model: always(() => says(call('exec', {}))), settings },
      async ({ ask, server }) => {
        expect((await ask('list my files')).finished).toMatchObject({
          outcome: 'failed',
          class: 'deterministic',
          reply: 'This is the fallback.',
        })
        expect(server.requests).toHaveLength(3)
      },
    )
  })

  it('stops waiting for a silent provider, retries, and ends the turn with a reason', async () => {
    const settings = { stallMs: 1_000, attempts: 2 }
    await withPipeline({ model: () => ({ kind: 'stall' }), settings }, async ({ ask, server }) => {
      const { finished } = await ask('hello')
      expect(finished).toMatchObject({
        outcome: 'failed',
        class: 'transient',
        reply: 'This is the fallback.',
      })
      expect(finished.reason).toMatch(/1000 ms/)
      expect(server.requests).toHaveLength(2)
    })
  })
})
