// The GitHub Action: its steps run here, with npx as a script that starts this checkout.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../../..')

type Step = { uses?: string; run?: string; env?: Record<string, string> }

const action: { inputs: Record<string, { default: string }>; runs: { steps: Step[] } } = parse(
  readFileSync(join(root, 'action.yml'), 'utf8'),
)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-action-'))
  const npx = join(folder, 'npx')
  writeFileSync(
    npx,
    `#!/bin/sh\necho "$*" >> "${folder}/asked"\nshift 7\nexec "${root}/bin/weir" "$@"\n`,
  )
  chmodSync(npx, 0o755)
  mkdirSync(join(folder, 'repo', 'agents'), { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs the steps as a runner does: the inputs fill the variables, and a shell of bash each step. */
function run(inputs: Record<string, string> = {}) {
  const file = join(folder, 'summary.md')
  writeFileSync(file, '')
  const inputOf = (name: string) => inputs[name] ?? action.inputs[name]?.default ?? ''
  let out = ''
  let code = 0
  for (const { run: command, env = {} } of action.runs.steps) {
    if (command === undefined) continue
    const own = Object.entries(env).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/, (_, input) => inputOf(input)),
    ])
    try {
      out += execFileSync('bash', ['-eo', 'pipefail', '-c', command], {
        cwd: join(folder, 'repo'),
        encoding: 'utf8',
        env: {
          PATH: `${folder}:${process.env.PATH}`,
          HOME: folder,
          GITHUB_STEP_SUMMARY: file,
          GITHUB_WORKSPACE: join(folder, 'repo'),
          ...Object.fromEntries(own),
        },
      })
    } catch (error) {
      const { status, stdout } = error as { status: number; stdout: string }
      out += stdout
      code = status
    }
  }
  return { code, out, summary: readFileSync(file, 'utf8') }
}

function loop(command: string, { tool = 'Bash', result = 'no rule' } = {}): void {
  const line = (type: string, content: unknown) =>
    JSON.stringify({ type, uuid: 'u', sessionId: 's', message: { role: type, content } })
  const rounds = Array.from({ length: 12 }, (_, n) => [
    line('assistant', [{ type: 'tool_use', id: `t${n}`, name: tool, input: { command } }]),
    line('user', [{ type: 'tool_result', tool_use_id: `t${n}`, content: result, is_error: true }]),
  ])
  const file = join(folder, 'repo', 'agents', 'a.jsonl')
  writeFileSync(file, [line('user', 'Build.'), ...rounds.flat()].join('\n'))
}

describe('the action', () => {
  it('annotates each loop, and writes the table into the summary of the job', () => {
    loop('make')
    const { code, out, summary } = run()
    expect(code).toBe(0)
    expect(out).toContain(
      '::warning file=agents/a.jsonl,title=Weir%3A loop::1. Claude Code, turn 1',
    )
    expect(summary).toContain('| agent | sessions | sub-agents |')
    expect(summary).toContain('| `claude-code` | 1 | 0 | 1 | 12 | 12 | 12 | 0 |')
    expect(summary).toContain('`agents/a.jsonl`')
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const packages = `--package node@24 --package weir-agents@${version}`
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toMatch(`--yes ${packages} -- weir scan `)
    expect(action.runs.steps.filter(({ uses }) => uses !== undefined)).toEqual([])
  })

  it('fails for a loop only if fail-on is loops', () => {
    loop('make')
    expect(run({ 'fail-on': 'loops' }).code).toBe(1)
  })

  it('reads the bundles of the repository too', () => {
    copyFileSync(
      join(root, 'test/bundles/i1-reflex-loop.weir'),
      join(folder, 'repo', 'incident.weir'),
    )
    expect(run().summary).toMatch(/\| `weir` \| 1 \|/)
  })

  it('runs no part of an input or of a session as a command', () => {
    loop('a`b`|c\n::error::gone')
    const { out, summary } = run({ path: './agents/$(touch gone)/..' })
    expect(out + summary).not.toMatch(/^\s*::error/m)
    expect(run().out).not.toMatch(/^\s*::error/m)
    expect(() => readFileSync(join(folder, 'repo', 'gone'))).toThrow()
  })

  it('stops commands while it prints texts of sessions', () => {
    loop('make', { tool: '::error title=x::forged', result: '##[error]forged' })
    const { out } = run()
    const [, before, word, screen] =
      /^([\s\S]*)^::stop-commands::([0-9a-f-]{36})\n([\s\S]*)^::\2::\n$/m.exec(out) ?? []
    expect(before).toMatch(/^::warning file=[^\n]*\n$/)
    expect(screen).toContain('  ::error title=x::forged')
    expect(screen).toContain('##[error]forged')
    expect(screen).not.toContain(word)
  })

  it('warns if it found no session', () => {
    const { code, out, summary } = run({ path: 'agents', 'fail-on': 'loops' })
    expect(code).toBe(0)
    expect(out).toContain('::warning title=Weir::No session was found in agents.\n')
    expect(summary).toContain('No session was found in agents.')
    expect(summary).not.toContain('No loop')
  })
})
