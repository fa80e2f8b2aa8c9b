import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from '@jest/globals'
import { loadGuard } from '../../../client/guards/load-guard.ts'

const fileOf = (guard: string) =>
  fileURLToPath(new URL(`../../../services/guards/${guard}/guard.ts`, import.meta.url))
const spend = { tools: ['pay'], argument: 'cents', limits: { day: '1' } }

describe('the guards that ship', () => {
  it('load with their options, as in weir guard run', async () => {
    expect(
      await loadGuard(fileOf('shell'), { tools: ['bash'], allowedFolders: ['/work'] }),
    ).toMatchObject({
      name: 'shell',
      tools: ['bash'],
      onTimeout: 'deny',
    })
    expect(
      await loadGuard(fileOf('spend'), {
        tools: ['pay'],
        argument: 'cents',
        limits: { day: '1' },
        name: 'budget',
      }),
    ).toMatchObject({
      name: 'budget',
    })
  })

  it('name a missing option', async () => {
    await expect(loadGuard(fileOf('shell'))).rejects.toThrow(
      "the shell guard's tools is missing. Give it the names of the tools that run commands, e.g. ['bash'].",
    )
    await expect(loadGuard(fileOf('spend'))).rejects.toThrow("the spend guard's tools is missing")
  })

  it.each([
    [
      'shell',
      { tools: ['bash'], allowedFolders: ['/work'], onlyComands: ['ls'] },
      'onlyComands',
      'onlyCommands',
    ],
    ['spend', { ...spend, curency: { argument: 'currency', is: 'EUR' } }, 'curency', 'currency'],
    ['spend', { ...spend, decimal: 0 }, 'decimal', 'decimals'],
    ['spend', { ...spend, limits: { call: '1', dayly: '1' } }, 'dayly', 'day'],
    ['spend', { ...spend, currency: { argument: 'currency', is: 'EUR', iz: '' } }, 'iz', 'is'],
  ])(
    'refuse an unknown option of %s and name the intended one: %j',
    async (guard, options, key, near) => {
      await expect(loadGuard(fileOf(guard), options)).rejects.toMatchObject({
        code: 'guard.invalid',
        message: expect.stringContaining(
          `have "${key}", which is no key here; did you mean ${near}?`,
        ),
      })
    },
  )

  it('refuse an option of another guard, and list the available ones', async () => {
    await expect(loadGuard(fileOf('spend'), { ...spend, deadlineMs: 5 })).rejects.toThrow(
      '"deadlineMs", which is no key here; there are name, tools, argument,',
    )
    await expect(loadGuard(fileOf('spend'), { ...spend, limits: { dya: '1' } })).rejects.toThrow(
      `the spend guard's limits have "dya", which is no key here; there are call, conversation, day`,
    )
  })
})

describe('a custom guard', () => {
  const own = `name: 'own', version: '1', tools: ['*'], deadlineMs: 500, onTimeout: 'deny', judge: () => ({ verdicts: [] })`
  const folder = mkdtempSync(join(tmpdir(), 'weir-guards-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const written = (name: string, source: string) => {
    const file = join(folder, `${name}.mjs`)
    writeFileSync(file, source)
    return file
  }

  it.each([
    ['deadline: 5', 'deadline', 'did you mean deadlineMs?'],
    ["onTimout: 'allow'", 'onTimout', 'did you mean onTimeout?'],
    ["mode: 'enforce'", 'mode', 'judge. A mode is set by --mode or weir guard mode'],
  ])('is refused if it has an unknown key: %s', async (field, key, advice) => {
    const loading = loadGuard(written(key, `export default { ${own}, ${field} }`))
    await expect(loading).rejects.toMatchObject({ code: 'guard.invalid' })
    await expect(loading).rejects.toThrow(`the guard has "${key}"`)
    await expect(loading).rejects.toThrow(advice)
  })

  it('is refused with all its mistakes at once', async () => {
    const source = `export default { name: 'own', version: 1, tools: '*', deadlineMs: 500, onTimout: 'allow' }`
    await expect(loadGuard(written('wrong', source))).rejects.toThrow(
      /"onTimout".*; version is 1; must be a text; tools is "\*"; must be a list of patterns; onTimeout is missing; must be 'deny' or 'allow'; judge is missing; must be a function$/,
    )
  })

  it('is refused with all values beyond a limit at once', async () => {
    const source = `export default { ${own}, name: 'My guard', tools: [''], deadlineMs: -1 }`
    await expect(loadGuard(written('ranges', source))).rejects.toThrow(
      /its name is "My guard".*; a pattern of tools is "".*; its deadline is -1 ms; it must be a whole/,
    )
  })

  it('is refused with the line of its file at which it throws', async () => {
    const source = `const rules = undefined\n\nexport default { ${own}, tools: rules.tools }`
    await expect(loadGuard(written('throws', source))).rejects.toThrow(
      /throws\.mjs: it cannot be loaded: Cannot read properties of undefined.* \(line 3\)$/,
    )
  })

  it('gets its options if it is a function, and refuses options otherwise', async () => {
    const withOptions = `export default (options) => ({ ${own}, version: JSON.stringify(options) })`
    expect(await loadGuard(written('function', withOptions), { a: 1 })).toMatchObject({
      version: '{"a":1}',
    })
    expect(await loadGuard(written('function', withOptions))).toMatchObject({ version: '{}' })
    const object = written('object', `export default { ${own} }`)
    expect(await loadGuard(object)).toMatchObject({ name: 'own' })
    await expect(loadGuard(object, {})).rejects.toMatchObject({
      code: 'guard.invalid',
      message: `${object}: it accepts no options: its default export is not a function`,
    })
  })
})
