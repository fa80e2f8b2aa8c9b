// `make version`: a change of .changeset becomes a line of CHANGELOG.md, and raises the version.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'weir-version-'))
const textOf = (path: string) => readFileSync(join(folder, path), 'utf8')
afterAll(() => rmSync(folder, { recursive: true }))

it('raises the version by a waiting change, and keeps the sections of earlier versions', () => {
  for (const path of ['.changeset', 'CHANGELOG.md', 'package.json'])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  for (const file of readdirSync(join(folder, '.changeset')))
    if (file.endsWith('.md')) rmSync(join(folder, '.changeset', file))
  const former = textOf('CHANGELOG.md')
  const { version, ...manifest } = JSON.parse(textOf('package.json'))
  const change = '---\n"weir-agents": major\n---\n\n`weir stop` takes a pattern.\nNames stay.\n'
  writeFileSync(join(folder, '.changeset', 'stop-by-name.md'), change)

  execFileSync(process.execPath, [join(root, 'bin/version.ts'), folder], { stdio: 'pipe' })

  const next = `${Number(version.split('.')[0]) + 1}.0.0`
  expect(JSON.parse(textOf('package.json'))).toEqual({ ...manifest, version: next })
  expect(readdirSync(join(folder, '.changeset'))).not.toContain('stop-by-name.md')
  const [title, ...rest] = former.split('\n\n')
  expect(textOf('CHANGELOG.md')).toBe(
    `${title}\n\n## ${next}\n\n### Major Changes\n\n- \`weir stop\` takes a pattern.\n  Names stay.\n\n${rest.join('\n\n')}`,
  )
})
