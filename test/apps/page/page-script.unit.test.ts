import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, it } from '@jest/globals'
import { joinedScript, readyScriptOf } from '../../../apps/page/page-script.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-page-script-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function joined(files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return joinedScript(join(folder, 'main.ts'))
}

it('runs modules with the same names, each with its own variables', () => {
  const script = joined({
    'main.ts': `import { one as first } from './one.ts'\nimport { two } from './two.ts'\nfound(first(), two())\n`,
    'one.ts': `const text: string = 'one'\nexport function one() {\n  return text\n}\n`,
    'two.ts': `const text = 'two'\nexport const two = (): string => text\n`,
  })
  const found: string[][] = []
  runInNewContext(script, { found: (...texts: string[]) => found.push(texts) })
  expect(found).toEqual([['one', 'two']])
})

it('leaves out the comments of our modules, and names each library with its license', () => {
  const script = joined({
    'main.ts': `// Left-out words.\nimport { h } from 'preact'\nimport htm from 'htm'\nimport uPlot from 'uplot'\nimport { createParser } from 'eventsource-parser'\n\n/** More left-out\n * words. */\nexport const used = [h, htm, uPlot, createParser] // kept\n`,
  })
  expect(script).not.toContain('words')
  expect(script).toContain('// kept')
  for (const name of ['preact', 'htm', 'uplot', 'eventsource-parser'])
    expect(script).toMatch(
      new RegExp(`^// ${name} [\\d.]+, license (?:MIT|Apache-2.0), https:`, 'm'),
    )
})

it.each([
  [`import { x } from 'lodash'\n`, /imports lodash, which no page has/],
  [`export default 1\n`, /a line that cannot be joined: export default 1/],
  [`export { x } from './one.ts'\n`, /a line that cannot be joined/],
])('refuses a module that it cannot join: %s', (source, error) => {
  expect(() => joined({ 'main.ts': source })).toThrow(error)
})

it('takes the script that the package has ready, so nothing is joined in a user program', () => {
  const entry = join(folder, 'ready.ts')
  writeFileSync(readyScriptOf(entry), 'made()\n')
  expect(joinedScript(entry)).toBe('made()\n')
})
