// The text of refusals as a tool's agent file words it.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { filledTemplate } from '../../../../shared/contract/arguments/refusal-template.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { callOf, rejectionOf, tool } from '../../../services/validator/round.ts'

const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, mode: { enum: ['read', 'write'] } },
  required: ['path'],
  additionalProperties: false,
}

function refused(refusal: string, raw: string, name = 'open') {
  const declared = {
    ...tool('open', schema),
    hints: { mutates: null, ignoreFields: [], loopKey: [], refusal },
  }
  return rejectionOf(callOf(raw, { name }), [declared])
}

describe('a refusal in the words of its tool', () => {
  it('has what was wrong, what would be accepted, what was sent and the name where its author wants them', () => {
    const said = refused(
      '{tool} says no: {problems}. {accepted} Not again: {sent}',
      '{"path":"a","mode":"reed","modes":1}',
    )
    expect(said?.text).toBe(
      'open says no: unknown field \'modes\'; field \'mode\' must be one of "read", "write". ' +
        "Did you mean 'mode'? Did you mean 'read'? Accepted fields: 'path', 'mode'. Required fields: 'path'. " +
        'Not again: {"path":"a","mode":"reed","modes":1}',
    )
  })

  it('keeps the short reason, by which loops are told', () => {
    expect(refused('Nope.', '{}')).toMatchObject({
      code: 'schema',
      reason: "missing required field 'path'",
      text: 'Nope.',
    })
  })

  it('is used for each way in which a call of the tool is refused', () => {
    expect(refused('<{problems}>', '[1]')?.text).toBe(
      '<the arguments are not a JSON object: they are an array>',
    )
    expect(refused('<{problems}>', '{"path":')?.text).toContain('<the arguments are not valid JSON')
  })

  it('is not that of a tool which nobody offered', () => {
    expect(refused('Nope.', '{}', 'opens')?.text).toContain("Did you mean 'open'?")
  })

  it('does not read placeholders in what a model sent', () => {
    expect(refused('{sent}', '{"path":"{tool} {problems}","x":1}')?.text).toBe(
      '{"path":"{tool} {problems}","x":1}',
    )
  })

  it('is bounded, however often it quotes what was sent', () => {
    const text =
      refused('{sent}'.repeat(600), JSON.stringify({ x: 'y'.repeat(100_000) }))?.text ?? ''
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.refusalTextBytesMax)
  })

  it('leaves everything else in braces alone', () => {
    const braces = fc.string().filter((text) => !/\{(?:problems|accepted|sent|tool)\}/.test(text))
    fc.assert(
      fc.property(braces, (text) => {
        expect(filledTemplate(text, { problems: 'p', accepted: 'a', sent: 's', tool: 't' })).toBe(
          text,
        )
      }),
    )
  })
})
