// Calls that the client of a conversation runs, through a program: the offer, its result, and the
// results that do not count.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { z } from 'zod'
import { call, says, scriptedModel } from '../../../client/testing/testing.ts'
import {
  type DefinedTool,
  defineAgent,
  defineTool,
  type OfferedCall,
  Weir,
} from '../../../client/weir.ts'

const schema = { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] }
const pick = defineTool({
  name: 'pick',
  description: 'Lets the user pick a colour.',
  parameters: schema,
  client: true,
  timeoutMs: 60_000,
})

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-client-calls-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

function openWith(
  model: ReturnType<typeof scriptedModel>,
  tools: readonly DefinedTool[] = [pick],
): Promise<Weir> {
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools })
  return Weir.open({ agents: [agent], dataFolder: folder, log: pino({ level: 'silent' }) })
}

/** The calls that wait, as soon as there are some. */
async function offers(weir: Weir, conversation: string): Promise<OfferedCall[]> {
  for await (const { type } of weir.conversation(conversation).events())
    if (type === 'call-offered') break
  return weir.conversation(conversation).offeredCalls()
}

describe('a call of a client', () => {
  it('is offered by an event, and its result goes to the model', async () => {
    const model = scriptedModel(says(call('pick', { from: 'red, blue' })), says('Blue it is.'))
    await using weir = await openWith(model)
    const turn = weir.ask({ agent: 'helper', text: 'a colour?', conversation: 'c' })
    for await (const event of turn)
      if (event.type === 'call-offered') {
        expect(event).toMatchObject({ name: 'pick', arguments: { from: 'red, blue' } })
        await weir.conversation('c').sendResult(event, { text: 'blue' })
      }
    expect(await turn.finished).toMatchObject({ outcome: 'answered', reply: 'Blue it is.' })
    expect(model.requests[1]?.results).toEqual(['blue'])
    expect(await weir.conversation('c').offeredCalls()).toEqual([])
  })

  it('passes the validator like every call: only the second one is offered', async () => {
    const model = scriptedModel(
      says(call('pick', {}), call('pick', { from: 'red' })),
      says('It is red.'),
    )
    await using weir = await openWith(model)
    const turn = weir.ask({ agent: 'helper', text: 'a colour?', conversation: 'c' })
    const [only, ...others] = await offers(weir, 'c')
    expect([only?.ordinal, others]).toEqual([1, []])
    await weir.conversation('c').sendResult(only!, { text: 'red' })
    await turn.finished
    expect(model.requests[1]?.results).toEqual([expect.stringContaining('from'), 'red'])
  })

  it('is refused by the check of its own schema, and never offered', async () => {
    const parameters = z.object({ n: z.number().refine((n) => n % 2 === 0, 'n must be even') })
    const even = defineTool({ name: 'even', description: 'Even.', parameters, client: true })
    const model = scriptedModel(says(call('even', { n: 3 })), says('It is odd.'))
    await using weir = await openWith(model, [even])
    const turn = weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    const types: string[] = []
    for await (const { type } of turn) types.push(type)
    expect(types).not.toContain('call-offered')
    expect(model.requests[1]?.results).toEqual([expect.stringContaining('n must be even')])
  })

  it('takes the same result again, and refuses another one or one of no call', async () => {
    const model = scriptedModel(says(call('pick', { from: 'red' })), says('Done.'))
    await using weir = await openWith(model)
    const turn = weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    const [offer] = await offers(weir, 'c')
    const conversation = weir.conversation('c')
    const sent = await Promise.allSettled([
      conversation.sendResult(offer!, { text: 'red' }),
      conversation.sendResult(offer!, { text: 'red' }),
      conversation.sendResult(offer!, { text: 'red', isError: true }),
    ])
    expect(sent).toMatchObject([
      { status: 'fulfilled' },
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'call.over' } },
    ])
    await turn.finished
    await conversation.sendResult(offer!, { text: 'red' })
    const late = { text: 'blue' }
    await expect(conversation.sendResult(offer!, late)).rejects.toMatchObject({ code: 'call.over' })
    for (const place of [
      { ...offer!, ordinal: 1 },
      { ...offer!, turn: 99 },
    ])
      await expect(conversation.sendResult(place, late)).rejects.toMatchObject({
        code: 'call.unknown',
      })
    await expect(weir.conversation('other').sendResult(offer!, late)).rejects.toMatchObject({
      code: 'call.unknown',
    })
    expect(model.requests[1]?.results).toEqual(['red'])
  })

  it('has an unknown outcome without a result in time, and a late one is refused', async () => {
    const quick = defineTool({
      name: 'pick',
      description: 'Picks.',
      parameters: schema,
      client: true,
      timeoutMs: 50,
    })
    const model = scriptedModel(says(call('pick', { from: 'red' })), says('Nobody picked.'))
    await using weir = await openWith(model, [quick])
    const turn = weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    const places: OfferedCall[] = []
    for await (const event of turn) {
      if (event.type === 'call-offered') places.push(event)
      if (event.type === 'call-finished') expect(event.status).toBe('unknown')
    }
    await expect(
      weir.conversation('c').sendResult(places[0]!, { text: 'red' }),
    ).rejects.toMatchObject({ code: 'call.over', message: expect.stringContaining('too late') })
    expect(model.requests[1]?.results).toEqual([expect.stringContaining('may have run')])
  })

  it('is over at once when its turn is cancelled', async () => {
    const model = scriptedModel(says(call('pick', { from: 'red' })))
    await using weir = await openWith(model)
    const turn = weir.ask({ agent: 'helper', text: 'go', conversation: 'c' })
    await offers(weir, 'c')
    await turn.cancel()
    const ends: string[] = []
    for await (const event of turn) if (event.type === 'call-finished') ends.push(event.status)
    expect(ends).toEqual(['unknown'])
    expect((await turn.finished).outcome).toBe('cancelled')
  })

  it('waits through a restart, and another process answers it', async () => {
    const model = scriptedModel(says(call('pick', { from: 'red' })), says('Done.'))
    const first = await openWith(model)
    const asked = first.ask({ agent: 'helper', text: 'go', conversation: 'c', messageId: 'm' })
    asked.finished.catch(() => {})
    await offers(first, 'c')
    await first.close()
    await using weir = await openWith(model)
    const [offer] = await weir.conversation('c').offeredCalls()
    await weir.conversation('c').sendResult(offer!, { text: 'red' })
    const turn = weir.ask({ agent: 'helper', text: 'go', conversation: 'c', messageId: 'm' })
    expect((await turn.finished).reply).toBe('Done.')
  })
})
