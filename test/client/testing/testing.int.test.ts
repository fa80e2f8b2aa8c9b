// weir-agents/testing as a user's tests use it: with Weir, on real files.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { z } from 'zod'
import { startAnthropicServer } from '../../../apps/demo/anthropic-server.ts'
import {
  always,
  call,
  cut,
  fails,
  fakeClock,
  type Reply,
  recordedModel,
  type ScriptedModel,
  says,
  scriptedModel,
  silent,
  thinks,
} from '../../../client/testing/testing.ts'
import {
  anthropic,
  type DefinedModel,
  defineAgent,
  defineTool,
  Weir,
  type WeirOptions,
} from '../../../client/weir.ts'
import { until } from '../../support/inbox.ts'
import { says as saysBlocks, text } from '../../support/script.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-testing-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C in ${city}`,
})

async function openWith(model: DefinedModel, options: Partial<WeirOptions> = {}) {
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [weather] })
  const log = pino({ level: 'silent' })
  const weir = await Weir.open({
    dataFolder: join(folder, 'data'),
    log,
    ...options,
    agents: [agent],
  })
  return { weir, ask: (text: string) => weir.ask({ agent, text }) }
}

async function finishedWith(model: DefinedModel) {
  const { weir, ask } = await openWith(model)
  try {
    return await ask('Do I need a coat in Paris?').finished
  } finally {
    await weir.close()
  }
}

describe('scriptedModel', () => {
  it('answers in turn, and the test sees each request with the results of its calls', async () => {
    const model = scriptedModel(
      says(thinks('A coat?'), 'I look.', call('get_weather', { city: 'Paris' })),
      ({ results }) => says(`No coat: ${results.at(-1)}.`),
    )
    expect(await finishedWith(model)).toMatchObject({
      outcome: 'answered',
      reply: expect.stringContaining('No coat: 18 °C in Paris.'),
    })
    expect(model.requests).toEqual([
      {
        system: 'Help.',
        texts: ['Do I need a coat in Paris?'],
        results: [],
        newResults: [],
        tools: ['get_weather'],
        mayCall: true,
      },
      expect.objectContaining({
        results: ['18 °C in Paris'],
        newResults: ['18 °C in Paris'],
        mayCall: true,
      }),
    ])
  })

  it('sends arguments as raw text, which the validator refuses with the missing field', async () => {
    const model = scriptedModel(says(call('get_weather', '{}')), says('I cannot.'))
    await finishedWith(model)
    expect(model.requests[1]?.results).toEqual([expect.stringContaining("'city'")])
  })

  it.each<[string, Reply]>([
    ['a response that is cut', cut('I lo')],
    ['an overloaded provider', fails(529, 'overloaded', { 'retry-after-ms': '1' })],
  ])('plays %s, and Weir sends the request again', async (_title, first) => {
    const model = scriptedModel(first, says('Done.'))
    expect(await finishedWith(model)).toMatchObject({ outcome: 'answered', reply: 'Done.' })
    expect(model.requests).toHaveLength(2)
  })

  it('refuses a request after the last reply, and Weir does not repeat it', async () => {
    const model: ScriptedModel = scriptedModel(says(call('get_weather', { city: 'Paris' })))
    expect(await finishedWith(model)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('the script has 1 replies, and this is request 2'),
    })
    expect(model.requests).toHaveLength(2)
  })

  it('answers every further request by `always`, which sees whether a call was answered', async () => {
    const model = scriptedModel(
      says('Hello.'),
      always(({ newResults, texts }) =>
        newResults.length > 0
          ? says(`It has ${newResults.join()}.`)
          : says(call('get_weather', { city: texts.at(-1) })),
      ),
    )
    const { weir } = await openWith(model)
    const conversation = 'one'
    const replies: string[] = []
    for (const text of ['Hi', 'Paris', 'Ulm'])
      replies.push((await weir.ask({ agent: 'helper', conversation, text }).finished).reply)
    await weir.close()
    expect(replies).toEqual(['Hello.', 'It has 18 °C in Paris.', 'It has 18 °C in Ulm.'])
    expect(model.requests).toHaveLength(5)
  })

  it('refuses a script in which a reply follows `always`', () => {
    expect(() => scriptedModel(always(says('Again.')), says('Never.'))).toThrow(
      'always(...) is reply 1 of 2',
    )
  })
})

describe('fakeClock', () => {
  it('takes every deadline from the test: a silent model is given up once the clock moves', async () => {
    const clock = fakeClock('2026-03-01T12:00:00Z')
    const model = scriptedModel(silent(), says('Late, but here.'))
    const { weir, ask } = await openWith(model, { bus: { kind: 'embedded', clock } })
    try {
      const turn = ask('Do I need a coat?')
      await until(async () => model.requests.length === 1)
      await until(async () => {
        clock.advance(10_000)
        return model.requests.length === 2
      })
      const { reply, outcome } = await turn.finished
      expect({ reply, outcome }).toEqual({ reply: 'Late, but here.', outcome: 'answered' })
      expect(clock.now()).toBeGreaterThanOrEqual(Date.parse('2026-03-01T12:01:00Z'))
    } finally {
      await weir.close()
    }
  })
})

describe('recordedModel', () => {
  const key = 'sk-ant-very-secret-0123456789'

  it('writes the answers of a real run once, without the key, and answers from the file later', async () => {
    const server = await startAnthropicServer(() => saysBlocks(text('From the provider.')))
    const file = join(folder, 'fixture.json')
    const real = () => anthropic('claude', { baseUrl: server.url, apiKey: key })
    const first = await finishedWith(recordedModel(file, real()))
    await server.close()
    expect(first).toMatchObject({ outcome: 'answered', reply: 'From the provider.' })
    expect(await readFile(file, 'utf8')).not.toContain(key)
    expect(await finishedWith(recordedModel(file, anthropic('claude')))).toMatchObject({
      outcome: 'answered',
      reply: 'From the provider.',
    })
  })

  it('refuses a request that differs from the recorded one, with the place', async () => {
    const file = join(folder, 'fixture.json')
    await finishedWith(recordedModel(file, scriptedModel(says('Recorded.'))))
    const recorded = (await readFile(file, 'utf8')).replace('in Paris?', 'in Ulm?')
    await writeFile(file, recorded)
    const { weir, ask } = await openWith(recordedModel(file, scriptedModel()))
    const finished = await ask('Do I need a coat in Paris?').finished
    await weir.close()
    expect(finished).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining(
        `request 1 differs from the one in ${file}, at /messages/0/content/0/text`,
      ),
    })
  })

  it('refuses a file that is no recording', async () => {
    const file = join(folder, 'fixture.json')
    await writeFile(file, '{}')
    expect(() => recordedModel(file, anthropic('claude'))).toThrow(
      `${file} is no recording of recordedModel: delete it to record again`,
    )
  })
})
