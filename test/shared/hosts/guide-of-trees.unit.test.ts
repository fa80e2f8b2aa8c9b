// The table of the guide of trees: the facts that each front knows about a tree, by the profiles of the hosts.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { hostProfiles } from '../../../shared/hosts/profiles.ts'

const guide = readFileSync(new URL('../../../docs/guard/budgets.md', import.meta.url), 'utf8')
const rows = guide
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))
const rowOf = (host: string, front: string) =>
  rows.find(([name = '']) => name.startsWith(front) && name.includes(host))

const withTrees = hostProfiles.filter(({ starts }) => starts !== undefined)
const others = hostProfiles.filter(({ starts }) => starts === undefined)

describe('the guide of trees', () => {
  it.each(withTrees)(
    'names the header of the parent of $title, or states that none is known',
    (host) => {
      const [, root = '', parent = ''] = rowOf(host.title, 'proxy') ?? []
      const { identity } = host
      if (identity.parent === undefined) {
        expect([root, parent]).toEqual(['the session, by headers', 'not known'])
        expect(identity.session.length * identity.agent.length).toBeGreaterThan(0)
      } else for (const { header } of identity.parent) expect(parent).toContain(`\`${header}\``)
    },
  )

  it.each(withTrees)('names a tool of $title that starts an agent', ({ title, starts }) => {
    const line = guide.replaceAll('\n', ' ')
    const named = new RegExp(`((?:\`\\w+\`(?:,| or)? ?)+)\\(${title}\\)`).exec(line)?.[1] ?? ''
    const tools = [...named.matchAll(/`(\w+)`/g)].map(([, tool]) => tool)
    expect(tools.length).toBeGreaterThan(0)
    expect(starts?.tools).toEqual(expect.arrayContaining(tools))
  })

  it('names no other host in its rows, because no other one has tools that start an agent', () => {
    for (const { title } of others) expect(rowOf(title, '')).toBeUndefined()
  })

  it.each(
    withTrees.flatMap(({ title, starts }) =>
      (starts?.reports ?? [])
        .filter((tool) => !tool.startsWith('multi'))
        .map((tool) => [title, tool]),
    ),
  )('names for hooks of %s the tool %s, which reports the end of an agent', (title, tool) => {
    expect(rowOf(title, 'hooks')?.[3]).toContain(`\`${tool}\``)
  })
})
