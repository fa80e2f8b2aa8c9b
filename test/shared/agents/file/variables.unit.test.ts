import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { expand, hasVariable } from '../../../../shared/agents/file/variables.ts'

const environment = { A: 'a', B_2: 'b', REF: `\${A}`, EMPTY: '', DOLLAR: '$&$1' }
const nothing = { unset: [], empty: [], faults: [] }
const expandText = (text: string, folder = '/') => expand(text, { environment, folder })

describe('a text with variables', () => {
  it.each([
    ['plain $A {A} $', 'plain $A {A} $'],
    [`x\${A}y\${B_2}\${A}`, 'xayba'],
    [`$\${A} \${A}`, `\${A} a`],
    [`$$\${A}`, `$\${A}`],
    [`\${REF}`, `\${A}`],
    [`\${DOLLAR}`, '$&$1'],
  ])('%j becomes %j', (text, expected) => {
    expect(expandText(text)).toMatchObject({ ...nothing, text: expected })
  })

  it('becomes undefined if a variable is not set or empty, and names each one once', () => {
    expect(expandText(`\${X}\${A}\${Y}\${X}\${EMPTY}`)).toMatchObject({
      ...nothing,
      text: undefined,
      unset: ['X', 'Y'],
      empty: ['EMPTY'],
    })
  })

  it('ignores inherited properties of the environment', () => {
    expect(expandText(`\${toString}\${__proto__}`).unset).toEqual(['toString', '__proto__'])
  })

  it.each([`\${}`, `\${A`, `\${A B}`, `\${1}`, `\${A:-x}`, `\${\${A}}`])(
    'becomes undefined if %j names no variable',
    (text) => {
      expect(expandText(text)).toMatchObject({
        text: undefined,
        faults: [expect.stringContaining(`must be \${NAME}, \${file:PATH}`)],
      })
    },
  )

  it('gets the content of a file without its last line end, relative to the folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-variables-'))
    try {
      writeFileSync(join(folder, 'key'), 'sk-1\n')
      writeFileSync(join(folder, 'blank'), '\n')
      expect(expandText(`Bearer \${file:key}`, folder)).toEqual({
        ...nothing,
        text: 'Bearer sk-1',
        values: ['sk-1'],
      })
      expect(expandText(`\${file:${join(folder, 'key')}}`)).toMatchObject({ text: 'sk-1' })
      expect(expandText(`\${file:missing}\${file:blank}`, folder)).toMatchObject({
        text: undefined,
        faults: [
          'refers to the file missing, which does not exist',
          'refers to the file blank, which is empty',
        ],
      })
      expect(expandText(`\${file:..}`, folder).faults).toEqual([
        'refers to the file .., which is a folder; must be a file',
      ])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('names the values that stand in it', () => {
    expect(expandText(`x\${A}y\${B_2}`).values).toEqual(['a', 'b'])
  })

  it('differs from a text without variables', () => {
    expect([`\${A}`, `\${file:a}`, `$\${A}`, '$A', `\${}`].map(hasVariable)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
