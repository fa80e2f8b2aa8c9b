// The events of a conversation are a function of its activity. Parts only bring text earlier.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Activity } from '../../../client/edge/edge.ts'
import { createEventFold } from '../../../client/turn/event-fold.ts'
import type { TurnEvent } from '../../../client/turn/turn-event.ts'
import type { MessageOf, Part } from '../../../shared/contract/messages.ts'
import {
  callDenied,
  callFinished,
  part,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../../support/activity.ts'

const place = { conversation: 'c', turn: 7, round: 1 }
const usage = { inputTokens: 9, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 }

function answered(
  text: string,
  fields: Partial<MessageOf<'model-answered'>> = {},
): MessageOf<'model-answered'> {
  const sent = '{"city":"Paris"}'
  const call = { ordinal: 0, id: 'call_1', name: 'exec', problem: null }
  return {
    type: 'model-answered',
    ...place,
    attempt: 'a',
    text,
    textBytes: text.length,
    calls: [{ ...call, arguments: sent, argumentsBytes: sent.length }],
    stop: 'calls',
    usage,
    ...fields,
  }
}

const retry: Activity = {
  type: 'model-retry',
  ...place,
  attempt: 'a',
  next: 2,
  reason: 'the provider answered 429',
  waitMs: 1_000,
}

/** Offsets count from 1. */
function play(records: (Activity | Part)[]): TurnEvent[] {
  const fold = createEventFold()
  let offset = 0
  return records.flatMap((record) => {
    if (record.type === 'part') return fold.part(record)
    offset += 1
    return fold.activity({ id: `x/0/${offset}/0`, offset, message: record })
  })
}

function brief(event: TurnEvent): string {
  return event.type === 'text-delta' ? `text ${event.text}` : event.type
}

const begun = [turnStarted(), roundStarted()]

describe('the text of a round', () => {
  it('comes whole in front of the response if no part was read', () => {
    expect(play([...begun, answered('Hello.')]).map(brief)).toEqual([
      ...['turn-started', 'round-started', 'text Hello.', 'model-answered'],
    ])
  })

  it('is completed by the response if parts are missing', () => {
    expect(
      play([...begun, part(0, ['Hel']), answered('Hello.')])
        .map(brief)
        .slice(2),
    ).toEqual([...['text Hel', 'text lo.', 'model-answered']])
  })

  it('is void and comes again if the response has another one', () => {
    const calls = part(0, ['<call>x</call>'])
    expect(
      play([...begun, calls, answered('')])
        .map(brief)
        .slice(2),
    ).toEqual([...['text <call>x</call>', 'text-reset', 'model-answered']])
    const other = answered('Hello.', { attempt: 'b' })
    expect(
      play([...begun, part(0, ['Hi']), other])
        .map(brief)
        .slice(2),
    ).toEqual([...['text Hi', 'text-reset', 'text Hello.', 'model-answered']])
  })

  it('is void once its attempt failed, and late parts of that attempt are skipped', () => {
    const again = part(0, ['new'], { attempt: 'b' })
    const late = part(1, ['late'])
    expect(
      play([...begun, part(0, ['old']), retry, late, again])
        .map(brief)
        .slice(2),
    ).toEqual([...['text old', 'text-reset', 'model-retry', 'text new']])
  })

  it('has no part after its response', () => {
    expect(play([...begun, answered('Hello.'), part(0, ['Hello.'])]).map(brief)).toHaveLength(4)
  })

  it('adds up to the same for any cut into parts, with and without them', () => {
    const cuts = fc.array(fc.string({ minLength: 1 }), { maxLength: 5 })
    fc.assert(
      fc.property(cuts, fc.nat(5), (pieces, read) => {
        const whole = pieces.join('')
        const parts = pieces.slice(0, read).map((piece, i) => part(i, [piece]))
        const end = answered(whole, { textBytes: Buffer.byteLength(whole) })
        const events = play([...begun, ...parts, end])
        const texts = events.flatMap((event) => (event.type === 'text-delta' ? event.text : []))
        expect(texts.join('')).toBe(whole)
        expect(events.filter(({ type }) => type === 'text-reset')).toEqual([])
      }),
    )
  })
})

describe('the arguments of a call', () => {
  const inputs = (call: Partial<MessageOf<'model-answered'>['calls'][number]>) => {
    const sent = call.arguments ?? ''
    const whole = { ordinal: 0, id: '', name: 'exec', problem: null, argumentsBytes: sent.length }
    const calls = [{ arguments: sent, ...whole, ...call }]
    return play([...begun, answered('', { calls }), toolStarted()]).flatMap((event) =>
      event.type === 'tool-started' ? [event.arguments] : [],
    )
  }

  it('are in the response, in a denial and in a start, as text and as a value', () => {
    const events = play([...begun, answered(''), callDenied('no'), toolStarted()])
    for (const event of events)
      if (event.type === 'call-denied' || event.type === 'tool-started')
        expect(event).toMatchObject({
          arguments: { city: 'Paris' },
          rawArguments: '{"city":"Paris"}',
        })
    expect(events).toMatchObject([{}, {}, { calls: [{ arguments: { city: 'Paris' } }] }, {}, {}])
  })

  it('have no value if they are cut, broken or no object', () => {
    expect(inputs({ arguments: '{"a":1', argumentsBytes: 99 })).toEqual([null])
    expect(inputs({ arguments: '{"a":', problem: 'invalid_json' })).toEqual([null])
    expect(inputs({ arguments: '[1]', problem: 'not_an_object' })).toEqual([null])
  })

  it('are an empty object if the model sent none', () => {
    expect(inputs({ arguments: '', problem: 'no_arguments' })).toEqual([{}])
  })

  it('are unknown if the response was not read', () => {
    expect(play([...begun, toolStarted()]).at(-1)).toMatchObject({
      arguments: null,
      rawArguments: '',
    })
  })
})

it('gives no event for a repeated record', () => {
  const fold = createEventFold()
  const record = { id: 'x/0/1/0', offset: 1, message: turnStarted() }
  expect([...fold.activity(record), ...fold.activity(record)]).toHaveLength(1)
})

describe('the JSON of each kind of event', () => {
  const intervention = {
    ...({ action: 'nudge', ordinary: false, rule: 'cycle', ruleVersion: 1, key: 'exec' } as const),
    reason: 'x',
    text: 'Stop.',
    class: null,
    evidence: [],
  }
  const pending = {
    ordinal: 0,
    name: 'exec',
    arguments: '{"city":"Paris"}',
    id: '1a',
    hash: '9f',
    rule: 'all',
    source: null,
    program: null,
    question: null,
  }
  const verdict = { ordinal: 0, verdict: 'allow', code: '', text: '', evidence: null } as const
  const records: (Activity | Part)[] = [
    ...begun,
    part(0, [{ kind: 'reasoning', text: 'hm' }, 'Hel']),
    retry,
    part(0, ['Hello.'], { attempt: 'b' }),
    answered('Hello.', { attempt: 'b' }),
    callDenied('no such field'),
    { type: 'intervention-raised', ...place, intervention, shadow: false },
    {
      type: 'calls-waiting',
      ...place,
      until: 9_000,
      calls: [{ ordinal: 0, name: 'exec', guards: ['approval'] }],
    },
    { type: 'approval-pending', ...place, calls: [pending], until: 9_000 },
    {
      type: 'approval-decided',
      ...place,
      ordinal: 0,
      name: 'exec',
      id: '1a',
      outcome: 'allow',
      by: 'ada',
      reason: '',
      waitedMs: 5,
      identity: 'claimed',
    },
    {
      type: 'guard-verdict-given',
      ...place,
      guard: 'approval',
      version: '1',
      answer: 'verdicts',
      verdicts: [verdict],
      waitedMs: 5,
    },
    toolStarted(),
    { type: 'call-offered', ...place, ordinal: 0, name: 'exec', until: 9_000 },
    callFinished(),
    turnFinished(),
  ]

  it('is this, and changes only with its version', () => {
    expect(play(records).map((event) => JSON.stringify(event))).toMatchInlineSnapshot(`
[
  "{"v":2,"position":"1","type":"turn-started","parent":null,"conversation":"c","turn":7,"messageId":"m","agent":"agent"}",
  "{"v":2,"position":"2","type":"round-started","conversation":"c","turn":7,"round":1,"callsLeft":100,"nudged":false,"key":"","turnKey":"","caps":null}",
  "{"v":2,"position":"2.0.2.a","type":"reasoning-delta","conversation":"c","turn":7,"round":1,"text":"hm"}",
  "{"v":2,"position":"2.3.2.a","type":"text-delta","conversation":"c","turn":7,"round":1,"text":"Hel"}",
  "{"v":2,"position":"2","type":"text-reset","conversation":"c","turn":7,"round":1}",
  "{"v":2,"position":"3","type":"model-retry","conversation":"c","turn":7,"round":1,"attempt":"a","next":2,"reason":"the provider answered 429","waitMs":1000}",
  "{"v":2,"position":"3.6.0.b","type":"text-delta","conversation":"c","turn":7,"round":1,"text":"Hello."}",
  "{"v":2,"position":"4","type":"model-answered","conversation":"c","turn":7,"round":1,"attempt":"b","text":"Hello.","textBytes":6,"calls":[{"ordinal":0,"id":"call_1","name":"exec","problem":null,"arguments":{"city":"Paris"},"argumentsBytes":16,"rawArguments":"{\\"city\\":\\"Paris\\"}"}],"stop":"calls","usage":{"inputTokens":9,"outputTokens":4,"cacheReadTokens":0,"cacheWriteTokens":0}}",
  "{"v":2,"position":"5","type":"call-denied","conversation":"c","turn":7,"round":1,"ordinal":0,"name":"exec","reason":"no such field","text":"Tool call rejected before execution.","arguments":{"city":"Paris"},"rawArguments":"{\\"city\\":\\"Paris\\"}"}",
  "{"v":2,"position":"6","type":"intervention-raised","conversation":"c","turn":7,"round":1,"intervention":{"action":"nudge","ordinary":false,"rule":"cycle","ruleVersion":1,"key":"exec","reason":"x","text":"Stop.","class":null,"evidence":[]},"shadow":false}",
  "{"v":2,"position":"7","type":"calls-waiting","conversation":"c","turn":7,"round":1,"until":9000,"calls":[{"ordinal":0,"name":"exec","guards":["approval"]}]}",
  "{"v":2,"position":"8","type":"approval-pending","conversation":"c","turn":7,"round":1,"calls":[{"ordinal":0,"name":"exec","arguments":{"city":"Paris"},"id":"1a","hash":"9f","rule":"all","source":null,"program":null,"question":null,"rawArguments":"{\\"city\\":\\"Paris\\"}"}],"until":9000}",
  "{"v":2,"position":"9","type":"approval-decided","conversation":"c","turn":7,"round":1,"ordinal":0,"name":"exec","id":"1a","outcome":"allow","by":"ada","reason":"","waitedMs":5,"identity":"claimed"}",
  "{"v":2,"position":"10","type":"guard-verdict-given","conversation":"c","turn":7,"round":1,"guard":"approval","version":"1","answer":"verdicts","verdicts":[{"ordinal":0,"verdict":"allow","code":"","text":"","evidence":null}],"waitedMs":5}",
  "{"v":2,"position":"11","type":"tool-started","conversation":"c","turn":7,"round":1,"ordinal":0,"try":1,"name":"exec","arguments":{"city":"Paris"},"rawArguments":"{\\"city\\":\\"Paris\\"}"}",
  "{"v":2,"position":"12","type":"call-offered","conversation":"c","turn":7,"round":1,"ordinal":0,"name":"exec","until":9000,"arguments":{"city":"Paris"},"rawArguments":"{\\"city\\":\\"Paris\\"}"}",
  "{"v":2,"position":"13","type":"call-finished","conversation":"c","turn":7,"round":1,"ordinal":0,"name":"exec","status":"ok","reason":"","durationMs":300,"result":"done","resultId":"","guard":"","resultBytes":4,"rawResult":"done"}",
  "{"v":2,"position":"14","type":"turn-finished","conversation":"c","turn":7,"messageId":"m","outcome":"answered","reply":"Done.","reason":"the model answered","class":null,"cap":null,"totals":{"rounds":2,"calls":1,"inputTokens":120,"outputTokens":30,"wallMs":3210}}",
]
`)
  })
})
