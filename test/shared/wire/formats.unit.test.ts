// A format is its folder and one line: docs/internals/extending.md promises it, with Gemini as the example.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { formats } from '../../../shared/wire/formats.ts'
import { proxiedFormats } from '../../../shared/wire/proxied.ts'
import { sessionPrograms } from '../../../shared/wire/sessions.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const textOf = (file: string) => readFileSync(`${root}${file}`, 'utf8')

/** The files of the product whose code names the text. */
function filesThatName(pattern: RegExp): string[] {
  return ['apps', 'client', 'services', 'shared'].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file}`)
      .filter((file) => file.endsWith('.ts') && pattern.test(codeOf(file)))
      .sort(),
  )
}

function codeOf(file: string): string {
  return textOf(file).replaceAll(/^\s*\/\/.*$|\/\*\*?[\s\S]*?\*\//gm, '')
}

describe('a format that needs no SDK', () => {
  it('is a folder, a line in the list, wordings of refusals, and a function for programs', () => {
    const outside = filesThatName(/(?<![-\w])gemini(?![-\w])|\/gemini\//).filter(
      (file) => !file.startsWith('shared/wire/gemini/'),
    )
    expect(outside).toEqual([
      'apps/http/hosts/gemini-cli.ts', // the command of the host
      'apps/http/hosts/host-plugins.ts',
      'client/define/models.ts',
      'client/weir.ts',
      'shared/wire/faults/fault-table.ts',
      'shared/wire/formats.ts',
      'shared/wire/gemini-cli/session.ts', // a message of its model
    ])
    const lines = textOf('shared/wire/formats.ts').match(/^.*gemini.*$/gm)
    expect(lines).toEqual(["import { gemini } from './gemini/format.ts'", '  gemini,'])
  })

  it('has each file of its folder in the worked example', () => {
    const [, example = ''] = textOf('docs/internals/extending.md').split(
      '| file of `shared/wire/gemini/`',
    )
    const table = example.split('\n\n')[0] ?? ''
    const named = [...table.matchAll(/`([\w-]+\.ts)`/g)].map(([, file]) => file)
    expect(named.sort()).toEqual(readdirSync(`${root}shared/wire/gemini`).sort())
  })
})

describe('the list of formats', () => {
  it('has each folder with a format, by its name', () => {
    const folders = readdirSync(`${root}shared/wire`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => readdirSync(`${root}shared/wire/${name}`).includes('format.ts'))
    const names = new Set([...formats, ...proxiedFormats].map(({ name }) => name))
    expect([...names].sort()).toEqual(folders.sort())
  })
})

describe('the list of programs that record sessions', () => {
  it('has each folder with sessions, by its name', () => {
    const folders = readdirSync(`${root}shared/wire`).filter((name) =>
      existsSync(`${root}shared/wire/${name}/session.ts`),
    )
    expect(sessionPrograms.map(({ name }) => name).sort()).toEqual(folders.sort())
  })
})
