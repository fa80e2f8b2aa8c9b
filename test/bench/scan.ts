// `weir scan` over 1,000 stored sessions of 100 calls, in the form of Claude Code: CPU time, and the peak
// memory against that of the first 250. Run alone: node test/bench/scan.ts
//
// A third of the calls reads 40 lines, a third runs a test, and a third edits a file. No two calls are
// equal. Not measured: loops, secrets, other programs, a cold disk, other work on the machine.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scan } from '../../apps/replay/scan/scan.ts'
import { output } from '../support/output.ts'
import type { Row } from './row.ts'

const sessions = 1_000
const calls = 100

export async function benchScan(count = sessions): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'weir-bench-scan-'))
  try {
    const first = count / 4
    write(home, 0, first)
    await scanned(home, first)
    const before = process.resourceUsage().maxRSS
    write(home, first, count)
    const cpu = process.cpuUsage()
    await scanned(home, count)
    const { user, system } = process.cpuUsage(cpu)
    const peak = process.resourceUsage().maxRSS
    const name = `scan of ${count} sessions of ${calls} calls`
    return [
      { name: `${name}: CPU time`, value: (user + system) / 1e6, unit: 's' },
      {
        name: `${name}: peak memory of the process`,
        value: peak / 1024,
        unit: 'MiB',
        baseline: `after ${first} sessions`,
        ratio: peak / before,
      },
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function scanned(home: string, count: number): Promise<void> {
  const { stream, text } = output()
  await scan({ json: true }, { home, environment: {}, guardText: () => undefined, out: stream })
  const found = JSON.parse(text())
  if (found.agents[0].sessions !== count || found.loops !== 0) throw new Error(text())
}

function write(home: string, from: number, to: number): void {
  const folder = join(home, '.claude/projects/p')
  mkdirSync(folder, { recursive: true })
  for (let n = from; n < to; n += 1) writeFileSync(join(folder, `${n}.jsonl`), sessionOf(`s${n}`))
}

function sessionOf(sessionId: string): string {
  let at = 0
  const line = (type: string, content: unknown, message: object = {}) => {
    at += 1
    const timestamp = new Date(Date.UTC(2026, 9, 1) + at * 1_000).toISOString()
    const said = { role: type, content, ...message }
    return JSON.stringify({ type, sessionId, uuid: `${sessionId} ${at}`, timestamp, message: said })
  }
  const rounds = Array.from({ length: calls }, (_, n) => {
    const [name, input, text] = callOf(n)
    const use = { type: 'tool_use', id: `${sessionId} t${n}`, name, input }
    const usage = { input_tokens: 50, output_tokens: 30, cache_read_input_tokens: 20_000 + n }
    const model = { id: `${sessionId} msg_${n}`, model: 'claude-sonnet-4-5', usage }
    return [
      line('assistant', [{ type: 'text', text: `Step ${n}` }, use], model),
      line('user', [{ type: 'tool_result', tool_use_id: `${sessionId} t${n}`, content: text }]),
    ]
  })
  return [line('user', 'Do it.'), ...rounds.flat()].join('\n')
}

function callOf(n: number): [name: string, input: object, text: string] {
  const file_path = `/home/ann/shop/src/file${n}.ts`
  if (n % 3 === 0) {
    const lines = Array.from({ length: 40 }, (_, at) => `${at} const value${n}_${at} = ${n * at}`)
    return ['Read', { file_path }, lines.join('\n')]
  }
  if (n % 3 === 1)
    return ['Bash', { command: `npm test -- --grep case${n}` }, `ok ${n}\n${'x'.repeat(300)}`]
  const edit = { file_path, old_string: `value${n}`, new_string: `other${n}` }
  return ['Edit', edit, `The file has been updated ${n}`]
}

if (import.meta.main) console.table(await benchScan(Number(process.argv[2] ?? sessions)))
