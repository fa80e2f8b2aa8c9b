// The processes of a run: several of each stage, each `weir up`, and guards, each `weir guard run`.
// Each process has its own file for its error output. A process that exits without a fault is
// restarted, as a fleet's supervisor would. All faults are noted with their times.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Disturbance, UnexpectedExit } from '../evidence/evidence.ts'
import { environmentOf } from '../support/programs.ts'
import { type Access, flagsOf } from './access.ts'
import { onceGuard } from './guard-world.ts'

const guardFile = fileURLToPath(new URL('guards/risk.ts', import.meta.url))

/** The guests of a run have their own model. */
const noModel = 'http://127.0.0.1:9'

/** The longest time until a process of Weir handles signals, on a busy machine. */
const startingMs = 20_000
const pausedLookMs = 200

/**
 * The job of a process. `frontPort`: it also serves guests there. `optionsFile` belongs to a guard,
 * for guards/risk.ts.
 */
export type Job =
  | { kind: 'stages'; stages: string[]; frontPort?: number }
  | { kind: 'front'; port: number }
  | { kind: 'guard'; guard: string; optionsFile: string }

export type Member = {
  /** Its client id at the broker. */
  readonly name: string
  readonly job: Job
  /** The command of Weir for its next start. */
  program: string
  /** The number of starts. */
  incarnation: number
  startedAt: number
  child: ChildProcess | undefined
  state: 'up' | 'down' | 'paused' | 'leaving'
}

export type FleetOptions = {
  folder: string
  access: Access
  /** The command of Weir for the first processes. */
  program: string
  partitions: number
  agentFile: string
  startsFile: string
}

export type Fleet = {
  readonly members: ReadonlySet<Member>
  readonly disturbances: Disturbance[]
  readonly exits: UnexpectedExit[]
  starts(): number
  /** Adds a process. `name` must be new. */
  add(name: string, job: Job): Member
  /** kill -9. Returns true if the process was alive. */
  kill(member: Member): Promise<boolean>
  start(member: Member): void
  pause(member: Member): boolean
  resume(member: Member): boolean
  /**
   * Sends SIGTERM and waits for the exit, at most `exitMs` before it kills. Returns the exit code.
   * Undefined: it had to be killed.
   */
  leave(member: Member, exitMs: number): Promise<number | null | undefined>
  /** The program of processes that are added later. */
  use(program: string): void
  /**
   * Stops the process as `leave` does, unless another fault has stopped it already, and starts it with this
   * program. A paused process is awaited first.
   */
  replace(member: Member, program: string, exitMs: number): Promise<void>
  /** Ends the supervision too: no process is restarted. */
  leaveAll(exitMs: number): Promise<{ process: string; code: number | null | undefined }[]>
  killAll(): void
}

export function createFleet(options: FleetOptions): Fleet {
  const { folder } = options
  let { program } = options
  mkdirSync(join(folder, 'logs'), { recursive: true })
  const members = new Set<Member>()
  /** Also those that are leaving. */
  const children = new Set<ChildProcess>()
  const disturbances: Disturbance[] = []
  const exits: UnexpectedExit[] = []
  let starts = 0
  let isOver = false

  function start(member: Member): void {
    if (isOver || !members.has(member) || member.state !== 'down') return
    starts += 1
    member.incarnation += 1
    member.startedAt = Date.now()
    const log = openSync(join(folder, 'logs', `${member.name}.${member.incarnation}.log`), 'a')
    const child = spawn(member.program, argumentsOf(member, options), {
      cwd: folder,
      env: environmentOf({ CHAOS_PROCESS: nameOf(member), CHAOS_STARTS: options.startsFile }),
      // A proxy prints its address for a person.
      stdio: ['ignore', member.job.kind === 'front' ? 'ignore' : log, log],
    })
    closeSync(log)
    children.add(child)
    child.on('exit', () => children.delete(child))
    member.child = child
    member.state = 'up'
    child.on('error', () => {}) // its exit reports the error
    child.on('exit', (code, signal) => {
      if (member.child !== child) return
      member.child = undefined
      const isExpected = member.state === 'down' || member.state === 'leaving'
      member.state = 'down'
      if (isExpected) return
      const at = Date.now()
      exits.push({ process: nameOf(member), code, signal, at })
      disturbances.push({ kind: 'exit', process: nameOf(member), from: at - 5_000, to: at })
      setTimeout(() => start(member), 1_000)
    })
  }

  async function kill(member: Member): Promise<boolean> {
    const { child } = member
    if (child === undefined || member.state === 'down') return false
    const from = Date.now()
    const process = nameOf(member)
    member.state = 'down'
    const gone = endOf(child)
    child.kill('SIGKILL')
    await gone
    member.child = undefined
    endPause(process)
    disturbances.push({ kind: 'kill', process, from, to: Date.now() })
    return true
  }

  function endPause(process: string): void {
    const pause = disturbances.findLast((one) => one.kind === 'pause' && one.process === process)
    if (pause?.to === Number.POSITIVE_INFINITY) pause.to = Date.now()
  }

  function leave(member: Member, exitMs: number): Promise<number | null | undefined> {
    members.delete(member) // for good, even while another fault pauses it
    return stop(member, exitMs)
  }

  async function replace(member: Member, next: string, exitMs: number): Promise<void> {
    member.program = next
    while (member.state === 'paused') await sleep(pausedLookMs)
    if (member.state !== 'up') return // the fault that stopped it starts it
    await stop(member, exitMs)
    start(member)
  }

  async function stop(member: Member, exitMs: number): Promise<number | null | undefined> {
    const { child } = member
    if (child === undefined || member.state === 'down') return undefined
    const from = Date.now()
    const process = nameOf(member)
    member.state = 'leaving'
    const gone = endOf(child)
    child.kill('SIGTERM')
    const late = new AbortController()
    const isLate = await Promise.race([
      gone.then(() => false),
      sleep(exitMs, true, { signal: late.signal }).catch(() => false),
    ])
    late.abort()
    if (isLate) child.kill('SIGKILL')
    await gone
    member.state = 'down'
    disturbances.push({ kind: isLate ? 'kill' : 'leave', process, from, to: Date.now() })
    if (isLate) return undefined
    // Until a process handles signals, SIGTERM ends it as any other program. It has begun no work
    // yet.
    const wasStarting = child.signalCode === 'SIGTERM' && from - member.startedAt < startingMs
    return wasStarting ? 0 : child.exitCode
  }

  return {
    members,
    disturbances,
    exits,
    starts: () => starts,
    use(next) {
      program = next
    },
    add(name, job) {
      const member: Member = {
        name,
        job,
        program,
        incarnation: 0,
        startedAt: 0,
        child: undefined,
        state: 'down',
      }
      members.add(member)
      start(member)
      return member
    },
    start,
    kill,
    leave,
    replace,
    pause(member) {
      if (member.state !== 'up' || !member.child?.kill('SIGSTOP')) return false
      member.state = 'paused'
      disturbances.push({
        kind: 'pause',
        process: nameOf(member),
        from: Date.now(),
        to: Number.POSITIVE_INFINITY,
      })
      return true
    },
    resume(member) {
      if (member.state !== 'paused' || !member.child?.kill('SIGCONT')) return false
      member.state = 'up'
      endPause(nameOf(member))
      return true
    },
    async leaveAll(exitMs) {
      isOver = true
      const all = [...members].filter(({ child }) => child !== undefined)
      return Promise.all(
        all.map(async (member) => ({ process: nameOf(member), code: await leave(member, exitMs) })),
      )
    },
    killAll() {
      isOver = true
      for (const member of members) member.state = 'down'
      for (const child of children) child.kill('SIGKILL')
    },
  }
}

/** Its name in tools and logs: `executor-1#3`. */
export function nameOf({ name, incarnation }: Member): string {
  return `${name}#${incarnation}`
}

function argumentsOf(
  { name, job }: Member,
  { folder, access, partitions, agentFile }: FleetOptions,
): string[] {
  const place = [
    ...flagsOf(access.settingsOf(name, principalsOf(job))),
    '--data-folder',
    join(folder, 'data', name),
    '--command-property',
    `client.id=${name}`,
    '--log-level',
    'info',
    ...(job.kind === 'front' ? [] : ['--health-port', '0']),
  ]
  switch (job.kind) {
    case 'stages':
      return [
        'up',
        ...place,
        '--stages',
        job.stages.join(','),
        '--agents',
        agentFile,
        '--partitions',
        `${partitions}`,
        ...(job.frontPort === undefined ? [] : ['--front-port', `${job.frontPort}`]),
      ]
    case 'front':
      return ['proxy', ...place, '--port', `${job.port}`, '--upstream', noModel]
    case 'guard':
      return [
        ...['guard', 'run', isOnce(job.guard) ? job.guard : guardFile, ...place],
        ...['--options', job.optionsFile, '--replace'],
        ...(isOnce(job.guard) ? ['--mode', 'enforce'] : []),
      ]
  }
}

function isOnce(guard: string): boolean {
  return guard === onceGuard.name
}

function principalsOf(job: Job): string[] {
  switch (job.kind) {
    case 'stages':
      return stagePrincipals(job)
    case 'front':
      return ['front']
    case 'guard':
      return guardPrincipals(job.guard)
  }
}

/** A process that serves guests is also a front. */
export function stagePrincipals({
  stages,
  frontPort,
}: Pick<Extract<Job, { kind: 'stages' }>, 'stages' | 'frontPort'>): string[] {
  return frontPort === undefined ? stages : [...stages, 'front']
}

/** A guard's process registers itself, so it is also an operator. The ends of calls are the executor's. */
export function guardPrincipals(guard: string): string[] {
  return [`guard.${guard}`, 'operator', ...(isOnce(guard) ? ['executor'] : [])]
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
}
