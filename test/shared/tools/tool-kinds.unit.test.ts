// The files that a new kind of tool touches: docs/internals/extending.md lists all of them.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '../../..')
const kinds = ['command', 'http', 'module', 'mcp', 'function', 'client']
/** The kinds that an agent file and a program write by a key of this name. */
const written = ['command', 'http', 'module']

it('the list of a new tool kind in the documentation has each file that tells most kinds apart', () => {
  const page = readFileSync(join(root, 'docs/internals/extending.md'), 'utf8')
  const section = page.split('\n## ').find((text) => text.startsWith('A tool kind\n')) ?? ''
  const listed = [...section.matchAll(/`([\w/-]+\.ts)`/g)]
    .flatMap(([, file]) => file ?? [])
    .filter((file) => !file.startsWith('test/') && file !== 'shared/tools/tool.ts')
  expect(listed.sort()).toEqual(sources().filter(tellsKindsApart).sort())
})

function sources(): string[] {
  return ['apps', 'client', 'services', 'shared'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  )
}

function tellsKindsApart(file: string): boolean {
  const text = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const compared = kinds.filter((kind) => new RegExp(`(case|kind [!=]==) '${kind}'`).test(text))
  const hasKey = (kind: string) =>
    new RegExp(`^ *(\\| \\{ )?${kind}\\??:|content\\.${kind}\\b|'${kind}'`, 'm').test(text)
  return compared.length >= 3 || written.every(hasKey)
}
