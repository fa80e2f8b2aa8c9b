// Tools that succeed or fail, hang, ignore their abort, or crash their process. The ledger records
// every start.

import type { StartTool, ToolEnding } from '../../../shared/tools/tool.ts'
import type { Chaos } from '../chaos.ts'
import type { Machine } from '../machine.ts'
import type { Scheduler } from '../scheduler.ts'
import type { World } from './provider.ts'
import { childTool } from './trees.ts'

export function toolsOf(
  { ledger, random, startChild }: World,
  machine: Machine,
  chaos: Chaos,
  scheduler: Scheduler,
): StartTool {
  return (run, call) => {
    const tool = run.kind === 'command' ? run.argv[0] : childTool
    const isStarted = !random.chance(0.02)
    let end = (_ending: ToolEnding): void => {}
    const ended = new Promise<ToolEnding>((resolve) => {
      end = resolve
    })
    if (!isStarted) {
      machine.after(1, () => end({ status: 'error', text: 'not started', reason: 'not started' }))
      return { started: Promise.resolve(false), ended, stop: () => {} }
    }
    ledger.starts.push({
      call: call.idempotencyKey,
      tool,
      process: machine.name,
      at: scheduler.now(),
    })
    if (run.kind === 'function' && startChild !== undefined) {
      const child = startChild(run, call, machine)
      chaos.strike(machine, true)
      return child
    }
    const status = random.weighted([
      [6, 'ok'],
      [3, 'error'],
      [1, 'hangs'],
    ] as const)
    const ownMs = random.weighted([
      [6, random.between(1, 300)],
      [2, random.between(300, 5000)],
      [1, random.between(5000, 60_000)],
    ])
    if (status !== 'hangs' && ownMs < call.timeoutMs)
      machine.after(ownMs, () =>
        end({
          status,
          text: random.chance(0.3) ? 'the same result' : `result ${ledger.starts.length}`,
          reason: status === 'ok' ? '' : 'failed',
        }),
      )
    else
      machine.after(call.timeoutMs + random.between(0, call.graceMs), () =>
        end({ status: 'timed_out', text: 'it took too long', reason: 'timed out' }),
      )
    const started = new Promise<boolean>((resolve) => {
      machine.after(random.between(0, 3), () => resolve(true))
    })
    chaos.strike(machine, true)
    return {
      started,
      ended,
      stop(graceMs) {
        machine.after(random.between(0, graceMs), () =>
          end({ status: 'unknown', text: 'it was stopped', reason: 'stopped' }),
        )
      },
    }
  }
}
