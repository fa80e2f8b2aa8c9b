// A world for the executor's performer: clocks that a test moves, an inbox that folds through the
// real reducer, tools that end on command. Kinder than the real one: one partition, and every
// write is read at once by every owner that is awake.

import { executor } from '../../../services/executor/reducer.ts'
import type { ExecutorTask } from '../../../services/executor/tasks.ts'
import type { Turn } from '../../../services/executor/turn.ts'
import type { Agents } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import type {
  CallsStopped,
  Cancel,
  Claim,
  GuardVerdict,
  Lapsed,
  Message,
  Outcome,
  ProgramsHashed,
  ResultSent,
  RoundCleared,
  Tick,
  TurnEnded,
} from '../../../shared/contract/messages.ts'
import type {
  Performer,
  PerformerContext,
  StartPerformer,
} from '../../../shared/contract/performer.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { StartTool, ToolCall, ToolEnding } from '../../../shared/tools/tool.ts'
import { noBudgets } from '../../support/no-budgets.ts'
import { look, mail } from './samples.ts'

export const agents: Agents = new Map([
  [
    'agent',
    {
      name: 'agent',
      system: '',
      settings: defaultSettings,
      model: { provider: 'anthropic', name: 'model', apiKey: 'secret-key', maxOutputTokens: 100 },
      tools: [mail, look].map((declaration) => ({
        declaration,
        run: { kind: 'command', argv: ['/secret/program'] },
      })),
    },
  ],
])

export type TestClock = Clock & {
  pass(ms: number): void
  /** The machine sleeps: only wall time passes. */
  sleep(ms: number): void
}

export function testClock(): TestClock {
  let wall = 1_000
  let monotonic = 5
  const timers = new Set<{ at: number; fire: () => void }>()
  const advance = (wallMs: number, monotonicMs: number) => {
    wall += wallMs
    monotonic += monotonicMs
    for (const timer of timers) {
      if (timer.at > monotonic) continue
      timers.delete(timer)
      timer.fire()
    }
  }
  return {
    now: () => wall,
    monotonic: () => monotonic,
    after(delayMs, fire) {
      const timer = { at: monotonic + delayMs, fire }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    pass: (ms) => advance(ms, ms),
    sleep: (ms) => advance(ms, 0),
  }
}

export type FakeTool = {
  call: ToolCall
  stops: { graceMs: number; why: string }[]
  end(ending?: Partial<ToolEnding>): Promise<void>
}

/** `startable: false`: no process ever starts. */
export function fakeTools({ startable = true } = {}): { run: StartTool; started: FakeTool[] } {
  const started: FakeTool[] = []
  return {
    started,
    run(_, call) {
      const { promise, resolve } = Promise.withResolvers<ToolEnding>()
      const tool: FakeTool = {
        call,
        stops: [],
        end(ending = {}) {
          resolve({ status: 'ok', text: 'done', reason: '', ...ending })
          return settled()
        },
      }
      started.push(tool)
      return {
        started: Promise.resolve(startable),
        ended: promise,
        stop: (graceMs, why) => tool.stops.push({ graceMs, why }),
      }
    },
  }
}

/** Lets all promises go as far as they can. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

type InboxMessage =
  | RoundCleared
  | TurnEnded
  | Cancel
  | Claim
  | Outcome
  | GuardVerdict
  | Lapsed
  | ProgramsHashed
  | CallsStopped
  | ResultSent
  | Tick

export type Owner = Performer<ExecutorTask> & {
  /** All records that it wrote, to any topic. */
  written: Message[]
  /** Its log lines. */
  lines: string[]
  /** Sees nothing of the log until it wakes. */
  pause(): void
  wake(): void
}

export type OwnerOptions = {
  formerOwnersDead?: boolean
  hasEnded?: PerformerContext['hasEnded']
  guardVerdicts?: PerformerContext['guardVerdicts']
  write?: (messages: Message[]) => Promise<void>
  policies?: PerformerContext['policies']
}

/** An inbox and the owners of its partition. */
export function inbox(clock: TestClock) {
  const units = new Map<string, Turn>()
  const outputs: Message[] = []
  const reconcilers = new Set<(unit: string, tasks: ExecutorTask[]) => void>()

  function append(message: InboxMessage): void {
    const unit = executor.unit(message)
    const turn = units.get(unit)
    if (message.type === 'tick' && (turn === undefined || (executor.due(turn) ?? 0) > clock.now()))
      return
    const { state, records = [] } = executor.react(turn, {
      message,
      offset: 0,
      previous: undefined,
      time: clock.now(),
    })
    if (state === undefined) units.delete(unit)
    else units.set(unit, state)
    outputs.push(...records.map((record) => record.message))
    for (const reconcile of [...reconcilers]) reconcile(unit, tasksOf(unit))
  }

  function tasksOf(unit: string): ExecutorTask[] {
    const turn = units.get(unit)
    return turn === undefined ? [] : executor.wants(turn)
  }

  function own(
    name: string,
    start: StartPerformer<ExecutorTask>,
    {
      formerOwnersDead = false,
      hasEnded,
      guardVerdicts = noVerdicts,
      policies = async () => [],
      write,
    }: OwnerOptions = {},
  ): Owner {
    const written: Message[] = []
    const lines: string[] = []
    let missed = new Set<string>()
    let isPaused = false
    const context: PerformerContext = {
      kept: async () => undefined,
      historyTable: { logTime: () => undefined, keys: async () => [], forget: async () => {} },
      owner: name,
      partition: 0,
      clock,
      formerOwnersDead,
      hasEnded,
      randomId: () => 'random',
      log: createLog({
        level: 'trace',
        destination: { write: (line: string) => lines.push(line) },
      }),
      async write(to, messages) {
        await write?.(messages)
        for (const message of messages) {
          written.push(message)
          if (to === 'self') append(message as InboxMessage)
        }
        return messages.map((_, offset) => ({ partition: 0, offset, time: clock.now() }))
      },
      history: () => Promise.resolve(undefined),
      policy: () => Promise.resolve(undefined),
      policies,
      guardVerdicts,
      budgets: noBudgets,
    }
    const performer = start(context)
    const reconcile = (unit: string, tasks: ExecutorTask[]) => {
      if (isPaused) missed.add(unit)
      else performer.reconcile(unit, tasks)
    }
    reconcilers.add(reconcile)
    for (const unit of units.keys()) reconcile(unit, tasksOf(unit))
    return {
      written,
      lines,
      reconcile: (unit, tasks) => performer.reconcile(unit, tasks),
      close(how) {
        reconcilers.delete(reconcile)
        return performer.close(how)
      },
      pause() {
        isPaused = true
      },
      wake() {
        isPaused = false
        const units = missed
        missed = new Set()
        for (const unit of units) performer.reconcile(unit, tasksOf(unit))
      },
    }
  }

  return { append, own, outputs, tasksOf }
}

async function* noVerdicts(): AsyncGenerator<never> {}
