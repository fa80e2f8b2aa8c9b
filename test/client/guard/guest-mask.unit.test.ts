// The secrets that a front knows, in all records of its guests: those that it writes, and those that
// the real stages derive.

import { beforeEach, describe, expect, it } from '@jest/globals'
import { guestAgent } from '../../../client/guard/guest-file.ts'
import { guestMask } from '../../../client/guard/guest-mask.ts'
import type { GuestThread, ThreadOptions } from '../../../client/guard/guest-thread.ts'
import { frontInMemory, openMemoryStages } from '../../../client/guard/memory/open-memory.ts'
import type { GuestResults, GuestRound, Message } from '../../../shared/contract/messages.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { declarationOf } from '../../../shared/transcript/transcript.ts'
import { answerOf, requestOf, type Said, saidCall } from '../../support/guest-requests.ts'

const key = 'sk-live-4f9a8b7c6d5e'
const password = 'hunter2'
/** The key as servers and programs repeat it. */
const forms = [
  key,
  key.toUpperCase(),
  Buffer.from(key).toString('base64'),
  Buffer.from(key).toString('hex'),
  key.replaceAll('-', '%2D'),
  `\\u0073${key.slice(1)}`,
]
const tools = [
  declarationOf('exec', `Uses ${key}.`, {
    type: 'object',
    properties: { command: { type: 'string', description: key } },
    required: ['command'],
  }),
]
const asked = (responses: readonly Said[]) =>
  requestOf('anthropic', [{ user: `Use ${key}.`, responses }], tools)

let records: Message[]
let opened: (secrets?: readonly string[]) => (options?: ThreadOptions) => GuestThread

beforeEach(() => {
  records = []
  const log = { warn: () => {}, error: () => {}, info: () => {}, debug: () => {} }
  const stages = openMemoryStages({
    clock: systemClock,
    log,
    observed: (message) => records.push(message),
  })
  const link: typeof stages.link = {
    ...stages.link,
    write(messages) {
      records.push(...messages)
      return stages.link.write(messages)
    },
  }
  opened = (secrets) => {
    const agent = guestAgent('coder')
    const front = frontInMemory({ ...stages, link }, { agent, inForce: [], secrets, log })
    return (options) => front('thread', options)
  }
})

const written = () => JSON.stringify(records)
const ofType = <Type extends Message['type']>(type: Type) =>
  records.filter((one): one is Extract<Message, { type: Type }> => one.type === type)

describe('the records of a guest', () => {
  it('have no form of a key of its client in any text of an answer', async () => {
    for (const form of forms) {
      const thread = opened()({ secrets: () => [key] })
      const request = asked([])
      const answer = answerOf(request, {
        text: `The key is ${form}.`,
        calls: [saidCall('exec', { command: `curl -H "x-api-key: ${form}" a.example` }).calls[0]],
      } as Said)
      Object.assign(answer.answer as object, { stop_reason: form, model: form, id: form })
      await thread.afterModel(answer)
      expect(ofType('guest-round').at(-1)?.response.calls).toHaveLength(1)
      expect(written()).not.toContain(form)
      expect(written()).not.toContain(JSON.stringify(form).slice(1, -1))
    }
    expect(ofType('round-cleared').length).toBeGreaterThan(0)
  })

  it('have no secret of the process in a result, also a short one', async () => {
    const thread = opened([key, password])()
    const call = saidCall(
      'exec',
      { command: 'env' },
      { id: 'c1', result: `KEY=${key} PASSWORD=${password}` },
    )
    await thread.afterModel(answerOf(asked([]), call))
    await thread.beforeModel(asked([call]))
    expect(ofType('round-executed').at(-1)?.results).toMatchObject([
      { status: 'ok', text: 'KEY=[key] PASSWORD=[key]' },
    ])
    expect(written()).not.toContain(key)
    expect(written()).not.toContain(password)
  })

  it('keep a short secret in an answer, because it may be an ordinary word', async () => {
    const thread = opened([password])()
    await thread.afterModel(answerOf(asked([]), saidCall('exec', { command: `ls ${password}` })))
    expect(ofType('guest-round')[0]?.response.calls[0]?.raw).toContain(password)
  })

  it('are unchanged without a secret', async () => {
    await opened([])().afterModel(answerOf(asked([]), saidCall('exec', { command: key })))
    expect(ofType('guest-round')[0]?.response.calls[0]?.raw).toContain(key)
  })

  it('hide the key of one request only from the records of that request', async () => {
    const threadOf = opened()
    await threadOf({ secrets: () => ['rm -rf / --no-preserve-root'] }).beforeModel(asked([]))
    const command = 'rm -rf / --no-preserve-root'
    await threadOf({ secrets: () => [key] }).afterModel(
      answerOf(asked([]), saidCall('exec', { command })),
    )
    expect(ofType('guest-round')[0]?.response.calls[0]?.raw).toContain(command)
  })
})

describe('a guest whose records hide a secret', () => {
  const ids = [`${key}-1`, `${key}-2`]
  const said = {
    text: '',
    calls: ids.flatMap(
      (id, at) =>
        saidCall('exec', { command: `echo ${key} ${at}` }, { id, result: `ran ${at}` }).calls,
    ),
  } as Said

  it('gets each verdict under the id that its model sent', async () => {
    const verdicts = await opened()({ secrets: () => [key] }).afterModel(answerOf(asked([]), said))
    expect(verdicts).toMatchObject(ids.map((callId) => ({ callId, verdict: 'allow' })))
    const [round] = ofType('guest-round')
    const masked = round?.response.calls.map(({ id }) => id) ?? []
    expect(new Set(masked).size).toBe(2)
    expect(written()).not.toContain(key)
  })

  it('gets a denial for the call that its model sent', async () => {
    const bad = saidCall('exec', { cmd: key }, { id: ids[0] ?? '' })
    const verdicts = await opened()({ secrets: () => [key] }).afterModel(answerOf(asked([]), bad))
    expect(verdicts).toMatchObject([{ callId: ids[0], name: 'exec', verdict: 'deny' }])
  })

  it('has each result at its own call', async () => {
    const thread = opened()({ secrets: () => [key] })
    await thread.afterModel(answerOf(asked([]), said))
    await thread.beforeModel(asked([said]))
    expect(ofType('round-executed').at(-1)?.results).toMatchObject([
      { ordinal: 0, status: 'ok', text: 'ran 0' },
      { ordinal: 1, status: 'ok', text: 'ran 1' },
    ])
  })

  it('reports a round and a result again without a second round or result', async () => {
    const threadOf = opened()
    const options = { secrets: () => [key] }
    await threadOf(options).afterModel(answerOf(asked([]), said))
    await threadOf(options).beforeModel(asked([said]))
    await threadOf(options).beforeModel(asked([said]))
    expect(ofType('round-proposed')).toHaveLength(1)
    expect(ofType('round-executed')).toHaveLength(1)
    expect(ofType('guest-advice').flatMap(({ unknown }) => unknown)).toEqual([])
  })

  it('keeps its rounds when its client changes the key', async () => {
    const threadOf = opened()
    const own = saidCall('exec', { command: `echo ${key}` }, { id: 'c1', result: 'ran' })
    await threadOf({ secrets: () => [key] }).afterModel(answerOf(asked([]), own))
    await threadOf({ secrets: () => ['sk-live-next-1234567'] }).beforeModel(asked([own]))
    expect(ofType('round-proposed')).toHaveLength(1)
    expect(ofType('round-executed').at(-1)?.results).toMatchObject([{ status: 'ok', text: 'ran' }])
  })
})

describe('the mask of a record', () => {
  const round = (raw: string) =>
    ({
      type: 'guest-round',
      user: null,
      offered: [],
      declarations: [],
      response: {
        text: '',
        reasoning: key,
        finish: key,
        textCalls: { dialect: 'json', repairs: [], fault: key, held: null },
        calls: [{ id: 'c1', name: key, raw, problem: null, repair: { sent: raw, how: [] } }],
      },
    }) as unknown as GuestRound

  it('reaches reasoning, finish reason, name, faults of a text and the text before a repair', () => {
    const masked = guestMask([key])(round(`{"a":"${key}"}`))
    expect(JSON.stringify(masked)).not.toContain(key)
    expect(masked.response.calls[0]?.problem).toBeNull()
  })

  it('lets no call run whose arguments are no JSON any more', () => {
    const number = '123456789012345678'
    const [call] = guestMask([number])(round(`{"a":${number}}`)).response.calls
    expect(call).toMatchObject({ raw: '{"a":[key]}', problem: 'invalid_json' })
  })

  it('reaches the results of a former turn, the changed arguments and a refusal', () => {
    const result = { callId: key, nth: 0, status: 'ok', text: key, shown: key }
    const results = {
      type: 'guest-results',
      user: key,
      results: [result],
      former: { prompt: '', keys: [], results: [result] },
      refusal: key,
    } as unknown as GuestResults
    expect(JSON.stringify(guestMask([key])(results))).not.toContain(key)
  })
})
