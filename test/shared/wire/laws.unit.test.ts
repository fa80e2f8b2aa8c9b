// The two laws of a format. An answer that is read and printed again means the same to the official SDK,
// on all recorded streams. An answer that is printed and read again is the same answer.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { foldResponse } from '../../../services/accumulator/response.ts'
import type { PartEvent } from '../../../shared/contract/messages.ts'
import { noUsage } from '../../../shared/contract/turn/no-usage.ts'
import type { AnswerItem, Finished, ModelAnswer } from '../../../shared/wire/exchange.ts'
import { canBeDenied, type VetoedFormat } from '../../../shared/wire/proxied.ts'
import { receivedAnswer } from '../../../shared/wire/streamed-answer.ts'
import {
  type EventData,
  type StrictAnswer,
  StrictFault,
} from '../../../shared/wire/strict/strict.ts'
import { strictObject } from '../../../shared/wire/strict/strict-json.ts'
import { modelFormats } from '../../support/model-formats.ts'
import { type Api, streamFixtures } from '../../support/provider-streams.ts'
import { sdkAnswer } from '../../support/sdk-answer.ts'

const vetoed = modelFormats.filter(canBeDenied)

/** The prints of a client that gets this stream, and the answer that was read. */
function throughWire({ stream, strict }: VetoedFormat, bytes: Buffer): [Buffer, StrictAnswer] {
  const events = stream.framing.read()
  const reader = strict.stream()
  const client = strict.client()
  const shown = [...events.take(bytes), ...events.end()].flatMap((data) => reader.read(data))
  const answer = reader.end()
  const printed = stream.framing.print([...client.shown(shown), ...client.rest(answer)])
  return [Buffer.from(printed), answer]
}

const essence = ({ items }: ModelAnswer) =>
  items.map((item) =>
    item.kind === 'call' ? [item.id, item.name, item.arguments] : [item.kind, textOf(item)],
  )
const textOf = (item: AnswerItem) => (item.kind === 'text' ? item.text : '')

describe.each(vetoed.map((format) => [format.name, format] as const))('%s', (name, format) => {
  const fixtures = streamFixtures(name as Api) ?? []

  const recorded = fixtures.length === 0 ? it.skip : it
  const cases = fixtures.map(({ name: title, bytes }) => ({ title, bytes }))
  recorded.each(
    cases.length === 0 ? [{ title: 'none is recorded', bytes: Buffer.from('') }] : cases,
  )('means the same to the SDK if it is read and printed: $title', async ({ bytes }) => {
    let through: [Buffer, StrictAnswer]
    try {
      through = throughWire(format, bytes)
    } catch (error) {
      expect(error).toBeInstanceOf(StrictFault)
      return
    }
    const [printed, answer] = through
    const meant = await sdkAnswer(name as Api, bytes).catch(() => undefined)
    const again = await sdkAnswer(name as Api, `${printed}`).catch(() => undefined)
    if (meant !== undefined && !repaired.has(JSON.stringify(essence(answer))))
      expect(again).toEqual(meant)
    // A print is a fixed point: read again, it is the same answer and the same print.
    const [twice, second] = throughWire(format, printed)
    expect(twice).toEqual(printed)
    expect(essence(second)).toEqual(essence(answer))
  })

  it('is the same answer if it is printed and read', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const { framing, events } = format.stream
        const printed = Buffer.from(framing.print(events(answer) as EventData[]))
        const [, streamed] = throughWire(format, printed)
        expect(essence(streamed)).toEqual(essence(answer))
        const whole = JSON.stringify(format.answer.write(answer))
        expect(essence(format.strict.whole(strictObject(whole)))).toEqual(essence(answer))
        expect(await lenient(format, printed, framing.type)).toEqual(calledIn(answer))
        expect(await lenient(format, Buffer.from(whole), 'application/json')).toEqual(
          calledIn(answer),
        )
      }),
      { numRuns: 40 },
    )
  })
})

/** Clients join the pieces of these calls, which have one place and two ids. */
const repaired = new Set([
  '[["c1","w","{\\"city\\":\\"Rome\\"}"],["c2","w","{\\"city\\":\\"Oslo\\"}"]]',
])

const args = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(fc.string(), fc.integer(), fc.boolean()))
  .map((value) => JSON.stringify(value))

const answers: fc.Arbitrary<ModelAnswer> = fc
  .record({
    text: fc.string({ unit: 'grapheme' }).filter((text) => text.trim() !== ''),
    calls: fc.array(fc.record({ name: fc.stringMatching(/^[a-z_]{1,12}$/), args }), {
      maxLength: 3,
    }),
  })
  .map(({ text, calls }) => ({
    id: 'a1',
    model: 'm',
    items: [
      { kind: 'text' as const, text },
      ...calls.map(({ name, args: given }, n) => ({
        kind: 'call' as const,
        id: `call_${n}`,
        name,
        arguments: given,
      })),
    ],
    stop: calls.length === 0 ? ('end' as const) : ('calls' as const),
    finish: '',
    usage: noUsage,
  }))

const calledIn = ({ items }: ModelAnswer) => ({
  text: items.map(textOf).join(''),
  calls: items.flatMap((item) => (item.kind === 'call' ? [[item.id, item.name]] : [])),
})

/** The answer as the lenient reader and the accumulator read it. */
async function lenient({ answer }: VetoedFormat, body: Buffer, type: string) {
  const response = new Response(new Uint8Array(body), { headers: { 'content-type': type } })
  const parts: PartEvent[][] = []
  let end: Finished | undefined
  for await (const one of receivedAnswer(answer.reader({ secret: [] }), response)) {
    if (one.kind === 'failed') throw new Error(one.reason)
    if (one.kind === 'events') parts.push(one.events)
    else end = one
  }
  if (end === undefined) throw new Error('no end')
  const { response: folded } = foldResponse(parts, { attempt: '', ...end }, [])
  return { text: folded.text, calls: folded.calls.map(({ id, name }) => [id, name]) }
}
