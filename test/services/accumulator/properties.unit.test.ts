import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import type { PartEvent, Stop } from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { callStart, event, finished, opened, part, proposedFor } from './stream.ts'

const stops: Stop[] = ['end', 'calls', 'length', 'refusal', 'cut', 'other']
const argumentText = fc.oneof(
  fc.json(),
  fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary' }),
  fc.tuple(fc.json(), fc.nat()).map(([text, end]) => text.slice(0, end % (text.length + 1))),
)

describe('any argument text of a model', () => {
  it('gives the same call in any chunking', () => {
    fc.assert(
      fc.property(
        argumentText,
        fc.array(fc.nat()),
        fc.constantFrom(...stops),
        fc.boolean(),
        (text, cuts, stop, ended) => {
          const deltas = chunks(text, cuts).map((chunk) => event('call_arguments', chunk))
          const end = ended ? [event('call_end')] : []
          const whole = proposedFor([callStart(), event('call_arguments', text), ...end], { stop })
          expect(proposedFor([callStart(), ...deltas, ...end], { stop })).toEqual(whole)
        },
      ),
    )
  })

  it('stays as sent, and a call without a problem has the text of an object', () => {
    fc.assert(
      fc.property(
        argumentText,
        argumentText,
        fc.constantFrom(...stops),
        fc.boolean(),
        (start, text, stop, ended) => {
          const events = [
            callStart({ text: start }),
            event('call_arguments', text),
            ...(ended ? [event('call_end')] : []),
          ]
          const [call] = proposedFor(events, { stop }).response.calls
          const sent = [text, start].find((one) => one.trim() !== '') ?? ''
          expect(call?.repair?.sent ?? call?.raw).toBe(sent)
          if (call?.problem === null) expect(JSON.parse(call.raw)).toEqual(expect.any(Object))
        },
      ),
    )
  })

  it('never makes the reducer throw, with events in any order', () => {
    const kinds: PartEvent['kind'][] = ['text', 'reasoning', 'call_arguments', 'call_end', 'error']
    const anyEvent = fc.record({
      kind: fc.constantFrom(...kinds),
      index: fc.nat(3),
      text: fc.string(),
      id: fc.constant(null),
      name: fc.constant(null),
    })
    fc.assert(
      fc.property(
        fc.array(anyEvent),
        fc.subarray([0, 1, 2, 3]),
        fc.constantFrom(...stops),
        (events, begun, stop) => {
          const starts = begun.map((index) => callStart({ index, id: `id${index}` }))
          const proposed = proposedFor([...starts, ...events], { stop })
          expect(proposed.response.calls.length).toBe(proposed.failure === null ? begun.length : 0)
        },
      ),
    )
  })
})

describe('any order in the log', () => {
  const events = [
    callStart(),
    event('call_arguments', '{"a":'),
    event('call_arguments', '[1,2]'),
    event('call_arguments', '}'),
    event('call_end'),
  ]

  it('gives the same response, with repeated parts and parts of another attempt in between', () => {
    const parts = events.map((each, i) => part(i, each))
    const whole = given(accumulator, opened(), ...parts, finished({ parts: parts.length })).to(
      'next',
    )
    const others = parts.map((each) => ({
      ...each,
      attempt: 'other',
      events: [event('call_arguments', '"spliced"')],
    }))
    const log = fc
      .tuple(fc.array(fc.constantFrom(...parts, ...others)), fc.constant(parts))
      .chain(([repeated, all]) =>
        fc.shuffledSubarray([...all, ...repeated], { minLength: all.length + repeated.length }),
      )
    fc.assert(
      fc.property(log, (records) => {
        expect(
          given(accumulator, opened(), ...records, finished({ parts: parts.length })).to('next'),
        ).toEqual(whole)
      }),
    )
  })

  it('gives the same response for any grouping of the events into parts', () => {
    const whole = proposedFor(events)
    fc.assert(
      fc.property(fc.array(fc.nat(events.length), { maxLength: 6 }), (cuts) => {
        const groups = slices(events, cuts)
        const parts = groups.map((group, i) => part(i, ...group))
        expect(
          given(accumulator, opened(), ...parts, finished({ parts: parts.length })).to('next'),
        ).toEqual([whole])
      }),
    )
  })
})

function chunks(text: string, cuts: number[]): string[] {
  return slices(
    [...text.split('')],
    cuts.map((cut) => (text.length === 0 ? 0 : cut % text.length)),
  ).map((units) => units.join(''))
}

/** The items in order, cut at these places. Some slices may be empty. */
function slices<T>(items: T[], cuts: number[]): T[][] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), items.length]
  return places.slice(1).map((end, i) => items.slice(places[i], end))
}
