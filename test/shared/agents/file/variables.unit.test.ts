import { describe, expect, it } from '@jest/globals'
import { expand, hasVariable } from '../../../../shared/agents/file/variables.ts'

const environment = { A: 'a', B_2: 'b', REF: `\${A}`, EMPTY: '', DOLLAR: '$&$1' }
const nothing = { unset: [], empty: [], malformed: false }

describe('a text with variables', () => {
  it.each([
    ['plain $A {A} $', 'plain $A {A} $'],
    [`x\${A}y\${B_2}\${A}`, 'xayba'],
    [`$\${A} \${A}`, `\${A} a`],
    [`$$\${A}`, `$\${A}`],
    [`\${REF}`, `\${A}`],
    [`\${DOLLAR}`, '$&$1'],
  ])('%j becomes %j', (text, expected) => {
    expect(expand(text, environment)).toEqual({ ...nothing, text: expected })
  })

  it('becomes undefined if a variable is not set or empty, and names each one once', () => {
    expect(expand(`\${X}\${A}\${Y}\${X}\${EMPTY}`, environment)).toEqual({
      ...nothing,
      text: undefined,
      unset: ['X', 'Y'],
      empty: ['EMPTY'],
    })
  })

  it('ignores inherited properties of the environment', () => {
    expect(expand(`\${toString}\${__proto__}`, environment).unset).toEqual([
      'toString',
      '__proto__',
    ])
  })

  it.each([`\${}`, `\${A`, `\${A B}`, `\${1}`, `\${A:-x}`, `\${\${A}}`])(
    'becomes undefined if %j names no variable',
    (text) => {
      expect(expand(text, environment)).toEqual({ ...nothing, text: undefined, malformed: true })
    },
  )

  it('differs from a text without variables', () => {
    expect([`\${A}`, `$\${A}`, '$A', `\${}`].map(hasVariable)).toEqual([true, false, false, false])
  })
})
