// The site (bin/site.ts): each page of the docs, with links that lead somewhere.

import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'weir-site-'))
const textOf = (page: string) => readFileSync(join(folder, page), 'utf8')
let pages: string[]

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'bin/site.ts'), folder], { stdio: 'pipe' })
  pages = globSync('**/*.html', { cwd: folder })
})
afterAll(() => rmSync(folder, { recursive: true }))

it('has a page for README.md, for each page of the docs, and for each plug-in', () => {
  const sources = globSync(['*.md', 'docs/**/*.md', 'integrations/*/README.md'], { cwd: root })
  expect(pages).toHaveLength(sources.length)
  expect(textOf('index.html')).toContain('<h1 id="weir">Weir</h1>')
  expect(textOf('docs/reference/rules.html')).toContain(
    '<link rel="stylesheet" href="../../style.css">',
  )
})

it('links only to files and headings that it has', () => {
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/ (?:href|src)="(?![a-z]+:)([^"]+)"/g)].map(([, link = '']) => {
      const [path = '', anchor] = link.split('#')
      return { page, link, anchor, file: path === '' ? page : join(dirname(page), path) }
    }),
  )
  expect(links.length).toBeGreaterThan(300)
  const dead = links.filter(
    ({ file, anchor }) =>
      !existsSync(join(folder, file)) ||
      (anchor !== undefined && !textOf(file).includes(` id="${anchor}"`)),
  )
  expect(dead).toEqual([])
})

it('has no script and loads nothing from elsewhere', () => {
  for (const page of pages)
    expect(textOf(page)).not.toMatch(/<script|<(?:img|link)[^>]+(?:src|href)="[a-z]+:/)
})
