// The guards of a run, and an operator's hand: what each registers, and `weir guard` and `weir
// approvals` as a command of its own that is given again until it worked, as the broker may be
// away.

import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { environment, weir } from './fleet.ts'
import type { RiskOptions } from './guards/risk.ts'

/** `ledger` is there from the beginning, and never removed; `lookout` comes and goes. */
export const guardNames = ['ledger', 'lookout'] as const
export type GuardName = (typeof guardNames)[number]

export const guardKinds: Record<
  GuardName,
  Omit<RiskOptions, 'name' | 'version'> & { instances: number }
> = {
  ledger: { tools: ['pay', 'ch*', 'note'], deadlineMs: 6_000, onTimeout: 'reject', instances: 2 },
  lookout: { tools: ['*'], deadlineMs: 8_000, onTimeout: 'allow', instances: 1 },
}

/** Writes what a version of the guard registers; returns the path, for `--options`. */
export function writeGuard(folder: string, name: GuardName, version: number): string {
  const { instances: _, ...kind } = guardKinds[name]
  mkdirSync(join(folder, 'guards'), { recursive: true })
  const file = join(folder, 'guards', `${name}-${version}.json`)
  const options: RiskOptions = { name, version: `v${version}`, ...kind }
  writeFileSync(file, JSON.stringify(options))
  return file
}

/**
 * A change that an operator made, from the first attempt until the command said that it is done.
 */
export type GuardChange = { what: string; from: number; to: number }

export type Operator = {
  readonly changes: GuardChange[]
  /** `weir ARGUMENTS`. False: it did not work in time. */
  command(args: string[], signal: AbortSignal): Promise<boolean>
}

const commandMs = 120_000
const betweenMs = 1_000

export function createOperator({
  folder,
  bootstrapServers,
  prefix,
}: {
  folder: string
  bootstrapServers: string
  prefix: string
}): Operator {
  const changes: GuardChange[] = []
  const place = [
    '--bus',
    'kafka',
    '--bootstrap-server',
    bootstrapServers,
    '--topic-prefix',
    prefix,
    '--data-folder',
    join(folder, 'data'),
  ]

  return {
    changes,
    async command(args, signal) {
      const change = { what: args.join(' '), from: Date.now(), to: Number.POSITIVE_INFINITY }
      changes.push(change)
      while (!signal.aborted && Date.now() < change.from + commandMs) {
        const { code, errors } = await run([...args, ...place])
        // A command that was answered too late may have done it already.
        if (code === 0 || (args[1] === 'remove' && errors.includes('is registered;'))) {
          change.to = Date.now()
          return true
        }
        await sleep(betweenMs)
      }
      return false
    },
  }
}

function run(args: string[]): Promise<{ code: number | null; errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(weir, args, { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text
    })
    child.on('error', (error) => resolve({ code: null, errors: error.message }))
    child.on('close', (code) => resolve({ code, errors }))
  })
}
