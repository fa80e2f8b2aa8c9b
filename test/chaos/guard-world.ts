// The guards of a run and their operator: the registrations, and `weir guard` and `weir approvals`
// as separate commands. A failed command is repeated, because the broker may be away.

import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentOf } from '../support/programs.ts'
import { type Access, flagsOf } from './access.ts'
import type { RiskOptions } from './guards/risk.ts'

/** `ledger` exists from the beginning and is never removed; `lookout` comes and goes. */
export const guardNames = ['ledger', 'lookout'] as const
export type GuardName = (typeof guardNames)[number]

export const guardKinds: Record<
  GuardName,
  Omit<RiskOptions, 'name' | 'version'> & { instances: number }
> = {
  ledger: { tools: ['pay', 'ch*', 'note'], deadlineMs: 6_000, onTimeout: 'deny', instances: 2 },
  lookout: { tools: ['*'], deadlineMs: 8_000, onTimeout: 'allow', instances: 1 },
}

/** Writes the registration of a guard's version and returns its path, for `--options`. */
export function writeGuard(folder: string, name: GuardName, version: number): string {
  const { instances: _, ...kind } = guardKinds[name]
  mkdirSync(join(folder, 'guards'), { recursive: true })
  const file = join(folder, 'guards', `${name}-${version}.json`)
  const options: RiskOptions = { name, version: `v${version}`, ...kind }
  writeFileSync(file, JSON.stringify(options))
  return file
}

/** The guard of Weir that holds equal calls apart, and its tools. Each process runs until it is killed. */
export const onceGuard = { name: 'once', tools: ['order', 'transfer'], instances: 2 }

/** Writes its options and returns their path, for `--options`. */
export function writeOnceGuard(folder: string): string {
  const file = join(folder, 'once.json')
  writeFileSync(file, JSON.stringify({ tools: onceGuard.tools }))
  return file
}

/** An operator's change, from its first attempt until the command reported success. */
export type GuardChange = { command: string; from: number; to: number }

export type Operator = {
  readonly changes: GuardChange[]
  /** `weir ARGUMENTS`. False: no attempt succeeded in time. */
  command(args: string[], signal: AbortSignal): Promise<boolean>
  /** The program of later commands. */
  use(program: string): void
}

const commandMs = 120_000
const betweenMs = 1_000

export function createOperator({
  folder,
  access,
  program: first,
}: {
  folder: string
  access: Access
  /** The command of Weir. */
  program: string
}): Operator {
  let program = first
  const changes: GuardChange[] = []
  const place = [
    ...flagsOf(access.settingsOf('operator', ['operator'])),
    '--data-folder',
    join(folder, 'data'),
  ]

  return {
    changes,
    use(next) {
      program = next
    },
    async command(args, signal) {
      const change = { command: args.join(' '), from: Date.now(), to: Number.POSITIVE_INFINITY }
      changes.push(change)
      while (!signal.aborted && Date.now() < change.from + commandMs) {
        const { code, errors } = await run(program, [...args, ...place])
        // A command whose reply came too late may have succeeded already.
        if (code === 0 || isDone(args, errors)) {
          change.to = Date.now()
          return true
        }
        await sleep(betweenMs)
      }
      return false
    },
  }
}

/** An earlier try of the command has done it. */
function isDone([command, action]: string[], errors: string): boolean {
  if (command === 'stop') return errors.includes('is stopped already')
  if (command === 'release') return errors.includes('no stop has the id')
  return action === 'remove' && errors.includes('is registered;')
}

function run(program: string, args: string[]): Promise<{ code: number | null; errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: environmentOf(),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text
    })
    child.on('error', (error) => resolve({ code: null, errors: error.message }))
    child.on('close', (code) => resolve({ code, errors }))
  })
}
