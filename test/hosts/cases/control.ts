// A guard, a person or the death of Weir stops calls of a host's own tools.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelServer, ScriptedAnswer } from '../model-server.ts'
import { command, nameOf, type Program, startProgram } from '../programs/program.ts'
import type { RunningServer } from '../weir-process.ts'
import { type Case, type Front, type Result, type Setting, within } from './case.ts'
import { finalText } from './incidents.ts'

const call = (program: Program, text: string): ScriptedAnswer => ({
  calls: [command(program, text)],
})

/** The text of the last tool result that the model has read. */
const readByModel = ({ requests }: ModelServer) => JSON.stringify(requests.at(-1)?.body ?? {})

type Guarded = Setting & { weir: RunningServer }

/** A run through Weir. `answers`: of the model, in order. */
function guarded(
  program: Program,
  front: Front,
  answers: readonly ScriptedAnswer[],
  run: (setting: Guarded) => Promise<Result>,
): Promise<Result> {
  const script = () => (_: unknown, number: number) => answers[number - 1] ?? { text: finalText }
  return within({ program, front, script }, ({ weir, ...setting }) => {
    if (weir === undefined) throw new Error('this case needs Weir')
    return run({ ...setting, weir })
  })
}

export function guardCase(program: Program, front: Front): Case {
  const answers = [call(program, 'touch forbidden'), call(program, 'touch allowed')]
  return {
    program: nameOf(program),
    front,
    title: "an enforcing guard denies a call of the host's own shell tool",
    run: () =>
      guarded(program, front, answers, async ({ model, weir, folder, url }) => {
        const guard = join(import.meta.dirname, '..', 'guards', 'forbidden.mjs')
        const options = ['--mode', 'enforce', '--log-level', 'info']
        await weir.start('starting', 'guard', 'run', guard, ...options)
        await (await startProgram(program, folder, { url })).ended
        const ran = (name: string) => existsSync(join(folder.work, name))
        const isTold = readByModel(model).includes('Leave that file alone.')
        const isDecided = !ran('forbidden') && isTold && ran('allowed')
        return {
          found: `denied: ${!ran('forbidden')}, the model has the reason: ${isTold}, another call runs: ${ran('allowed')}`,
          fault: isDecided ? undefined : 'the guard did not decide',
        }
      }),
  }
}

export function approvalCase(program: Program, decision: 'allow' | 'deny'): Case {
  const isDenied = decision === 'deny'
  return {
    program: nameOf(program),
    front: 'hooks',
    title: `a person ${isDenied ? 'denies' : 'allows'} a waiting call`,
    run: () =>
      guarded(program, 'hooks', [call(program, 'touch approved')], async (setting) => {
        const { model, weir, folder, url } = setting
        const rules = join(weir.folder, 'rules.json')
        const rule = { name: 'shell', tools: [program.shell.name, 'Bash'] }
        await writeFile(rules, JSON.stringify({ rules: [rule], waitMs: 60_000 }))
        await weir.weir('approvals', 'rules', rules)
        const { ended } = await startProgram(program, folder, { url })
        const id = await untilWaiting(weir.weir)
        const file = join(folder.work, 'approved')
        const waited = !existsSync(file)
        await weir.weir(decision, id, ...(isDenied ? ['--reason', 'Not today.'] : []))
        await ended
        const ran = existsSync(file)
        const isTold = readByModel(model).includes('Not today.')
        const isDecided = waited && ran === !isDenied && isTold === isDenied
        return {
          found: `waited: ${waited}, ran: ${ran}${isDenied ? `, the model has the reason: ${isTold}` : ''}`,
          fault: isDecided ? undefined : 'the person did not decide',
        }
      }),
  }
}

/** The id of the first call that waits for a person. `weir`: runs a command on its log. */
export async function untilWaiting(weir: RunningServer['weir']): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const lines = (await weir('approvals', 'list', '--json')).split('\n').filter(Boolean)
    for (const line of lines) {
      const { id } = JSON.parse(line) as { id?: string }
      if (id !== undefined) return id
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('no call waits')
}

/**
 * Weir dies while the model streams its third answer, or while the third call runs. Nothing runs
 * after that without a verdict, and the host's user reads that Weir is gone.
 */
export function killCase(program: Program, front: Front, place: 'stream' | 'call'): Case {
  return {
    program: nameOf(program),
    front,
    title: `kill -9 of Weir in a ${place}`,
    run: async () => {
      let kill = () => {}
      const script = (work: string) => (_: unknown, number: number) => {
        if (number > 8) return { text: finalText }
        const isLast = number === 3
        const waits = isLast && place === 'call' ? `; touch ${work}/inside; sleep 2` : ''
        return {
          ...call(program, `touch run-${number}${waits}`),
          ...(isLast && place === 'stream' && { halfway: async () => void kill() }),
        }
      }
      return within({ program, front, script }, async ({ weir, folder, url }) => {
        kill = () => weir?.child.kill('SIGKILL')
        const { ended } = await startProgram(program, folder, { url })
        if (place === 'call') await untilExists(join(folder.work, 'inside'), kill)
        const { out, errors } = await ended
        const ran = [1, 2, 3, 4, 5, 6, 7, 8].filter((n) =>
          existsSync(join(folder.work, `run-${n}`)),
        )
        const allowed = place === 'call' ? '1,2,3' : '1,2'
        const shown = (out + errors).replaceAll(folder.home, '')
        const isTold = /weir|connect|network|unavailable/i.test(shown)
        const isSafe = ran.join() === allowed
        return {
          found: `calls that ran: ${ran.join(', ')}, the user reads the reason: ${isTold}`,
          fault: isSafe && isTold ? undefined : `expected the calls ${allowed} and a reason`,
        }
      })
    },
  }
}

async function untilExists(file: string, then: () => void): Promise<void> {
  for (let tries = 0; tries < 600 && !existsSync(file); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  then()
}
