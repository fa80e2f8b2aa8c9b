// The checkpoints of Entire in a repository, in both of its layouts.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { scan } from '../../../../apps/replay/scan/scan.ts'
import { output } from '../../../support/output.ts'

let home: string
let repo: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'weir-entire-'))
  repo = join(home, 'repo')
  mkdirSync(repo)
  git('init', '-q')
})
afterEach(() => rmSync(home, { recursive: true }))

function git(...args: string[]): string {
  const names = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false']
  return execFileSync('git', ['-C', repo, ...names, ...args], { encoding: 'utf8' }).trim()
}

/** The commit of a tree with these files. */
function commit(files: Record<string, string>): string {
  git('read-tree', '--empty')
  for (const [path, text] of Object.entries(files)) {
    const file = join(home, 'blob')
    writeFileSync(file, text)
    git('update-index', '--add', '--cacheinfo', `100644,${git('hash-object', '-w', file)},${path}`)
  }
  return git('commit-tree', '-m', 'checkpoint', git('write-tree'))
}

const metadata = (session_id: string, agent: string) => JSON.stringify({ session_id, agent })

function claude(sessionId: string, rounds: number, more: object = {}): string {
  const line = (type: string, content: unknown, n: number) =>
    JSON.stringify({
      type,
      sessionId,
      uuid: `${sessionId} ${n}`,
      parentUuid: n === 0 ? null : `${sessionId} ${n - 1}`,
      cwd: '/elsewhere',
      message: { role: type, content },
      ...more,
    })
  return Array.from({ length: rounds }, (_, n) => [
    line('user', `Step ${n}.`, 2 * n),
    line('assistant', [{ type: 'text', text: `Done ${n}.` }], 2 * n + 1),
  ])
    .flat()
    .join('\n')
}

async function facts(options: object = {}) {
  const { stream, text } = output()
  await scan(
    { repo, json: true, ...options },
    { home, environment: {}, guardText: () => undefined, out: stream },
  )
  const { agents } = JSON.parse(text())
  return agents.map((one: Record<string, unknown>) => [
    one.agent,
    one.sessions,
    one.subAgents,
    one.turns,
  ])
}

describe('the checkpoints of Entire', () => {
  it('count each session once, with its longest transcript and its sub-agents', async () => {
    const tip = commit({
      'a1/b2c3d4e5f6/0/metadata.json': metadata('s1', 'Claude Code'),
      'a1/b2c3d4e5f6/0/full.jsonl': claude('s1', 2),
      'a1/b2c3d4e5f6/metadata.json': '{}',
      'f6/b2c3d4e5f6/0/metadata.json': metadata('s1', 'Claude Code'),
      'f6/b2c3d4e5f6/0/full.jsonl': claude('s1', 3),
      'f6/b2c3d4e5f6/0/prompt.txt': 'Step.',
      'f6/b2c3d4e5f6/tasks/t1/agent-a.jsonl': claude('s1', 2, { isSidechain: true }),
    })
    git('update-ref', 'refs/heads/entire/checkpoints/v1', tip)
    git('update-ref', 'refs/remotes/origin/entire/checkpoints/v1', tip)
    expect(await facts()).toEqual([['claude-code', 1, 1, 5]])
  })

  it('are read from a ref each, in parts, by the agent that each one names', async () => {
    const [first = '', ...rest] = claude('s2', 2).split('\n')
    const exported = {
      info: { id: 'x' },
      messages: [
        { info: { role: 'user' }, parts: [{ type: 'text', text: 'hi' }] },
        { info: { role: 'assistant' }, parts: [{ type: 'text', text: 'Hello.' }] },
      ],
    }
    const tip = commit({
      '0/metadata.json': metadata('s2', 'Claude Code'),
      '0/full.jsonl': first,
      '0/full.jsonl.001': rest.join('\n'),
      '1/metadata.json': metadata('s3', 'OpenCode'),
      '1/full.jsonl': JSON.stringify(exported),
    })
    git('update-ref', 'refs/entire/checkpoints/HN/01KVBJCWYA4YW6J5M9GP655ZHN', tip)
    expect((await facts()).sort()).toEqual([
      ['claude-code', 1, 0, 2],
      ['opencode', 1, 0, 1],
    ])
    expect(await facts({ agent: ['opencode'] })).toEqual([['opencode', 1, 0, 1]])
  })

  it('count no session again that the agent has on this machine', async () => {
    const own = join(home, '.claude/projects/p/s4.jsonl')
    mkdirSync(dirname(own), { recursive: true })
    writeFileSync(own, claude('s4', 3, { cwd: repo }))
    const tip = commit({
      '0/metadata.json': metadata('s4', 'Claude Code'),
      '0/full.jsonl': claude('s4', 2),
    })
    git('update-ref', 'refs/entire/checkpoints/HN/01KVBJCWYA4YW6J5M9GP655ZHN', tip)
    expect(await facts()).toEqual([['claude-code', 1, 0, 3]])
  })

  it('are none in a folder that is no repository', async () => {
    rmSync(join(repo, '.git'), { recursive: true })
    expect(await facts()).toEqual([])
  })

  it('that Git cannot read are left out, next to those that it can read', async () => {
    git('update-ref', 'refs/entire/checkpoints/blob', git('hash-object', '-w', '.git/config'))
    const tip = commit({
      '0/metadata.json': metadata('s5', 'Claude Code'),
      '0/full.jsonl': claude('s5', 2),
    })
    git('update-ref', 'refs/entire/checkpoints/good', tip)
    expect(await facts()).toEqual([['claude-code', 1, 0, 2]])
    const blob = git('rev-parse', `${tip}:0/full.jsonl`)
    rmSync(join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)))
    expect(await facts()).toEqual([])
  })
})
