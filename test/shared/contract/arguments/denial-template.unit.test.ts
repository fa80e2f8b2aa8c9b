// The denial texts that a tool's agent file defines.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { filledTemplate } from '../../../../shared/contract/arguments/denial-template.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { callOf, rejectionOf, tool } from '../../../services/validator/round.ts'

const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, mode: { enum: ['read', 'write'] } },
  required: ['path'],
  additionalProperties: false,
}

function refused(denial: string, raw: string, name = 'open') {
  const declared = {
    ...tool('open', schema),
    hints: {
      mutates: null,
      ignoreFields: [],
      loopKey: [],
      denial,
      labels: [],
      client: false,
      once: null,
    },
  }
  return rejectionOf(callOf(raw, { name }), [declared])
}

describe('a denial in the words of its tool', () => {
  it('fills in the fault, the accepted values, the sent value and the name', () => {
    const denial = refused(
      '{tool} says no: {problems}. {accepted} Not again: {sent}',
      '{"path":"a","mode":"reed","modes":1}',
    )
    expect(denial?.text).toBe(
      'open says no: unknown field \'modes\'; field \'mode\' must be one of "read", "write". ' +
        "Did you mean 'mode'? Did you mean 'read'? Accepted fields: 'path', 'mode'. Required fields: 'path'. " +
        'Not again: {"path":"a","mode":"reed","modes":1}',
    )
  })

  it('keeps the short reason, which identifies loops', () => {
    expect(refused('Nope.', '{}')).toMatchObject({
      code: 'schema',
      reason: "missing required field 'path'",
      text: 'Nope.',
    })
  })

  it('is used for each kind of denial of the tool', () => {
    expect(refused('<{problems}>', '[1]')?.text).toBe(
      '<the arguments are not a JSON object: they are an array>',
    )
    expect(refused('<{problems}>', '{"path":')?.text).toContain('<the arguments are not valid JSON')
  })

  it('is not used for a tool that is not offered', () => {
    expect(refused('Nope.', '{}', 'opens')?.text).toContain("Did you mean 'open'?")
  })

  it('ignores placeholders in the text of a model', () => {
    expect(refused('{sent}', '{"path":"{tool} {problems}","x":1}')?.text).toBe(
      '{"path":"{tool} {problems}","x":1}',
    )
  })

  it('is bounded even if it quotes the sent value many times', () => {
    const text =
      refused('{sent}'.repeat(600), JSON.stringify({ x: 'y'.repeat(100_000) }))?.text ?? ''
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.denialTextBytesMax)
  })

  it('leaves other texts in braces unchanged', () => {
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
